//! Pods that are created, changed and deleted.

use serde_json::{Value, json};

use crate::random::Random;
use crate::server::Server;

/// A seeded stream of changes to the pods in the namespace `default`. The number of pods stays
/// about the same.
///
/// ```
/// use informer_transport_mock::churn::Churn;
/// use informer_transport_mock::{Server, ServerConfig};
///
/// let mut server = Server::new(ServerConfig::new(42));
/// let mut churn = Churn::new(3, 42);
/// churn.fill(&mut server);
/// for _ in 0..100 {
///     churn.step(&mut server);
/// }
/// assert!((2..=4).contains(&server.objects("pods").count()));
/// ```
#[derive(Clone, Debug)]
pub struct Churn {
    random: Random,
    wanted: usize,
    /// Names of the pods that should exist.
    alive: Vec<String>,
    made: u64,
    steps: u64,
}

impl Churn {
    /// Creates a churn of about `pods` pods.
    #[must_use]
    pub const fn new(pods: usize, seed: u64) -> Self {
        Self {
            random: Random::new(seed),
            wanted: pods,
            alive: Vec::new(),
            made: 0,
            steps: 0,
        }
    }

    /// Creates pods until the target number exists.
    pub fn fill(&mut self, server: &mut Server) {
        while self.alive.len() < self.wanted {
            self.create(server);
        }
    }

    /// Makes one change.
    pub fn step(&mut self, server: &mut Server) {
        self.steps += 1;
        let draw = self.random.draw();
        if self.alive.is_empty() {
            return self.create(server);
        }
        let at = (draw >> 2) as usize % self.alive.len();
        match draw % 4 {
            0 if self.alive.len() > self.wanted => self.delete(at, server),
            0 => self.create(server),
            1 if self.alive.len() < self.wanted => self.create(server),
            1 => self.delete(at, server),
            _ => self.update(at, server),
        }
    }

    fn create(&mut self, server: &mut Server) {
        self.made += 1;
        let name = format!("pod-{:06}", self.made);
        // If a pod with this name already exists, use it.
        let _ = server.create("pods", pod(&name, self.made));
        self.alive.push(name);
    }

    fn update(&mut self, at: usize, server: &mut Server) {
        let turn = json!({"metadata": {"annotations": {"mock/turn": self.steps.to_string()}}});
        let is_gone = |name: &String| server.patch("pods", name, turn).is_err();
        if self.alive.get(at).is_some_and(is_gone) {
            self.alive.swap_remove(at);
        }
    }

    fn delete(&mut self, at: usize, server: &mut Server) {
        let name = self.alive.swap_remove(at);
        // The pod may have been deleted already.
        let _ = server.delete("pods", &name);
    }
}

fn pod(name: &str, number: u64) -> Value {
    let app = match number % 3 {
        0 => "web",
        1 => "db",
        _ => "cache",
    };
    json!({
        "metadata": {"name": name, "labels": {"app": app}},
        "spec": {
            "nodeName": format!("node-{}", number % 10),
            "containers": [{"name": "main", "image": format!("registry.example/{app}:1")}],
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ServerConfig;

    /// Keys and versions after some steps.
    fn after(steps: u32, seed: u64) -> Vec<(String, u64)> {
        let mut server = Server::new(ServerConfig::new(7));
        let mut churn = Churn::new(20, seed);
        churn.fill(&mut server);
        assert_eq!(server.objects("pods").count(), 20);
        for _ in 0..steps {
            let before = server.version();
            churn.step(&mut server);
            assert_eq!(server.version(), before + 1, "each step is one change");
        }
        server
            .objects("pods")
            .map(|pod| (pod.key().to_owned(), pod.version()))
            .collect()
    }

    #[test]
    fn the_seed_decides() {
        assert_eq!(after(500, 1), after(500, 1));
        assert_ne!(after(500, 1), after(500, 2));
    }

    #[test]
    fn pods_deleted_by_others_are_tolerated() {
        let mut server = Server::new(ServerConfig::new(7));
        let mut churn = Churn::new(5, 7);
        churn.fill(&mut server);
        for _ in 0..200 {
            let first = server
                .objects("pods")
                .next()
                .map(|pod| pod.name().to_owned());
            if let Some(first) = first {
                server.delete("pods", &first).unwrap();
            }
            churn.step(&mut server);
        }
        for _ in 0..200 {
            churn.step(&mut server);
        }
        assert!((4..=6).contains(&server.objects("pods").count()));
    }
}
