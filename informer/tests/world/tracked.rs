//! Bodies that count how many are alive, to check what is freed and when.

use std::sync::{Condvar, Mutex};
use std::time::Duration;

use informer::{InformerBuilder, Target};
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny};

/// How many bodies are alive, for each test of a file.
static LIVE: [Count; 8] = [const { Count::new() }; 8];

/// Far longer than any test takes.
const PATIENCE: Duration = Duration::from_secs(120);

/// A counter that a thread can wait for.
pub struct Count {
    value: Mutex<usize>,
    changed: Condvar,
}

impl Count {
    pub const fn new() -> Self {
        Self {
            value: Mutex::new(0),
            changed: Condvar::new(),
        }
    }

    pub fn get(&self) -> usize {
        *self.value.lock().unwrap()
    }

    pub fn add(&self) {
        *self.value.lock().unwrap() += 1;
        self.changed.notify_all();
    }

    pub fn subtract(&self) {
        *self.value.lock().unwrap() -= 1;
        self.changed.notify_all();
    }

    /// Blocks until the count is zero. Returns `false` if it never is.
    pub fn wait_for_zero(&self) -> bool {
        let value = self.value.lock().unwrap();
        let waited = self
            .changed
            .wait_timeout_while(value, PATIENCE, |value| *value > 0);
        *waited.unwrap().0 == 0
    }
}

/// An empty body, for the test with this number.
#[derive(Debug)]
pub struct Tracked<const TEST: usize>(());

impl<const TEST: usize> Tracked<TEST> {
    pub fn live() -> &'static Count {
        &LIVE[TEST]
    }

    pub fn pods() -> InformerBuilder<Self> {
        InformerBuilder::typed_at(Target::new("", "v1", "pods")).seed(1)
    }
}

impl<'de, const TEST: usize> Deserialize<'de> for Tracked<TEST> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        IgnoredAny::deserialize(deserializer)?;
        Self::live().add();
        Ok(Self(()))
    }
}

impl<const TEST: usize> Drop for Tracked<TEST> {
    fn drop(&mut self) {
        Self::live().subtract();
    }
}
