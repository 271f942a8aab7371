//! Connections: how they are opened and shared.

// Opens one connection: DNS, TCP, proxy, TLS.
mod dial;

// Why a connection or an answer failed.
mod error;

// Writing to what a stream wraps.
mod forward;

// Reads HTTP/2 frame by frame.
mod frames;

// An HTTP/1.1 connection, driven by whoever reads from it.
mod http1;

// How many connections there are.
mod census;

// Connections that are shared or reused.
mod pool;

// The way through a proxy.
mod proxy;

// A tunnel through a socks5 proxy.
mod socks;

// Waits for the settings of an HTTP/2 peer.
mod settled;

// A socket that can stop listening.
mod socket;

// Reads less often while a full state arrives.
mod unhurried;

pub(crate) use error::SendError;
pub(crate) use pool::{Answer, Class, Pool};
