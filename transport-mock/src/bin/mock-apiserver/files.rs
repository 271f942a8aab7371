//! What clients read, in a folder of its own that goes with the program.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::{env, process};

/// A folder in the place for temporary files; it is deleted with this value.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn create() -> io::Result<Self> {
        let parent = env::temp_dir();
        let name = format!("mock-apiserver-{}", process::id());
        // A folder that is there already may be somebody else's.
        let mut attempt = 0;
        loop {
            let path = parent.join(format!("{name}-{attempt}"));
            match fs::create_dir(&path) {
                Ok(()) => return Ok(Self(path)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && attempt < 100 => {
                    attempt += 1;
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Writes a file, and answers where it is.
    pub(crate) fn write(&self, name: &str, text: &str) -> io::Result<PathBuf> {
        let path = self.0.join(name);
        fs::write(&path, text)?;
        Ok(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // If somebody has deleted it already, it is gone as it should be.
        let _ = fs::remove_dir_all(&self.0);
    }
}
