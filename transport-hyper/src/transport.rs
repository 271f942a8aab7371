//! The transport of one informer.

use std::fmt;
use std::sync::Arc;
use std::task::{Context, Poll};

use informer_core::transport::{Command, ExchangeId, Signal, Target, Transport};
use informer_transport_http::{HttpTransport, TargetError};

use crate::client::Inner;

/// The HTTP transport of one informer.
///
/// [`Client::transport`](crate::Client::transport) creates it. A task in the runtime of the client sends
/// each request. The code that polls the transport, which may run anywhere, reads the answer. Dropping
/// the transport ends its exchange.
///
/// ```no_run
/// use informer_core::transport::{Signal, Target, Transport};
/// use informer_transport_hyper::{Client, Config, HyperTransport};
///
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let client = Client::new(Config::infer()?)?;
/// let pods = Target::new("", "v1", "pods").in_namespace("web");
/// let mut transport: HyperTransport = client.transport(&pods)?;
///
/// // The informer calls `execute` with each command, then polls for what comes back.
/// let used = std::future::poll_fn(|cx| {
///     transport.poll_signal(cx).map(|(_exchange, signal)| match signal {
///         Signal::Bytes(bytes) => bytes.len(),
///         _ => 0,
///     })
/// });
/// let used = used.await;
/// transport.consume(used);
/// # Ok(())
/// # }
/// ```
pub struct HyperTransport(HttpTransport<Inner>);

impl HyperTransport {
    pub(crate) fn new(client: Arc<Inner>, target: &Target) -> Result<Self, TargetError> {
        Ok(Self(HttpTransport::new(client, target)?))
    }
}

impl fmt::Debug for HyperTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("HyperTransport").field(&self.0).finish()
    }
}

impl Transport for HyperTransport {
    fn execute(&mut self, command: Command<'_>) {
        self.0.execute(command);
    }

    fn poll_signal(&mut self, cx: &mut Context<'_>) -> Poll<(ExchangeId, Signal<'_>)> {
        self.0.poll_signal(cx)
    }

    fn consume(&mut self, n: usize) {
        self.0.consume(n);
    }
}
