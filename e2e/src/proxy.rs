//! A TCP line between client and server that can be cut, slowed and silenced.

use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, sleep_until};

/// How many bytes are passed on at once. Small, so that a slow line is evenly slow.
const PIECE: usize = 1024;

/// How many pieces are in flight in each direction; the sender waits for room.
const ON_THE_WAY: usize = 64;

/// The state of the line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Line {
    /// Transparent.
    Good,
    /// Everything arrives this much later.
    Late(Duration),
    /// This many bytes per second, in each direction of each connection.
    Slow(u32),
    /// Connections stay open, but nothing arrives. A connection that has been silent is lost for
    /// good.
    Silent,
    /// All connections are closed, old and new ones.
    Down,
}

/// A proxy on loopback.
///
/// ```
/// use informer_e2e::proxy::{Line, Proxy};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> std::io::Result<()> {
/// let server = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
/// let proxy = Proxy::to(server.local_addr()?).await?;
/// proxy.set(Line::Slow(10_000));
/// assert_eq!(proxy.open(), 0);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Proxy {
    address: SocketAddr,
    shared: Arc<Shared>,
    accepting: JoinHandle<()>,
}

#[derive(Clone, Copy, Debug)]
struct State {
    line: Line,
    /// How often it was silent. A connection from before a silence is lost.
    silences: u64,
}

#[derive(Debug)]
struct Shared {
    server: SocketAddr,
    line: Mutex<State>,
    /// How often everything was cut.
    cuts: watch::Sender<u64>,
    open: AtomicUsize,
    received: AtomicU64,
    /// Everything is cut once, when the server has sent this many bytes in all.
    fuse: Mutex<Option<u64>>,
}

impl Proxy {
    /// Listens on a free port, and passes everything on to `server`.
    ///
    /// # Errors
    /// There is no port.
    pub async fn to(server: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let shared = Arc::new(Shared {
            server,
            line: Mutex::new(State {
                line: Line::Good,
                silences: 0,
            }),
            cuts: watch::Sender::new(0),
            open: AtomicUsize::new(0),
            received: AtomicU64::new(0),
            fuse: Mutex::new(None),
        });
        Ok(Self {
            address: listener.local_addr()?,
            accepting: tokio::spawn(accept(listener, Arc::clone(&shared))),
            shared,
        })
    }

    /// The address that it listens on.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Sets the state of the line.
    pub fn set(&self, line: Line) {
        {
            let mut state = lock(&self.shared.line);
            state.line = line;
            state.silences += u64::from(line == Line::Silent);
        }
        if line == Line::Down {
            self.cut();
        }
    }

    /// Closes all connections. New ones are accepted.
    pub fn cut(&self) {
        self.shared.cut();
    }

    /// Cuts once, after the server has sent this many more bytes.
    pub fn cut_after(&self, bytes: u64) {
        let at = self.received() + bytes;
        *lock(&self.shared.fuse) = Some(at);
    }

    /// Whether what [`cut_after`](Self::cut_after) asked for is still to come.
    #[must_use]
    pub fn is_cut_pending(&self) -> bool {
        lock(&self.shared.fuse).is_some()
    }

    /// How many connections there are.
    #[must_use]
    pub fn open(&self) -> usize {
        self.shared.open.load(Ordering::Acquire)
    }

    /// How many bytes the server has sent.
    #[must_use]
    pub fn received(&self) -> u64 {
        self.shared.received.load(Ordering::Acquire)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.accepting.abort();
        self.cut();
    }
}

impl Shared {
    fn cut(&self) {
        self.cuts.send_modify(|cuts| *cuts += 1);
    }

    fn line(&self) -> State {
        *lock(&self.line)
    }

