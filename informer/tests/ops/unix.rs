//! Sockets with a path.

use std::fs;
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _, symlink};
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use informer::ops::{OpsError, serve_unix};
use tokio::net::UnixStream;

use crate::place::{lean, send_over, server};

/// A folder of one test.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static MADE: AtomicUsize = AtomicUsize::new(0);
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let name = format!("informer-ops-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir(&path).unwrap();
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[tokio::test]
async fn a_socket_is_for_its_owner_and_goes_with_the_port() {
    let server = server();
    let pods = lean(&server, "pods").await;
    let folder = Folder::new();
    let path = folder.0.join("ops.sock");
    let port = serve_unix(&path).add(&pods).start().await.unwrap();
    assert_eq!(port.address(), None);
    assert_eq!(port.url(), format!("unix:{}", path.display()));
    let made = fs::metadata(&path).unwrap();
    assert!(made.file_type().is_socket());
    assert_eq!(made.permissions().mode() & 0o777, 0o600);
    // No name leads here by accident.
    for host in ["host: anything\r\n", ""] {
        let stream = UnixStream::connect(&path).await.unwrap();
        let answer = send_over(stream, &format!("GET /status HTTP/1.0\r\n{host}\r\n")).await;
        assert_eq!(answer.json()["informers"][0]["id"], "pods.v1");
    }
    port.stop().await;
    assert!(!path.exists());

    // Dropped, not stopped: it is gone when its task is.
    let port = serve_unix(&path).start().await.unwrap();
    drop(port);
    while path.exists() {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_token_counts_on_a_socket_too() {
    let folder = Folder::new();
    let path = folder.0.join("ops.sock");
    let _port = serve_unix(&path).token("s3cret").start().await.unwrap();
    for (header, status) in [("", 401), ("authorization: Bearer s3cret\r\n", 200)] {
        let stream = UnixStream::connect(&path).await.unwrap();
        let answer = send_over(stream, &format!("GET /status HTTP/1.0\r\n{header}\r\n")).await;
        assert_eq!(answer.status, status);
    }
}

#[tokio::test]
async fn the_socket_of_a_dead_process_is_replaced() {
    let folder = Folder::new();
    let path = folder.0.join("ops.sock");
    drop(UnixListener::bind(&path).unwrap());
    assert!(path.exists());
    let port = serve_unix(&path).start().await.unwrap();
    let stream = UnixStream::connect(&path).await.unwrap();
    let answer = send_over(stream, "GET /livez HTTP/1.0\r\n\r\n").await;
    assert_eq!(answer.status, 200);
    port.stop().await;
}

#[tokio::test]
async fn the_socket_of_a_living_process_and_other_files_stay() {
    let folder = Folder::new();
    let path = folder.0.join("ops.sock");
    let living = UnixListener::bind(&path).unwrap();
    let error = serve_unix(&path).start().await.unwrap_err();
    assert!(matches!(error, OpsError::SocketInUse { .. }), "{error:?}");
    assert!(path.exists());
    drop(living);

    let (file, link) = (folder.0.join("notes"), folder.0.join("link"));
    fs::write(&file, "mine").unwrap();
    symlink(&path, &link).unwrap();
    for other in [&file, &link, &folder.0] {
        let error = serve_unix(other).start().await.unwrap_err();
        assert!(matches!(error, OpsError::NotASocket { .. }), "{error:?}");
        assert!(error.to_string().contains("it was left alone"), "{error}");
    }
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());

    let nowhere = folder.0.join("no/such/folder");
    let error = serve_unix(&nowhere).start().await.unwrap_err();
    assert!(matches!(error, OpsError::Socket { .. }), "{error:?}");
}

/// Another process may have made a new socket in its place.
#[tokio::test]
async fn only_its_own_socket_is_removed() {
    let folder = Folder::new();
    let path = folder.0.join("ops.sock");
    let port = serve_unix(&path).start().await.unwrap();
    fs::remove_file(&path).unwrap();
    let _other = UnixListener::bind(&path).unwrap();
    port.stop().await;
    assert!(path.exists());
}
