//! Bodies that are counted while they are alive.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny};

static ALIVE: AtomicUsize = AtomicUsize::new(0);

/// A body without content.
#[derive(Debug)]
pub(crate) struct Counted(());

/// How many are alive.
pub(crate) fn alive() -> usize {
    ALIVE.load(Ordering::Relaxed)
}

impl<'de> Deserialize<'de> for Counted {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        IgnoredAny::deserialize(deserializer)?;
        ALIVE.fetch_add(1, Ordering::Relaxed);
        Ok(Self(()))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        ALIVE.fetch_sub(1, Ordering::Relaxed);
    }
}
