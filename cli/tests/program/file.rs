//! Files for the program.

use std::path::PathBuf;

/// A file that is deleted when dropped.
pub(crate) struct File(PathBuf);

impl File {
    pub(crate) fn new(name: &str, text: &str) -> Self {
        let name = format!("informer-cli-{}-{name}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, text).unwrap();
        Self(path)
    }

    pub(crate) fn path(&self) -> &str {
        self.0.to_str().unwrap()
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}
