//! The operations port: health, metrics, status and the inspector page, over HTTP.
//!
//! One call opens it:
//!
//! ```
//! use informer::{InformerBuilder, Target, ops};
//! # use informer_transport_mock::{MockServer, ServerConfig, VirtualClock};
//! # #[tokio::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let server = MockServer::new(ServerConfig::new(1), VirtualClock::new());
//!
//! // `server` is a mock API server.
//! let pods = InformerBuilder::packed_at(Target::new("", "v1", "pods")).start(&server.connect())?;
//! let port = ops::serve("127.0.0.1:0").add(&pods).start().await?;
//! println!("look at {}", port.url());
//! # port.stop().await;
//! # Ok(())
//! # }
//! ```
//!
//! | path | what it says |
//! | --- | --- |
//! | `/` | the inspector: a page that shows all of this, live |
//! | `/livez` | 200, or 503 with the reason: a panic or the end of a runtime has ended an informer |
//! | `/readyz` | 200, or 503 with one line for each informer that is not fresh, each controller that has no workers, and each election that has ended; `?within=SECONDS` |
//! | `/metrics` | OpenMetrics text |
//! | `/status` | JSON: informers, controllers, elections and clients, with sentences that explain them |
//! | `/timeline` | JSON: the last phases and failures of each informer |
//! | `/events` | server-sent events: status, changes, and moments of the timelines |
//! | `/object/<informer>?key=namespace/name` | JSON: one object |
//! | `/select/<informer>?labels=…` | JSON: the keys that match `labels`, `fields`, or `index` and `value`; at most `limit` |
//! | `/dump/<informer>` | JSON: all keys and versions; `?bodies=true` adds bodies |
//!
//! # What is shown, and to whom
//!
//! The port is read-only. It looks at informers, controllers and elections without keeping them alive.
//!
//! It listens on a loopback address. Any other address needs a [token](OpsBuilder::token), which clients send
//! as `Authorization: Bearer …`; only `/`, `/livez` and `/readyz` are open, for probes. With [`serve_unix`],
//! the permissions of a file decide. A request must name the port by an IP address, as `localhost`, or by a
//! name that you [allow](OpsBuilder::host), so that no web page can reach it by a name of its own.
//!
//! Objects are shown by key, version, labels and index values. Their bodies are shown only if you
//! [add the informer with them](OpsBuilder::add_with_bodies). The bodies and annotations of Secrets are never
//! shown.
//!
//! The port limits what clients can cost: connections, open pages, and what waits for each of them. A page
//! that does not keep up is dropped from the feed, and told so.

// Settings of a port.
mod builder;

// Why a port could not be opened.
mod error;

// A port that is open.
mod running;

// Where the port listens.
mod listen;

// A Unix socket that only its owner can use.
#[cfg(unix)]
mod socket;

// Connections whose other side must read.
mod patient;

// What all connections share, and how requests are answered.
mod port;

// Who may ask.
mod guard;

// Paths and queries.
mod question;

// Answers.
mod reply;

// Alive and ready.
mod health;

// The status of everything.
mod overview;

// The timelines of informers.
mod moments;

// The objects of an informer of any kind.
mod contents;

// The live feed of all open pages.
mod feed;

#[cfg(unix)]
pub use builder::serve_unix;
pub use builder::{OpsBuilder, serve};
pub(crate) use contents::{Contents, Reading};
pub use contents::{Opener, WithBodies};
pub use error::OpsError;
pub use running::Ops;
