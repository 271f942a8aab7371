//! Shared HTTP/2 connections: a server sends GOAWAY before it closes one.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use informer::Failure;
use informer_transport_mock::Server;
use informer_transport_mock::http::{HttpConfig, serve};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::task::JoinSet;

use crate::client;
use crate::followed::{Followed, WAYS, change, impatient, server, touch};

/// A GOAWAY frame: streams in progress go on, and no new ones are accepted.
const GO_AWAY: [u8; 17] = [
    0, 0, 8, 7, 0, 0, 0, 0, 0, // eight bytes of type 7, for the whole connection
    0x7f, 0xff, 0xff, 0xff, // the last stream that is served: the highest possible
    0, 0, 0, 0, // no error
];

/// A proxy for HTTP/2 that can send GOAWAY on all connections.
struct Wire {
    address: SocketAddr,
    going: Arc<Notify>,
    connections: Arc<AtomicUsize>,
    _tasks: JoinSet<()>,
}

impl Wire {
    /// With `closes`, a connection closes right after GOAWAY. Otherwise it stays open for the streams in
    /// progress.
    async fn new(server: SocketAddr, closes: bool) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let going = Arc::new(Notify::new());
        let connections = Arc::new(AtomicUsize::new(0));
        let mut tasks = JoinSet::new();
        let (signal, count) = (Arc::clone(&going), Arc::clone(&connections));
        tasks.spawn(async move {
            let mut carried = JoinSet::new();
            while let Ok((client, _)) = listener.accept().await {
                count.fetch_add(1, Ordering::SeqCst);
                let signal = Arc::clone(&signal);
                carried.spawn(async move {
                    // A closed connection is not an error here.
                    let _ = carry(client, server, &signal, closes).await;
                });
            }
        });
        Self {
            address,
            going,
            connections,
            _tasks: tasks,
        }
    }

    fn url(&self) -> String {
        format!("http://{}", self.address)
    }
}

async fn carry(
    client: TcpStream,
    server: SocketAddr,
    going: &Notify,
    closes: bool,
) -> io::Result<()> {
    let server = TcpStream::connect(server).await?;
    let ((mut asks, answers), (from, mut to)) = (client.into_split(), server.into_split());
    tokio::select! {
        done = tokio::io::copy(&mut asks, &mut to) => done.map(drop),
        done = answer(from, answers, going, closes) => done,
    }
}

/// Forwards whole frames, so that GOAWAY can be inserted between two of them.
async fn answer(
    from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    going: &Notify,
    closes: bool,
) -> io::Result<()> {
    let mut from = BufReader::new(from);
    let mut told = false;
    loop {
        tokio::select! {
            () = going.notified(), if !told => {
                told = true;
                to.write_all(&GO_AWAY).await?;
                if closes {
                    return to.shutdown().await;
                }
                continue;
            }
            more = from.fill_buf() => if more?.is_empty() {
                return Ok(());
            },
        }
        let mut frame = vec![0; 9];
        from.read_exact(&mut frame).await?;
        let length = frame.iter().take(3);
        let length = length.fold(0, |length, byte| length << 8 | usize::from(*byte));
        frame.resize(9 + length, 0);
        from.read_exact(frame.get_mut(9..).unwrap()).await?;
        to.write_all(&frame).await?;
    }
}

#[tokio::test]
async fn a_server_sends_go_away_and_closes() {
    for way in WAYS {
        for forgets in [false, true] {
            let what = format!("{way:?}, forgets: {forgets}");
            let server = server();
            let running = serve(server.clone(), HttpConfig::new()).await.unwrap();
            let wire = Wire::new(running.address(), true).await;
            let mut pods = Followed::new(&client::over_http2(&wire.url()), impatient(way));
            pods.catches_up(&server, &what).await;
            touch(&server, "a");
            pods.catches_up(&server, &what).await;
            wire.going.notify_waiters();
            pods.fails(Failure::Broken, &what).await;
            change(&server, "d");
            if forgets {
                server.with(Server::restart);
            }
            pods.catches_up(&server, &what).await;
            pods.knows_who_vanished(&what);
            running.stop().await;
        }
    }
}

#[tokio::test]
async fn streams_in_progress_go_on_and_new_ones_use_a_new_connection() {
    for way in WAYS {
        let what = format!("{way:?}");
        let server = server();
        let running = serve(server.clone(), HttpConfig::new()).await.unwrap();
        let wire = Wire::new(running.address(), false).await;
        let mut pods = Followed::new(&client::over_http2(&wire.url()), impatient(way));
        pods.catches_up(&server, &what).await;
        touch(&server, "a");
        pods.catches_up(&server, &what).await;
        let before = wire.connections.load(Ordering::SeqCst);
        wire.going.notify_waiters();
        touch(&server, "a");
        pods.catches_up(&server, &what).await;
        assert!(!pods.has_failed(Failure::Broken), "{what}");
        assert_eq!(wire.connections.load(Ordering::SeqCst), before, "{what}");

        change(&server, "d");
        server.with(Server::restart);
        pods.catches_up(&server, &what).await;
        pods.knows_who_vanished(&what);
        // The changes so far may have come over the old connection.
        server.with(Server::restart);
        touch(&server, "a");
        pods.catches_up(&server, &what).await;
        assert!(wire.connections.load(Ordering::SeqCst) > before, "{what}");
        running.stop().await;
    }
}