    /// The server has sent something.
    fn count(&self, bytes: usize) {
        let bytes = bytes as u64;
        let received = self.received.fetch_add(bytes, Ordering::AcqRel) + bytes;
        let burnt = lock(&self.fuse).take_if(|at| received >= *at).is_some();
        if burnt {
            self.cut();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    loop {
        let Ok((client, _)) = listener.accept().await else {
            continue;
        };
        // Subscribed before the line is looked at, so that no cut falls between.
        let cut = shared.cuts.subscribe();
        if shared.line().line != Line::Down {
            tokio::spawn(carry(client, cut, Arc::clone(&shared)));
        }
    }
}

/// Carries one connection until an end closes it or it is cut.
async fn carry(client: TcpStream, mut cut: watch::Receiver<u64>, shared: Arc<Shared>) {
    shared.open.fetch_add(1, Ordering::AcqRel);
    let carried = async {
        let server = TcpStream::connect(shared.server).await?;
        server.set_nodelay(true)?;
        client.set_nodelay(true)?;
        let (from_client, to_client) = client.into_split();
        let (from_server, to_server) = server.into_split();
        tokio::select! {
            done = pass(from_client, to_server, &shared, |_| {}) => done,
            done = pass(from_server, to_client, &shared, |bytes| shared.count(bytes)) => done,
        }
    };
    tokio::select! {
        // Whichever end closed it, the other end sees that.
        _ = carried => {}
        _ = cut.changed() => {}
    }
    shared.open.fetch_sub(1, Ordering::AcqRel);
}

/// Passes bytes in one direction until they end.
async fn pass(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    shared: &Shared,
    count: impl Fn(usize),
) -> io::Result<()> {
    let silences = shared.line().silences;
    let (sender, mut pieces) = mpsc::channel::<(Instant, Bytes)>(ON_THE_WAY);
    let reading = async move {
        let mut buffer = vec![0; PIECE];
        loop {
            let length = from.read(&mut buffer).await?;
            let piece = Bytes::copy_from_slice(buffer.get(..length).unwrap_or_default());
            if length == 0 || sender.send((Instant::now(), piece)).await.is_err() {
                return io::Result::Ok(());
            }
            count(length);
        }
    };
    let writing = async move {
        while let Some((came, piece)) = pieces.recv().await {
            let now = shared.line();
            match now.line {
                // Takes the bytes and drops them.
                _ if now.silences != silences || now.line == Line::Silent => continue,
                Line::Late(delay) => sleep_until(came + delay).await,
                Line::Slow(rate) => {
                    let length = u32::try_from(piece.len()).unwrap_or(u32::MAX);
                    sleep(Duration::from_secs(1) * length / rate.max(1)).await;
                }
                Line::Good | Line::Silent | Line::Down => {}
            }
            to.write_all(&piece).await?;
        }
        io::Result::Ok(())
    };
    tokio::try_join!(reading, writing).map(|_| ())
}

#[cfg(test)]
#[expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]
mod tests {
    use super::*;

    /// A server that echoes what it gets. When a connection ends, it reports how many bytes that
    /// was.
    async fn echo() -> (SocketAddr, mpsc::UnboundedReceiver<usize>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (ended, connections) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            loop {
                let (mut stream, _) = listener.accept().await.unwrap();
                let ended = ended.clone();
                tokio::spawn(async move {
                    let mut total = 0;
                    let mut buffer = [0; 100];
                    while let Ok(length @ 1..) = stream.read(&mut buffer).await {
                        total += length;
                        if stream.write_all(&buffer[..length]).await.is_err() {
                            break;
                        }
                    }
                    ended.send(total).unwrap();
                });
            }
        });
        (address, connections)
    }

    async fn say(stream: &mut TcpStream, text: &[u8]) -> io::Result<Vec<u8>> {
        stream.write_all(text).await?;
        let mut answer = vec![0; text.len()];
        stream.read_exact(&mut answer).await?;
        Ok(answer)
    }

    async fn is_closed(stream: &mut TcpStream) -> bool {
        matches!(stream.read(&mut [0; 1]).await, Ok(0) | Err(_))
    }

    #[tokio::test]
    async fn a_good_line_passes_everything_in_order() {
        let (server, mut ended) = echo().await;
        let proxy = Proxy::to(server).await.unwrap();
        let mut client = TcpStream::connect(proxy.address()).await.unwrap();
        let text: Vec<u8> = (0..50_000).map(|n: u32| n.to_le_bytes()[0]).collect();
        let (mut read, mut write) = client.split();
        let mut answer = vec![0; text.len()];
        tokio::try_join!(write.write_all(&text), read.read_exact(&mut answer)).unwrap();
        assert!(answer == text);
        assert_eq!((proxy.open(), proxy.received()), (1, 50_000));
        drop(client);
        assert_eq!(ended.recv().await, Some(50_000));
    }

