//! Files that change while an informer runs.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// How many files there were.
static FILES: AtomicUsize = AtomicUsize::new(0);

/// A file that is deleted when dropped.
pub(crate) struct File(PathBuf);

impl File {
    pub(crate) fn new(name: &str) -> Self {
        let count = FILES.fetch_add(1, Ordering::SeqCst);
        let name = format!("informer-faults-{}-{count}-{name}", std::process::id());
        Self(std::env::temp_dir().join(name))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Replaces the content atomically, as tools that rotate secrets do.
    pub(crate) fn write(&self, text: &str) {
        let new = self.0.with_extension("new");
        std::fs::write(&new, text).unwrap();
        std::fs::rename(&new, &self.0).unwrap();
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}
