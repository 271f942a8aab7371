//! Connections: how they are made, and who shares them.

// One connection: name, TCP, proxy, TLS.
mod dial;

// Why there is no connection.
mod error;

// Connections that are shared or used again.
mod pool;

// What an HTTP/2 peer allows.
mod settled;

pub(crate) use error::{SendError, chain};
pub(crate) use pool::{Answer, Class, Pool};