    #[tokio::test]
    async fn a_cut_closes_only_open_connections() {
        let (server, mut ended) = echo().await;
        let proxy = Proxy::to(server).await.unwrap();
        let mut client = TcpStream::connect(proxy.address()).await.unwrap();
        assert_eq!(say(&mut client, b"one").await.unwrap(), b"one");
        proxy.cut();
        assert!(is_closed(&mut client).await);
        assert_eq!(ended.recv().await, Some(3));
        let mut client = TcpStream::connect(proxy.address()).await.unwrap();
        assert_eq!(say(&mut client, b"two").await.unwrap(), b"two");
    }

    #[tokio::test]
    async fn cut_after_cuts_once() {
        let (server, _ended) = echo().await;
        let proxy = Proxy::to(server).await.unwrap();
        let mut client = TcpStream::connect(proxy.address()).await.unwrap();
        assert_eq!(say(&mut client, b"one").await.unwrap(), b"one");
        proxy.cut_after(5);
        assert_eq!(say(&mut client, b"four").await.unwrap(), b"four");
        assert!(proxy.is_cut_pending());
        // The last byte may or may not arrive.
        let _ = say(&mut client, b"!").await;
        assert!(is_closed(&mut client).await);
        assert!(!proxy.is_cut_pending());
        let mut client = TcpStream::connect(proxy.address()).await.unwrap();
        assert_eq!(say(&mut client, b"again").await.unwrap(), b"again");
    }

    #[tokio::test]
    async fn a_line_that_is_down_closes_every_connection() {
        let (server, _ended) = echo().await;
        let proxy = Proxy::to(server).await.unwrap();
        let mut old = TcpStream::connect(proxy.address()).await.unwrap();
        assert_eq!(say(&mut old, b"old").await.unwrap(), b"old");
        proxy.set(Line::Down);
        assert!(is_closed(&mut old).await);
        let mut new = TcpStream::connect(proxy.address()).await.unwrap();
        assert!(is_closed(&mut new).await);
        proxy.set(Line::Good);
        let mut new = TcpStream::connect(proxy.address()).await.unwrap();
        assert_eq!(say(&mut new, b"new").await.unwrap(), b"new");
    }

    #[tokio::test]
    async fn a_silenced_connection_is_lost_for_good() {
        let (server, mut ended) = echo().await;
        let proxy = Proxy::to(server).await.unwrap();
        let mut old = TcpStream::connect(proxy.address()).await.unwrap();
        assert_eq!(say(&mut old, b"old").await.unwrap(), b"old");
        proxy.set(Line::Silent);
        old.write_all(b"into the void").await.unwrap();
        proxy.set(Line::Good);
        let mut new = TcpStream::connect(proxy.address()).await.unwrap();
        assert_eq!(say(&mut new, b"new").await.unwrap(), b"new");
        old.write_all(b"still").await.unwrap();
        drop(old);
        assert_eq!(
            ended.recv().await,
            Some(3),
            "only the bytes from before the silence"
        );
    }

    // These two use a virtual clock: it jumps when all tasks wait.

    #[tokio::test(start_paused = true)]
    async fn a_slow_line_takes_its_time() {
        let (server, _ended) = echo().await;
        let proxy = Proxy::to(server).await.unwrap();
        proxy.set(Line::Slow(10_000));
        let mut client = TcpStream::connect(proxy.address()).await.unwrap();
        let began = Instant::now();
        let text = vec![7; 50_000];
        let (mut read, mut write) = client.split();
        let mut answer = vec![0; text.len()];
        tokio::try_join!(write.write_all(&text), read.read_exact(&mut answer)).unwrap();
        assert!(began.elapsed() >= Duration::from_secs(5));
    }

    #[tokio::test(start_paused = true)]
    async fn a_late_line_delays_both_ways() {
        let (server, _ended) = echo().await;
        let proxy = Proxy::to(server).await.unwrap();
        proxy.set(Line::Late(Duration::from_secs(2)));
        let mut client = TcpStream::connect(proxy.address()).await.unwrap();
        let began = Instant::now();
        assert_eq!(say(&mut client, b"hello").await.unwrap(), b"hello");
        assert!(began.elapsed() >= Duration::from_secs(4));
    }
}
