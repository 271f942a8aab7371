//! Settings of a port.

use std::fmt;
#[cfg(unix)]
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::time::Instant;

use super::contents::{Opener, WithBodies};
use super::error::OpsError;
use super::feed::Hub;
use super::guard::{Guard, Token};
use super::listen::Listener;
use super::port::Port;
use super::running::Ops;
use crate::inspect::{Inspect, Inventory};
use crate::runtime::Tokio;

/// Serves the operations port on an address, such as `127.0.0.1:9090`. Port 0 is any that is free.
///
/// An address that other machines can reach needs a [token](OpsBuilder::token).
pub fn serve(address: impl ToString) -> OpsBuilder {
    OpsBuilder::new(Place::Address(address.to_string()))
}

/// Serves the operations port on a Unix socket that only the user of this process can use.
///
/// The file is removed when the port closes. A socket that another process has left there is replaced; any
/// other file is not touched.
///
/// ```
/// use informer::ops;
/// # #[tokio::main]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = std::env::temp_dir().join(format!("informer-doc-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// let path = folder.join("ops.sock");
/// let port = ops::serve_unix(&path).start().await?;
/// // curl --unix-socket ops.sock http://localhost/status
/// assert!(path.exists());
/// port.stop().await;
/// assert!(!path.exists());
/// # std::fs::remove_dir(&folder)?;
/// # Ok(())
/// # }
/// ```
#[cfg(unix)]
pub fn serve_unix(path: impl Into<PathBuf>) -> OpsBuilder {
    OpsBuilder::new(Place::Socket(path.into()))
}

/// How many dumps and selections run at the same time. Each holds a snapshot, or a thread.
const SCANS: usize = 4;

/// Where to listen.
#[derive(Debug)]
enum Place {
    Address(String),
    #[cfg(unix)]
    Socket(PathBuf),
}

/// An operations port that is not open yet: see [`serve`].
///
/// ```
/// use informer::{InformerBuilder, Target, ops};
/// use std::time::Duration;
/// # use informer_transport_mock::{MockServer, ServerConfig, VirtualClock};
/// # #[tokio::main]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let server = MockServer::new(ServerConfig::new(1), VirtualClock::new());
/// # let pods = InformerBuilder::packed_at(Target::new("", "v1", "pods")).start(&server.connect())?;
///
/// // `pods` follows a mock API server.
/// let port = ops::serve("127.0.0.1:0")
///     .add_with_bodies(&pods)
///     .history(20)
///     .fresh_within(Duration::from_secs(300))
///     .start()
///     .await?;
/// assert!(port.url().starts_with("http://127.0.0.1:"));
/// # port.stop().await;
/// # Ok(())
/// # }
/// ```
#[must_use = "a port opens when it is started"]
pub struct OpsBuilder {
    place: Place,
    inventory: Inventory,
    openers: Vec<Opener>,
    fresh_within: Duration,
    /// The token, or `None` if it is unfit.
    token: Option<Option<Token>>,
    hosts: Vec<String>,
    history: usize,
}

impl OpsBuilder {
    fn new(place: Place) -> Self {
        Self {
            place,
            inventory: Inventory::default(),
            openers: Vec::new(),
            fresh_within: Duration::from_secs(120),
            token: None,
            hosts: Vec::new(),
            history: 0,
        }
    }

    /// Adds an informer, a factory with all its informers, a controller with its own, or an election. The
    /// port does not keep it alive; what has ended and was dropped disappears.
    #[expect(clippy::should_implement_trait, reason = "nothing is summed up")]
    pub fn add(self, what: &(impl Inspect + ?Sized)) -> Self {
        self.inventory.add(what);
        self
    }

    /// Adds an informer and lets the port show the bodies of its objects. Those of Secrets are not shown all
    /// the same.
    pub fn add_with_bodies(mut self, informer: &impl WithBodies) -> Self {
        self.openers.push(informer.opener());
        self.add(informer)
    }

    /// Sets how recently an informer must have heard from the server to be ready: 120 seconds by default. See
    /// [`SharedInformer::is_fresh`](crate::SharedInformer::is_fresh).
    pub const fn fresh_within(mut self, time: Duration) -> Self {
        self.fresh_within = time;
        self
    }

    /// Sets the bearer token that clients must show, except for `/`, `/livez` and `/readyz`.
    pub fn token(self, token: impl Into<String>) -> Self {
        Self {
            token: Some(Token::new(token.into())),
            ..self
        }
    }

    /// Allows clients to call the port by this name. They can always use an IP address or `localhost`.
    pub fn host(mut self, name: impl Into<String>) -> Self {
        self.hosts.push(name.into());
        self
    }

    /// Remembers the last `count` changes of each object, and what caused them. Off by default: it costs a
    /// listener for each informer. At most 10,000 changes of all informers are kept.
    pub const fn history(mut self, count: usize) -> Self {
        self.history = count;
        self
    }

    /// Opens the port, on the current tokio runtime.
    ///
    /// # Errors
    /// The caller is not on a tokio runtime with I/O and timers, the address is not available, or it can be
    /// reached from other machines and there is no token.
    pub async fn start(self) -> Result<Ops, OpsError> {
        Tokio::current().map_err(OpsError::Runtime)?;
        let token = match self.token {
            Some(None) => return Err(OpsError::BadToken),
            Some(token) => token,
            None => None,
        };
        let (listener, hosts, url) = match &self.place {
            Place::Address(address) => {
                let listener = Listener::tcp(address, token.is_some()).await?;
                let url = listener
                    .address()
                    .map_or_else(|| address.clone(), |it| it.to_string());
                (listener, Some(self.hosts), format!("http://{url}"))
            }
            #[cfg(unix)]
            Place::Socket(path) => {
                let url = format!("unix:{}", path.display());
                (Listener::unix(path)?, None, url)
            }
        };
        let port = Port {
            inventory: Arc::new(self.inventory),
            openers: self.openers,
            guard: Guard { token, hosts },
            fresh_within: self.fresh_within,
            hub: Arc::new(Hub::new(self.history)),
            opened: Instant::now(),
            scans: Arc::new(Semaphore::new(SCANS)),
        };
        Ok(Ops::open(Arc::new(port), listener, url))
    }
}

impl fmt::Debug for OpsBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpsBuilder")
            .field("place", &self.place)
            .field("token", &self.token)
            .finish_non_exhaustive()
    }
}
