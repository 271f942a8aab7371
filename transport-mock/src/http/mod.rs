//! The server over HTTP.
//!
//! [`serve`] puts a [`SharedServer`] on a port, plain or with TLS, in HTTP/1.1 and HTTP/2. What is
//! sent is what [`Server::handle`](crate::Server::handle) answers; here it gets headers, gzip where
//! the real server compresses, and faults on the way.

// A server that several tasks use.
mod shared;

// A script of what goes wrong.
pub mod faults;

// How a server is reached.
mod config;

// Why it could not be started.
mod error;

// A certificate for the occasion.
mod tls;

// What a client needs to know.
mod kubeconfig;

// Health, version, OpenAPI.
mod about;

// What the server serves.
mod discovery;

// Compression, where the real server compresses.
mod gzip;

// The body of an answer, as hyper takes it.
mod body;

// Heads of answers.
mod response;

// The script of faults under way.
mod trouble;

// A watch on its way to a client.
mod stream;

// One request.
mod front;

// A server that runs.
mod running;

pub use config::HttpConfig;
pub use error::ServeError;
pub use running::{Running, serve};
pub use shared::SharedServer;
