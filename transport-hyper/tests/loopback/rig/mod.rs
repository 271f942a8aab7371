//! A server, certificates and a hand that drives a transport, all on loopback. A test plays the server
//! itself: it takes each call and answers it.

// Certificates, made on the spot.
pub(crate) mod certificates;

// A whole informer over a transport.
pub(crate) mod driver;

// A folder that goes away.
pub(crate) mod folder;

// A server that speaks HTTP/2 frame by frame.
pub(crate) mod frames;

// Drives a transport by hand.
pub(crate) mod hand;

// A wire that can be frozen or cut, and a proxy.
pub(crate) mod relay;

// A server whose answers are written by the test.
pub(crate) mod server;

use std::time::Duration;

/// Nothing here takes so long, unless it hangs.
pub(crate) const WATCHDOG: Duration = Duration::from_secs(60);

/// `future`, or a failed test if it hangs.
pub(crate) async fn soon<T>(what: &str, future: impl Future<Output = T>) -> T {
    tokio::time::timeout(WATCHDOG, future)
        .await
        .unwrap_or_else(|_| panic!("waited in vain for {what}"))
}
