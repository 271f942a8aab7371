//! A running server.

use std::future;
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, Semaphore};
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;

use super::config::HttpConfig;
use super::error::ServeError;
use super::front::Front;
use super::kubeconfig;
use super::shared::SharedServer;
use super::tls::Tls;
use super::trouble::Trouble;

/// The pause when the system has no file descriptors for a new connection.
const NO_CONNECTION: Duration = Duration::from_millis(50);

/// Serves `server` over HTTP until the result is stopped or dropped.
///
/// The port serves both HTTP/1.1 and HTTP/2. With TLS, the client chooses in the handshake; without
/// TLS, by its first bytes.
///
/// ```
/// use informer_transport_mock::http::{HttpConfig, SharedServer, serve};
/// use informer_transport_mock::{Server, ServerConfig};
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// let server = SharedServer::new(Server::new(ServerConfig::new(42)));
/// let running = serve(server.clone(), HttpConfig::new()).await?;
/// assert!(running.url().starts_with("http://127.0.0.1:"));
/// assert!(running.kubeconfig().contains(running.url()));
/// running.stop().await;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// The address is not available, or no certificate could be generated.
///
/// # Panics
///
/// Panics outside a tokio runtime.
pub async fn serve(server: SharedServer, config: HttpConfig) -> Result<Running, ServeError> {
    let tls = config.tls.then(Tls::generate).transpose()?;
    let failed = |source| ServeError::Bind {
        address: config.address,
        source,
    };
    let listener = TcpListener::bind(config.address).await.map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    let (scheme, ca_pem, acceptor) = match tls {
        Some(tls) => ("https", Some(tls.ca_pem), Some(tls.acceptor)),
        None => ("http", None, None),
    };
    let url = format!("{scheme}://{address}");
    let kubeconfig = kubeconfig::text(&url, ca_pem.as_deref(), config.token.as_deref());
    let trouble = Trouble::new(config.faults);
    let stopping = Arc::new(Notify::new());
    let door = Door {
        acceptor,
        front: Arc::new(Front::new(server, config.token, config.max_body, trouble)),
        header_timeout: config.header_timeout,
    };
    Ok(Running {
        address,
        url,
        ca_pem,
        kubeconfig,
        listening: tokio::spawn(door.listen(
            listener,
            config.max_connections,
            Arc::clone(&stopping),
        )),
        stopping,
    })
}

/// A running HTTP server. Dropping it stops it.
///
/// ```
/// use informer_transport_mock::http::{HttpConfig, SharedServer, serve};
/// use informer_transport_mock::{Server, ServerConfig};
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// let server = SharedServer::new(Server::new(ServerConfig::new(42)));
/// let running = serve(server, HttpConfig::new()).await?;
/// assert_eq!(running.url(), format!("http://{}", running.address()));
/// assert_eq!(running.ca_pem(), None);
/// running.stop().await;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Running {
    address: SocketAddr,
    url: String,
    ca_pem: Option<String>,
    kubeconfig: String,
    listening: JoinHandle<()>,
    stopping: Arc<Notify>,
}

impl Running {
    /// The address that it listens on.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// The address as a URL, without a trailing slash.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The CA certificate that clients must trust; `None` without TLS.
    #[must_use]
    pub fn ca_pem(&self) -> Option<&str> {
        self.ca_pem.as_deref()
    }

    /// A kubeconfig for its clients, with address, CA certificate and token.
    #[must_use]
    pub fn kubeconfig(&self) -> &str {
        &self.kubeconfig
    }

    /// Stops the server: frees the port and breaks all connections. After this, nothing more is sent.
    pub async fn stop(mut self) {
        self.stopping.notify_one();
        // If it panicked, it has stopped, too.
        let _ = (&mut self.listening).await;
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.listening.abort();
    }
}

/// State that every connection needs.
#[derive(Clone)]
struct Door {
    acceptor: Option<TlsAcceptor>,
    front: Arc<Front>,
    header_timeout: Duration,
}

