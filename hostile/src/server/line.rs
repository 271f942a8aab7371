//! A connection that a mode controls.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::sleep;

use super::Scene;
use super::ask::Ask;

/// The future of a mode's connection.
pub(crate) type Acted = Pin<Box<dyn Future<Output = io::Result<()>> + Send>>;

/// A flood pauses after this many bytes, because many run at the same time.
const BREATH: usize = 1 << 20;

/// A connection without TLS.
pub(crate) struct Line {
    pub(crate) stream: TcpStream,
    pub(crate) scene: Arc<Scene>,
}

impl Line {
    /// Reads the head of a request.
    pub(crate) async fn ask(&mut self) -> io::Result<Ask> {
        super::http1::ask(&mut self.stream, &self.scene).await
    }

    pub(crate) async fn say(&mut self, text: impl AsRef<[u8]>) -> io::Result<()> {
        self.stream.write_all(text.as_ref()).await
    }

    /// Sends the same text forever.
    pub(crate) async fn flood(&mut self, text: impl Into<Bytes>) -> io::Result<()> {
        let text = text.into();
        let mut pace = Pace::default();
        loop {
            self.stream.write_all(&text).await?;
            pace.after(text.len()).await;
        }
    }

    /// Sends one piece per second.
    pub(crate) async fn drip(&mut self, text: impl AsRef<[u8]>) -> io::Result<()> {
        loop {
            self.say(text.as_ref()).await?;
            sleep(Duration::from_secs(1)).await;
        }
    }

    /// Stays silent until the client leaves.
    pub(crate) async fn hang(&mut self) -> io::Result<()> {
        let mut heard = [0; 1024];
        while self.stream.read(&mut heard).await? > 0 {}
        Ok(())
    }

    /// Resets the connection, like a crashed host.
    pub(crate) fn reset(self) -> io::Result<()> {
        self.stream.set_zero_linger()
    }
}

/// Keeps a flood from taking the whole machine.
#[derive(Default)]
pub(crate) struct Pace {
    bytes: usize,
}

impl Pace {
    pub(crate) async fn after(&mut self, bytes: usize) {
        self.bytes += bytes;
        if self.bytes >= BREATH {
            self.bytes = 0;
            sleep(Duration::from_millis(1)).await;
        }
    }
}
