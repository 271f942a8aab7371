//! How to test a controller: on the mock API server, in virtual time, with injected faults.
//!
//! A back-off of seconds passes at once and nothing sleeps, so a test does the same every time. `main`
//! shows retries and an expired watch. The `#[test]`s below it check the same.
#![expect(clippy::print_stdout, reason = "the example prints what it does")]

use std::error::Error;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use informer::controller::{Controller, Next, enqueue};
use informer::runtime::{Manual, Runtime};
use informer::{InformerBuilder, Instant, LeanBody, ObjectKey, SharedInformer, StartError, Target};
use informer_examples::{exit, no_flags};
use informer_transport_mock::status::ApiError;
use informer_transport_mock::{MockServer, Server, ServerConfig, VirtualClock};
use serde_json::json;

/// The controller under test: it adds the label `team` to every pod without one. The caller chooses the
/// runtime and how to write.
fn label_pods(
    pods: &SharedInformer<LeanBody>,
    runtime: impl Runtime + 'static,
    write: impl Fn(&ObjectKey) -> Result<(), String> + Clone + Send + Sync + 'static,
) -> Result<Controller<ObjectKey>, StartError> {
    let controller = Controller::new(runtime);
    pods.on(enqueue::this(controller.queue()))?;
    let lister = pods.lister();
    controller.work(1, move |key| {
        let outcome = match lister.by_key(&key) {
            Some(pod) if pod.labels().get("team").is_none() => write(&key),
            Some(_) | None => Ok(()),
        };
        async { outcome.map(|()| Next::Done) }
    })?;
    Ok(controller)
}

/// A server, a clock, the controller, and a log of what happens.
struct World {
    server: MockServer,
    runtime: Manual,
    pods: SharedInformer<LeanBody>,
    writes_fail: Arc<AtomicBool>,
    diary: Diary,
    _controller: Controller<ObjectKey>,
}

impl World {
    fn new() -> Result<Self, Box<dyn Error>> {
        let clock = VirtualClock::new();
        let server = MockServer::new(ServerConfig::new(1), clock.clone());
        let runtime = Manual::new(Arc::new(clock.clone()));
        let pods = InformerBuilder::lean_at(Target::new("", "v1", "pods"))
            .seed(1)
            .build(&server.connect(), runtime.clone())?;

        let writes_fail = Arc::new(AtomicBool::new(false));
        let diary = Diary {
            clock,
            lines: Arc::default(),
        };
        let write = {
            let (server, fails, diary) = (server.clone(), Arc::clone(&writes_fail), diary.clone());
            move |key: &ObjectKey| {
                if fails.load(Ordering::Acquire) {
                    diary.note(&format!("writing {key} fails"));
                    return Err("as planned".to_owned());
                }
                diary.note(&format!("{key} gets a team"));
                let team = json!({"metadata": {"labels": {"team": "unknown"}}});
                let written = server.with(|server| server.patch("pods", &key.to_string(), team));
                written
                    .map(|_| ())
                    .map_err(|refused| format!("{refused:?}"))
            }
        };
        let controller = label_pods(&pods, runtime.clone(), write)?;
        pods.start()?;
        Ok(Self {
            server,
            runtime,
            pods,
            writes_fail,
            diary,
            _controller: controller,
        })
    }

    /// Changes the cluster, and runs all tasks that can run now.
    fn cluster<R>(&self, what: &str, act: impl FnOnce(&mut Server) -> R) -> R {
        self.diary.note(what);
        let result = self.server.with(act);
        self.pass(Duration::ZERO);
        result
    }

    /// Lets time pass from one deadline to the next, so that every task runs on time.
    fn pass(&self, time: Duration) {
        let clock = &self.diary.clock;
        let end = clock.now().after(time);
        self.runtime.run_until_idle();
        while clock.next_deadline().is_some_and(|next| next <= end) {
            clock.advance_to_next();
            self.runtime.run_until_idle();
        }
        clock.set(end);
    }
}

/// What happened, and when.
#[derive(Clone)]
struct Diary {
    clock: VirtualClock,
    lines: Arc<Mutex<Vec<String>>>,
}

impl Diary {
    fn note(&self, what: &str) {
        let now = self.clock.now().since(Instant::default()).as_secs_f64();
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        lines.push(format!("{now:.3} s  {what}"));
    }

    fn take(&self) -> Vec<String> {
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *lines)
    }
}

fn create(server: &mut Server, name: &str) -> Result<(), ApiError> {
    server.create("pods", json!({"metadata": {"name": name}}))?;
    Ok(())
}

fn main() -> ExitCode {
    no_flags();
    exit(tell())
}

fn tell() -> Result<(), Box<dyn Error>> {
    let world = World::new()?;
    world.cluster("a is created", |server| create(server, "a"))?;

    world.writes_fail.store(true, Ordering::Release);
    world.cluster("b is created, and writes fail", |server| {
        create(server, "b")
    })?;
    world.pass(Duration::from_millis(100));
    world.diary.note("writes work again");
    world.writes_fail.store(false, Ordering::Release);
    world.pass(Duration::from_millis(100));

    // The server drops changes that the watch has not sent yet, so it answers with 410.
    world.cluster(
        "c is created, a is deleted, and the watch expires",
        |server| {
            create(server, "c")?;
            server.delete("pods", "a")?;
            server.forget_changes();
            Ok::<_, ApiError>(())
        },
    )?;
    let status = world.pods.status();
    let why = status.last_failure.map(|last| last.failure.to_string());
    world
        .diary
        .note(&format!("informer: {}", why.unwrap_or_default()));
    world.pass(Duration::from_secs(10));

    for line in world.diary.take() {
        println!("{line}");
    }
    let status = world.pods.status();
    println!(
        "{} pods, {} full states read",
        status.objects, status.counts.full_states
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use informer::Failure;

    use super::*;

    fn team(world: &World, pod: &str) -> Option<String> {
        let read = |server: &mut Server| Some(server.get("pods", pod)?.label("team")?.to_owned());
        world.server.with(read)
    }

    #[test]
    fn a_failed_write_is_retried_with_increasing_delay() {
        let world = World::new().unwrap();
        world.writes_fail.store(true, Ordering::Release);
        world
            .cluster("created", |server| create(server, "a"))
            .unwrap();
        world.pass(Duration::from_millis(40));
        assert_eq!(
            world.diary.take(),
            [
                "0.000 s  created",
                "0.000 s  writing default/a fails",
                "0.005 s  writing default/a fails",
                "0.015 s  writing default/a fails",
                "0.035 s  writing default/a fails",
            ]
        );
        assert_eq!(team(&world, "a"), None);
        world.writes_fail.store(false, Ordering::Release);
        world.pass(Duration::from_millis(40));
        assert_eq!(world.diary.take(), ["0.075 s  default/a gets a team"]);
        assert_eq!(team(&world, "a").as_deref(), Some("unknown"));
    }

    #[test]
    fn a_pod_that_the_watch_missed_gets_a_team() {
        let world = World::new().unwrap();
        world.pass(Duration::ZERO);
        assert!(world.pods.is_synced());
        let change = |server: &mut Server| {
            create(server, "a").unwrap();
            server.forget_changes();
        };
        world.cluster("created unseen", change);
        let failure = world.pods.status().last_failure.map(|last| last.failure);
        assert_eq!((failure, team(&world, "a")), (Some(Failure::Expired), None));
        world.pass(Duration::from_secs(10));
        assert_eq!(world.pods.status().counts.full_states, 2);
        assert_eq!(team(&world, "a").as_deref(), Some("unknown"));
    }
}
