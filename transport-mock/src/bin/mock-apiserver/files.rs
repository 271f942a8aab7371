//! A private folder for the kubeconfig.

use std::fs;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::{env, process};

/// A temporary folder that only this user can read. Dropping it deletes the folder.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn create() -> io::Result<Self> {
        let parent = env::temp_dir();
        let name = format!("mock-apiserver-{}", process::id());
        // An existing folder may belong to another user.
        let mut attempt = 0;
        loop {
            let path = parent.join(format!("{name}-{attempt}"));
            match private_folder().create(&path) {
                Ok(()) => return Ok(Self(path)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && attempt < 100 => {
                    attempt += 1;
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Writes a file that only this user can read, and returns its path.
    pub(crate) fn write(&self, name: &str, text: &str) -> io::Result<PathBuf> {
        let path = self.0.join(name);
        private_file().open(&path)?.write_all(text.as_bytes())?;
        Ok(path)
    }
}

/// Private from the moment of its creation.
fn private_folder() -> fs::DirBuilder {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "only Unix has modes"))]
    let mut folder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut folder, 0o700);
    folder
}

/// The same for a file.
fn private_file() -> fs::OpenOptions {
    let mut file = fs::OpenOptions::new();
    file.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut file, 0o600);
    file
}

impl Drop for Folder {
    fn drop(&mut self) {
        // If it has already been deleted, that is fine.
        let _ = fs::remove_dir_all(&self.0);
    }
}
