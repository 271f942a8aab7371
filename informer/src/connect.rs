//! Who brings the bytes. The only file that knows hyper.

use std::error::Error;
use std::fmt;

#[cfg(feature = "hyper")]
use informer_core::transport::Encoding;
use informer_core::transport::{Target, Transport};
#[cfg(feature = "hyper")]
use informer_transport_hyper::{ApiResource, Form, HyperTransport, Reach, Selection};
#[cfg(feature = "hyper")]
pub use informer_transport_hyper::{Client, Config};

/// Something that makes transports: a client of an API server, a mock of one, or a function.
///
/// ```
/// use informer::Connect;
/// use informer_transport_mock::{MockServer, ServerConfig, VirtualClock};
///
/// fn connects(_: &impl Connect) {}
/// let server = MockServer::new(ServerConfig::new(1), VirtualClock::new());
/// connects(&server.connect());
/// ```
pub trait Connect {
    /// What it makes.
    type Transport: Transport<String> + Send + Unpin + 'static;

    /// A transport for one informer. Nothing is sent before the informer asks for it.
    ///
    /// # Errors
    /// The target cannot be asked for.
    fn connect(&self, target: &Target) -> Result<Self::Transport, ConnectError>;
}

impl<F, T> Connect for F
where
    F: Fn(&Target) -> T,
    T: Transport<String> + Send + Unpin + 'static,
{
    type Transport = T;

    fn connect(&self, target: &Target) -> Result<T, ConnectError> {
        Ok(self(target))
    }
}

/// An API server, over HTTP.
#[cfg(feature = "hyper")]
impl Connect for Client {
    type Transport = HyperTransport;

    fn connect(&self, target: &Target) -> Result<HyperTransport, ConnectError> {
        let Target {
            group,
            version,
            plural,
            ..
        } = target;
        // A namespace is named only for what lives in one.
        let reach = match target.namespace {
            Some(_) => Reach::Namespaced,
            None => Reach::Cluster,
        };
        let resource = ApiResource::new(group, version, plural, plural, reach);
        let mut selection = Selection::of(resource)
            .with_labels(&target.labels)
            .with_fields(&target.fields)
            .in_form(match target.encoding {
                Encoding::Metadata => Form::Metadata,
                _ => Form::Whole,
            });
        if let Some(namespace) = &target.namespace {
            selection = selection.in_namespace(namespace);
        }
        for (name, value) in &target.parameters {
            selection = selection.with_parameter(name, value);
        }
        self.transport(&selection).map_err(ConnectError::new)
    }
}

/// Why there is no transport.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConnectError {
    reason: String,
}

impl ConnectError {
    /// An error with this text.
    pub fn new(reason: impl fmt::Display) -> Self {
        Self {
            reason: reason.to_string(),
        }
    }
}

impl fmt::Display for ConnectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

impl Error for ConnectError {}
