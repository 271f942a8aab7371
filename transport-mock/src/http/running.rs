//! A server that runs.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, JoinSet};
use tokio_rustls::TlsAcceptor;

use super::config::HttpConfig;
use super::error::ServeError;
use super::front::Front;
use super::kubeconfig;
use super::shared::SharedServer;
use super::tls::Tls;
use super::trouble::Trouble;

/// So long it waits when the system has no connection to give, for lack of file descriptors.
const NO_CONNECTION: Duration = Duration::from_millis(50);

/// Serves `server` over HTTP until the answer is stopped or dropped.
///
/// HTTP/1.1 and HTTP/2 are spoken on the same port: with TLS the client chooses in the handshake,
/// without it by the way it begins.
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
/// If it cannot listen at the address, or cannot make a certificate.
///
/// # Panics
///
/// Outside a tokio runtime.
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
    let front = Arc::new(Front::new(server, config.token, config.max_body, trouble));
    Ok(Running {
        address,
        url,
        ca_pem,
        kubeconfig,
        listening: tokio::spawn(listen(listener, acceptor, front)),
    })
}

/// A server that runs. Dropping it stops it.
#[derive(Debug)]
pub struct Running {
    address: SocketAddr,
    url: String,
    ca_pem: Option<String>,
    kubeconfig: String,
    listening: JoinHandle<()>,
}

impl Running {
    /// Where it listens.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Its address as a URL, without a slash at the end.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The certificate of the authority by which clients know it; `None` without TLS.
    #[must_use]
    pub fn ca_pem(&self) -> Option<&str> {
        self.ca_pem.as_deref()
    }

    /// A kubeconfig for its clients: address, authority and token.
    #[must_use]
    pub fn kubeconfig(&self) -> &str {
        &self.kubeconfig
    }

    /// Stops it: the port is free, and all connections are broken.
    pub async fn stop(mut self) {
        self.listening.abort();
        // It ends as aborted; that is what was asked for.
        let _ = (&mut self.listening).await;
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.listening.abort();
    }
}

/// Takes connections for ever. What it has spawned ends with it.
async fn listen(listener: TcpListener, acceptor: Option<TlsAcceptor>, front: Arc<Front>) {
    let mut tasks = JoinSet::new();
    tasks.spawn(Arc::clone(&front).follow_script());
    loop {
        match listener.accept().await {
            Ok((connection, _)) => {
                tasks.spawn(connect(connection, acceptor.clone(), Arc::clone(&front)));
            }
            Err(_) => tokio::time::sleep(NO_CONNECTION).await,
        }
        // Those that are over.
        while tasks.try_join_next().is_some() {}
    }
}

/// Serves one connection. A client that goes away or cannot shake hands is nobody's error.
async fn connect(connection: TcpStream, acceptor: Option<TlsAcceptor>, front: Arc<Front>) {
    // Lines of a watch are small and must not wait for each other.
    let _ = connection.set_nodelay(true);
    match acceptor {
        None => talk(connection, front).await,
        Some(acceptor) => {
            if let Ok(connection) = acceptor.accept(connection).await {
                talk(connection, front).await;
            }
        }
    }
}

async fn talk(connection: impl AsyncRead + AsyncWrite + Unpin + Send + 'static, front: Arc<Front>) {
    let service = service_fn(move |request| Arc::clone(&front).answer(request));
    let _ = auto::Builder::new(TokioExecutor::new())
        .serve_connection(TokioIo::new(connection), service)
        .await;
}
