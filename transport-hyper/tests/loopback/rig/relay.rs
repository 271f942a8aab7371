//! A relay between client and server that can be frozen or cut, and a proxy.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, watch};

/// What a relay does with its bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mood {
    Forward,
    /// Accepts everything and passes on nothing, like a machine without power.
    Frozen,
    /// Resets the connection.
    Cut,
}

pub(crate) struct Relay {
    pub(crate) address: SocketAddr,
    mood: watch::Sender<Mood>,
    pub(crate) connections: Arc<AtomicUsize>,
}

impl Relay {
    pub(crate) async fn new(to: SocketAddr) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let (mood, moods) = watch::channel(Mood::Forward);
        let connections = Arc::new(AtomicUsize::new(0));
        let count = connections.clone();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                count.fetch_add(1, Ordering::SeqCst);
                let moods = moods.clone();
                tokio::spawn(async move {
                    let server = TcpStream::connect(to).await.unwrap();
                    carry(client, server, moods).await;
                });
            }
        });
        Self {
            address,
            mood,
            connections,
        }
    }

    pub(crate) fn set(&self, mood: Mood) {
        self.mood.send(mood).unwrap();
    }
}

async fn carry(mut client: TcpStream, mut server: TcpStream, mut moods: watch::Receiver<Mood>) {
    let (mut up, mut down) = (vec![0; 16 << 10], vec![0; 16 << 10]);
    loop {
        if *moods.borrow() == Mood::Cut {
            // With a linger time of zero, close sends a reset.
            let socket = socket2::SockRef::from(&client);
            socket.set_linger(Some(std::time::Duration::ZERO)).unwrap();
            return;
        }
        let frozen = *moods.borrow() == Mood::Frozen;
        tokio::select! {
            _ = moods.changed() => {}
            read = client.read(&mut up) => match read {
                Ok(n) if n > 0 => if !frozen && server.write_all(&up[..n]).await.is_err() { return },
                _ => return,
            },
            read = server.read(&mut down), if !frozen => match read {
                Ok(n) if n > 0 => if client.write_all(&down[..n]).await.is_err() { return },
                _ => return,
            },
        }
    }
}

/// A proxy that answers every CONNECT with `answer`, and opens the tunnel if that is a 200. The channel
/// yields the requests.
pub(crate) async fn proxy(answer: &'static str) -> (SocketAddr, mpsc::UnboundedReceiver<String>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    let (asked, questions) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        while let Ok((mut client, _)) = listener.accept().await {
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                head.push(client.read_u8().await.unwrap());
            }
            let head = String::from_utf8(head).unwrap();
            let target = head.split(' ').nth(1).unwrap().to_owned();
            asked.send(head).unwrap();
            client.write_all(answer.as_bytes()).await.unwrap();
            if answer.contains(" 200 ") {
                tokio::spawn(async move {
                    let mut server = TcpStream::connect(target).await.unwrap();
                    let _ = tokio::io::copy_bidirectional(&mut client, &mut server).await;
                });
            }
        }
    });
    (address, questions)
}
