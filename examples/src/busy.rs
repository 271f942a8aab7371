//! A cluster with constant changes.

use std::collections::VecDeque;
use std::error::Error;

use informer_transport_mock::http::HttpConfig;
use informer_transport_mock::status::ApiError;
use informer_transport_mock::{Server, ServerConfig};

use crate::cluster::Cluster;
use crate::pods;

/// Apps that are restarted pod by pod, endlessly: a new pod is created, it runs, and the oldest one is
/// deleted. Each step is one change, and the apps take turns.
#[derive(Debug)]
pub struct Busy {
    apps: VecDeque<App>,
}

/// An app with numbered pods.
#[derive(Debug)]
struct App {
    namespace: &'static str,
    name: &'static str,
    wanted: usize,
    oldest: usize,
    newest: usize,
    /// Whether the newest pod is not running yet.
    starts: bool,
}

impl Busy {
    /// Creates five apps in three namespaces, with 400 pods.
    #[must_use]
    pub fn new() -> Self {
        let app = |(namespace, name, wanted)| App {
            namespace,
            name,
            wanted,
            oldest: 1,
            newest: wanted,
            starts: false,
        };
        let apps = [
            ("shop", "web", 140),
            ("shop", "api", 80),
            ("data", "db", 30),
            ("data", "cache", 50),
            ("jobs", "worker", 100),
        ];
        Self {
            apps: apps.map(app).into(),
        }
    }

    /// Serves a mock API server with all pods. It pauses now and then while it lists, so that you can see
    /// the progress.
    ///
    /// # Errors
    /// There is no free port.
    pub async fn serve(&mut self) -> Result<Cluster, Box<dyn Error>> {
        let mut server = Server::new(ServerConfig::new(42));
        self.fill(&mut server)?;
        let pause = |part| format!("after {} events delay 80ms\n", 50 * part);
        let mut http = HttpConfig::new();
        http.faults = (1..8).map(pause).collect::<String>().parse()?;
        Cluster::mock_with(server, http).await
    }

    /// Creates all pods on the server.
    ///
    /// # Errors
    /// One of them exists already.
    pub fn fill(&mut self, server: &mut Server) -> Result<(), ApiError> {
        for (turn, app) in self.apps.iter_mut().enumerate() {
            for number in app.oldest..=app.newest {
                let name = app.pod(number);
                pods::create(server, (app.namespace, &name), app.name, "Running")?;
            }
            // Start the apps at different points of their cycle.
            for _ in 0..turn % 3 {
                app.step(server)?;
            }
        }
        Ok(())
    }

    /// Makes one change.
    ///
    /// # Errors
    /// Other code has created its pods.
    pub fn step(&mut self, server: &mut Server) -> Result<(), ApiError> {
        self.apps.rotate_left(1);
        self.apps.back_mut().map_or(Ok(()), |app| app.step(server))
    }
}

impl Default for Busy {
    fn default() -> Self {
        Self::new()
    }
}

impl App {
    fn step(&mut self, server: &mut Server) -> Result<(), ApiError> {
        if self.starts {
            let key = format!("{}/{}", self.namespace, self.pod(self.newest));
            pods::set_phase(server, &key, "Running")?;
            self.starts = false;
        } else if self.newest - self.oldest < self.wanted {
            self.newest += 1;
            self.starts = true;
            let name = self.pod(self.newest);
            pods::create(server, (self.namespace, &name), self.name, "Pending")?;
        } else {
            // Somebody else may have deleted the oldest ones.
            let key = loop {
                let key = format!("{}/{}", self.namespace, self.pod(self.oldest));
                self.oldest += 1;
                if server.get("pods", &key).is_some() || self.oldest > self.newest {
                    break key;
                }
            };
            server.delete("pods", &key)?;
        }
        Ok(())
    }

    fn pod(&self, number: usize) -> String {
        format!("{}-{number}", self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_step_is_one_change_and_the_number_of_pods_stays_stable() -> Result<(), ApiError> {
        let mut server = Server::new(ServerConfig::new(1));
        let mut busy = Busy::new();
        busy.fill(&mut server)?;
        // As in the quickstart, somebody else deletes a pod.
        server.delete("pods", "shop/web-2")?;
        for _ in 0..100 {
            let before = server.version();
            busy.step(&mut server)?;
            assert_eq!(server.version(), before + 1);
            assert!((400..=405).contains(&server.objects("pods").count()));
        }
        Ok(())
    }
}
