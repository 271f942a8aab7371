//! Ends the program when an input takes too much time or memory, because such a finding cannot be
//! caught.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use informer_fuzz::Target;

/// The time limit per input.
const PATIENCE: Duration = Duration::from_secs(20);

/// The memory limit, in MiB above the start of the process.
const MEMORY: u64 = 512;

/// A thread that watches the running input.
pub(crate) struct Watchdog(Arc<Mutex<Option<Watched>>>);

/// The target, the seed, and the start time.
type Watched = (&'static str, u64, Instant);

impl Watchdog {
    pub(crate) fn start() -> Self {
        let running = Arc::new(Mutex::new(None));
        let dog = Self(Arc::clone(&running));
        let before = memory();
        std::thread::spawn(move || {
            loop {
                std::thread::sleep(Duration::from_millis(100));
                let now = *running.lock().unwrap_or_else(PoisonError::into_inner);
                let Some((name, seed, since)) = now else {
                    continue;
                };
                if since.elapsed() > PATIENCE {
                    end(name, seed, &format!("takes longer than {PATIENCE:?}"));
                }
                let more = memory().saturating_sub(before);
                if more > MEMORY {
                    end(name, seed, &format!("{more} MiB of memory are in use"));
                }
            }
        });
        dog
    }

    /// Starts to watch an input.
    pub(crate) fn watch(&self, target: &Target, seed: u64) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) =
            Some((target.name, seed, Instant::now()));
    }

    /// Stops watching.
    pub(crate) fn rest(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

fn end(name: &str, seed: u64, why: &str) -> ! {
    println!("{name:12} seed {seed}: {why}");
    std::process::exit(1);
}

/// The memory of this process in MiB, where the system reports it.
fn memory() -> u64 {
    let pages = std::fs::read_to_string("/proc/self/statm").ok();
    let pages = pages.and_then(|text| text.split_whitespace().nth(1)?.parse::<u64>().ok());
    pages.unwrap_or_default() * 4 / 1024
}
