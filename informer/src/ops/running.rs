//! A port that is open.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{Notify, Semaphore};
use tokio::task::{JoinHandle, JoinSet};

use super::listen::{Listener, Stream};
use super::patient::Patient;
use super::port::Port;
use crate::controller::race::unless;

/// How many connections are served at once. Others wait in the queue of the system.
const CONNECTIONS: usize = 64;

/// The most bytes of the head of a request.
const HEAD: usize = 16 * 1024;

/// How long the head of a request may take.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);

/// The pause when the system has no file descriptors for a new connection.
const NO_CONNECTION: Duration = Duration::from_millis(50);

/// An open operations port: see [`serve`](super::serve). Dropping it closes the port.
#[must_use = "the port closes when this is dropped"]
pub struct Ops {
    address: Option<SocketAddr>,
    url: String,
    serving: JoinHandle<()>,
    stopping: Arc<Notify>,
}

impl Ops {
    pub(super) fn open(port: Arc<Port>, listener: Listener, url: String) -> Self {
        let stopping = Arc::new(Notify::new());
        Self {
            address: listener.address(),
            url,
            serving: tokio::spawn(serve(port, listener, Arc::clone(&stopping))),
            stopping,
        }
    }

    /// The address that it listens on; `None` for a Unix socket.
    #[must_use]
    pub const fn address(&self) -> Option<SocketAddr> {
        self.address
    }

    /// Where to look: `http://127.0.0.1:9090`, or `unix:/run/shop/ops.sock`.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Closes the port and all its connections. Nothing is sent after this.
    pub async fn stop(mut self) {
        self.stopping.notify_one();
        // If it panicked, it has stopped, too.
        let _ = (&mut self.serving).await;
    }
}

impl Drop for Ops {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

impl fmt::Debug for Ops {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ops")
            .field("url", &self.url)
            .finish_non_exhaustive()
    }
}

/// Serves until it is to stop. All tasks end with it.
async fn serve(port: Arc<Port>, listener: Listener, stopping: Arc<Notify>) {
    let mut tasks = JoinSet::new();
    tasks.spawn(Arc::clone(&port).feed());
    unless(stopping.notified(), accept(&port, &listener, &mut tasks)).await;
    drop(listener);
    tasks.shutdown().await;
}

async fn accept(port: &Arc<Port>, listener: &Listener, tasks: &mut JoinSet<()>) {
    let room = Arc::new(Semaphore::new(CONNECTIONS));
    // The semaphore is never closed.
    while let Ok(room) = Arc::clone(&room).acquire_owned().await {
        match listener.accept().await {
            Ok(stream) => {
                let port = Arc::clone(port);
                tasks.spawn(async move {
                    talk(port, stream).await;
                    drop(room);
                });
            }
            Err(_) => tokio::time::sleep(NO_CONNECTION).await,
        }
        // Collect the finished tasks.
        while tasks.try_join_next().is_some() {}
    }
}

async fn talk(port: Arc<Port>, stream: Stream) {
    match stream {
        Stream::Tcp(stream) => {
            // Events are small and must not wait for each other.
            let _ = stream.set_nodelay(true);
            converse(port, stream).await;
        }
        #[cfg(unix)]
        Stream::Unix(stream) => converse(port, stream).await,
    }
}

/// Serves one connection. A client that leaves or talks nonsense is not our error.
async fn converse(port: Arc<Port>, stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) {
    let service = service_fn(move |request| Arc::clone(&port).answer(request));
    // One request per connection, so that a client cannot keep others out by holding connections open.
    let connection = http1::Builder::new()
        .keep_alive(false)
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .max_buf_size(HEAD)
        .serve_connection(TokioIo::new(Patient::new(stream)), service);
    let _ = connection.await;
}
