//! What a client is doing.

use std::fmt;
use std::time::Duration;

use serde::{Serialize, Serializer};

use crate::client::Inner;

/// What a client is doing at one moment: its connections, and who waits for a list.
///
/// ```
/// use informer_transport_hyper::{Client, Config};
///
/// let client = Client::new(Config::new("http://127.0.0.1:8001")?)?;
/// let status = client.status();
/// assert_eq!(status.server, "http://127.0.0.1:8001");
/// assert_eq!(
///     status.to_string(),
///     "http://127.0.0.1:8001: no connections; 0 of 8 list slots in use"
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[non_exhaustive]
pub struct ClientStatus {
    /// The URL of the server. It never has credentials.
    pub server: String,
    /// Open HTTP/1.1 connections.
    pub http1_connections: usize,
    /// Open HTTP/2 connections.
    pub http2_connections: usize,
    /// Requests and watches that run over the HTTP/2 connections.
    pub http2_streams: usize,
    /// How many times a connection was opened.
    pub connects: u64,
    /// How many times that failed.
    pub failed_connects: u64,
    /// How many full states may be read at the same time: [`Settings::max_lists`](crate::Settings::max_lists).
    pub list_slots: usize,
    /// How many are being read.
    pub list_slots_in_use: usize,
    /// How many had to wait for others.
    pub list_waits: u64,
    /// How long they waited in total.
    #[serde(serialize_with = "seconds")]
    pub list_waited: Duration,
}

fn seconds<S: Serializer>(time: &Duration, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_f64(time.as_secs_f64())
}

impl ClientStatus {
    pub(crate) fn of(client: &Inner) -> Self {
        let (census, budget) = (client.pool.census(), client.budget.status());
        Self {
            server: client.config.server_url(),
            http1_connections: census.http1(),
            http2_connections: census.http2(),
            http2_streams: client.pool.streams(),
            connects: census.connects(),
            failed_connects: census.failed(),
            list_slots: budget.slots,
            list_slots_in_use: budget.in_use,
            list_waits: budget.waits,
            list_waited: budget.waited,
        }
    }
}

/// One line for people.
impl fmt::Display for ClientStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.server)?;
        match (self.http1_connections, self.http2_connections) {
            (0, 0) => f.write_str("no connections")?,
            (http1, 0) => write!(f, "connections: {http1} of HTTP/1.1")?,
            (http1, http2) => {
                write!(f, "connections: {http2} of HTTP/2")?;
                write!(f, " with {} streams", self.http2_streams)?;
                if http1 > 0 {
                    write!(f, ", {http1} of HTTP/1.1")?;
                }
            }
        }
        if self.failed_connects > 0 {
            write!(f, "; failed attempts to connect: {}", self.failed_connects)?;
        }
        let (slots, used) = (self.list_slots, self.list_slots_in_use);
        write!(f, "; {used} of {slots} list slots in use")
    }
}