impl Door {
    /// Accepts connections until it is to stop. Its tasks end with it.
    async fn listen(
        self,
        listener: TcpListener,
        max_connections: NonZeroUsize,
        stopping: Arc<Notify>,
    ) {
        let mut tasks = JoinSet::new();
        tasks.spawn(Arc::clone(&self.front).follow_script());
        tokio::select! {
            () = self.accept(&listener, max_connections, &mut tasks) => {}
            () = stopping.notified() => {}
        }
        // The port first: a client whose connection breaks may connect again at once, and must be refused.
        drop(listener);
        // A task on another thread may be sending at this moment, so wait for it.
        tasks.shutdown().await;
    }

    async fn accept(
        &self,
        listener: &TcpListener,
        max_connections: NonZeroUsize,
        tasks: &mut JoinSet<()>,
    ) {
        let room = Arc::new(Semaphore::new(max_connections.get()));
        // Further connections wait in the system's queue. The semaphore is never closed.
        while let Ok(room) = Arc::clone(&room).acquire_owned().await {
            match listener.accept().await {
                Ok((connection, _)) => {
                    let door = self.clone();
                    tasks.spawn(async move {
                        door.connect(connection).await;
                        drop(room);
                    });
                }
                Err(_) => tokio::time::sleep(NO_CONNECTION).await,
            }
            // Collect the finished tasks.
            while tasks.try_join_next().is_some() {}
        }
    }

    /// Serves one connection. A client that leaves or fails the handshake is not an error.
    async fn connect(self, connection: TcpStream) {
        // Watch lines are small and must not wait for each other.
        let _ = connection.set_nodelay(true);
        match &self.acceptor {
            None => self.talk(connection).await,
            Some(acceptor) => {
                let shaking = timeout(self.header_timeout, acceptor.accept(connection));
                if let Ok(Ok(connection)) = shaking.await {
                    self.talk(connection).await;
                }
            }
        }
    }

    async fn talk(&self, connection: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) {
        let called = Arc::new(Notify::new());
        let (front, calling) = (Arc::clone(&self.front), Arc::clone(&called));
        let service = service_fn(move |request| {
            calling.notify_one();
            Arc::clone(&front).answer(request)
        });
        let mut builder = auto::Builder::new(TokioExecutor::new());
        builder
            .http1()
            .timer(TokioTimer::new())
            .header_read_timeout(self.header_timeout);
        let mut serving = pin!(builder.serve_connection(TokioIo::new(connection), service));
        // Before the first request the HTTP version is unknown, and hyper runs no timeout.
        let silent = async {
            if timeout(self.header_timeout, called.notified())
                .await
                .is_ok()
            {
                future::pending().await
            }
        };
        tokio::select! {
            _ = &mut serving => {}
            () = silent => {}
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;
    use crate::{Server, ServerConfig};

    /// A client whose connection breaks connects again at once. It must be refused, not broken once more.
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_stop_closes_the_port_before_it_breaks_connections() {
        let server = SharedServer::new(Server::new(ServerConfig::new(1)));
        let running = serve(server, HttpConfig::new()).await.unwrap();
        let address = running.address();
        let mut clients = JoinSet::new();
        for _ in 0..100 {
            let mut client = TcpStream::connect(address).await.unwrap();
            let request = b"GET /version HTTP/1.1\r\nhost: mock\r\n\r\n";
            client.write_all(request).await.unwrap();
            assert!(client.read(&mut [0; 4096]).await.unwrap() > 0);
            clients.spawn(async move {
                while matches!(client.read(&mut [0; 4096]).await, Ok(1..)) {}
                TcpStream::connect(address).await.is_err()
            });
        }
        running.stop().await;
        let refused = clients.join_all().await;
        assert_eq!(refused.iter().filter(|refused| !**refused).count(), 0);
    }
}
