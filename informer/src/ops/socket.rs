//! A Unix socket that only its owner can use.

use std::fs::{Permissions, remove_file, set_permissions, symlink_metadata};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use tokio::net::{UnixListener, UnixSocket};

use super::error::OpsError;

/// How many connections wait to be accepted.
const WAITING: u32 = 64;

pub(super) struct Socket {
    pub(super) listener: UnixListener,
    _file: SocketFile,
}

/// The file of a socket. Removed when this is dropped, unless another file has taken its place.
struct SocketFile {
    path: PathBuf,
    /// Device and inode.
    identity: (u64, u64),
}

impl Socket {
    pub(super) fn bind(path: &Path) -> Result<Self, OpsError> {
        make_room(path)?;
        Self::make(path).map_err(|source| failed(path, source))
    }

    fn make(path: &Path) -> io::Result<Self> {
        let socket = UnixSocket::new_stream()?;
        socket.bind(path)?;
        let file = SocketFile {
            path: path.to_owned(),
            identity: identity(path)?,
        };
        // Nobody can connect before it listens.
        set_permissions(path, Permissions::from_mode(0o600))?;
        let listener = socket.listen(WAITING)?;
        Ok(Self {
            listener,
            _file: file,
        })
    }
}

/// Removes the socket of a process that is gone. Anything else stays.
fn make_room(path: &Path) -> Result<(), OpsError> {
    let found = match symlink_metadata(path) {
        Ok(found) => found,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(source) => return Err(failed(path, source)),
    };
    let path_buf = || path.to_owned();
    if !found.file_type().is_socket() {
        return Err(OpsError::NotASocket { path: path_buf() });
    }
    match UnixStream::connect(path) {
        Ok(_) => Err(OpsError::SocketInUse { path: path_buf() }),
        Err(error) if error.kind() == ErrorKind::ConnectionRefused => {
            remove_file(path).map_err(|source| failed(path, source))
        }
        Err(source) => Err(failed(path, source)),
    }
}

fn failed(path: &Path, source: io::Error) -> OpsError {
    OpsError::Socket {
        path: path.to_owned(),
        source,
    }
}

fn identity(path: &Path) -> io::Result<(u64, u64)> {
    let found = symlink_metadata(path)?;
    Ok((found.dev(), found.ino()))
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        if identity(&self.path).is_ok_and(|identity| identity == self.identity) {
            // What cannot be removed is replaced by the next process.
            let _ = remove_file(&self.path);
        }
    }
}
