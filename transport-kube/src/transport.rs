//! The transport of one informer.

use std::fmt;
use std::task::{Context, Poll};

use informer_core::transport::{Command, ExchangeId, Signal, Transport};
use informer_transport_http::HttpTransport;

use crate::client::Inner;

/// The transport of one informer over a kube client.
///
/// [`KubeClient::transport`](crate::KubeClient::transport) creates it. A task sends each request. The code
/// that polls the transport, which may run anywhere, reads the answer. Dropping the transport ends its
/// exchange.
pub struct KubeTransport(pub(crate) HttpTransport<Inner>);

impl fmt::Debug for KubeTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("KubeTransport").field(&self.0).finish()
    }
}

impl Transport for KubeTransport {
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
