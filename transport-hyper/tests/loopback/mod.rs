//! A server, certificates and a hand that drives a transport, all on loopback. A test plays the server
//! itself: it takes each call and answers it.
#![allow(
    dead_code,
    unreachable_pub,
    reason = "each test file uses what it needs of this"
)]

// Certificates, made on the spot.
pub mod certificates;

// A folder that goes away.
pub mod folder;

// Drives a transport by hand.
pub mod hand;

// A wire that can be frozen or cut, and a proxy.
pub mod relay;

// A server whose answers are written by the test.
pub mod server;

use std::time::Duration;

/// Nothing here takes so long, unless it hangs.
pub const WATCHDOG: Duration = Duration::from_secs(60);

/// `future`, or a failed test if it hangs.
pub async fn soon<T>(what: &str, future: impl Future<Output = T>) -> T {
    tokio::time::timeout(WATCHDOG, future)
        .await
        .unwrap_or_else(|_| panic!("waited in vain for {what}"))
}
