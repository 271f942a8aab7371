//! Who brings the bytes.

use informer_core::transport::{Target, Transport};

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
    fn connect(&self, target: &Target) -> Self::Transport;
}

impl<F, T> Connect for F
where
    F: Fn(&Target) -> T,
    T: Transport<String> + Send + Unpin + 'static,
{
    type Transport = T;

    fn connect(&self, target: &Target) -> T {
        self(target)
    }
}
