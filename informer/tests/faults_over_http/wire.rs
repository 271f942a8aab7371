//! A proxy between client and server that injects faults. It forwards one HTTP/1.1 request per connection.

use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

/// A fault in the current exchange. It happens once, and later exchanges are forwarded again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mishap {
    /// The connection closes at once.
    HangUp,
    /// The connection closes in the middle of the next piece.
    Cut,
    /// The connection is reset in the middle of the next piece.
    Reset,
    /// The data stops in the middle of the next piece, and the connection stays open.
    Stall,
}

/// An answer to a request in place of the server.
#[derive(Clone, Debug)]
pub(crate) enum Answer {
    /// This text.
    Text(String),
    /// This text and then this many bytes of padding, until the client hangs up.
    Long(String, usize),
}

pub(crate) struct Wire {
    address: SocketAddr,
    state: Arc<State>,
    // The tasks end when this is dropped.
    _tasks: JoinSet<()>,
}

struct State {
    server: SocketAddr,
    /// Whether to send each byte of a body in its own chunk.
    crumbles: bool,
    mishap: watch::Sender<Option<Mishap>>,
    answers: Mutex<VecDeque<Answer>>,
    /// The heads of the server's answers.
    heads: Mutex<Vec<String>>,
    /// How many bytes of long answers were sent.
    wasted: AtomicUsize,
}

impl Wire {
    pub(crate) async fn new(server: SocketAddr) -> Self {
        Self::of(server, false).await
    }

    /// Sends each byte of a body in its own chunk.
    pub(crate) async fn crumbling(server: SocketAddr) -> Self {
        Self::of(server, true).await
    }

    async fn of(server: SocketAddr, crumbles: bool) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::new(State {
            server,
            crumbles,
            mishap: watch::Sender::new(None),
            answers: Mutex::default(),
            heads: Mutex::default(),
            wasted: AtomicUsize::new(0),
        });
        let mut tasks = JoinSet::new();
        let shared = Arc::clone(&state);
        tasks.spawn(async move {
            let mut exchanges = JoinSet::new();
            while let Ok((client, _)) = listener.accept().await {
                let state = Arc::clone(&shared);
                exchanges.spawn(async move {
                    // A closed connection is not an error here.
                    let _ = state.carry(client).await;
                });
            }
        });
        Self {
            address,
            state,
            _tasks: tasks,
        }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn spoil(&self, mishap: Mishap) {
        self.state.mishap.send_replace(Some(mishap));
    }

    /// Gives these answers to the next requests, and ends the current exchange.
    pub(crate) fn answer(&self, answers: impl IntoIterator<Item = Answer>) {
        self.state.answers.lock().unwrap().extend(answers);
        self.spoil(Mishap::HangUp);
    }

    /// Whether all answers and faults were used.
    pub(crate) fn is_used_up(&self) -> bool {
        self.state.answers.lock().unwrap().is_empty() && self.state.mishap.borrow().is_none()
    }

    pub(crate) fn has_carried(&self, header: &str) -> bool {
        let heads = self.state.heads.lock().unwrap();
        heads.iter().any(|head| head.contains(header))
    }

    /// How many bytes of long answers were sent.
    pub(crate) fn wasted(&self) -> usize {
        self.state.wasted.load(Ordering::SeqCst)
    }
}

impl State {
    async fn carry(&self, client: TcpStream) -> io::Result<()> {
        client.set_nodelay(true)?;
        let mut client = BufReader::new(client);
        let question = head(&mut client).await?;
        let answer = self.answers.lock().unwrap().pop_front();
        if let Some(answer) = answer {
            return self.reply(answer, client.into_inner()).await;
        }
        let mut server = TcpStream::connect(self.server).await?;
        let question = question.replace("\r\n\r\n", "\r\nconnection: close\r\n\r\n");
        server.write_all(question.as_bytes()).await?;
        let mut server = BufReader::new(server);
        let answer = head(&mut server).await?;
        self.heads.lock().unwrap().push(answer.to_lowercase());
        client.write_all(answer.as_bytes()).await?;
        match self.crumbles {
            true => crumble(server, client.into_inner(), &answer).await,
            false => self.forward(server, client.into_inner()).await,
        }
    }

    async fn forward(
        &self,
        mut server: BufReader<TcpStream>,
        mut client: TcpStream,
    ) -> io::Result<()> {
        let mut mishaps = self.mishap.subscribe();
        let mut piece = vec![0; 16 << 10];
        loop {
            let mishap = *mishaps.borrow_and_update();
            if mishap == Some(Mishap::HangUp) {
                self.mishap.send_replace(None);
                return Ok(());
            }
            let length = tokio::select! {
                _ = mishaps.changed() => continue,
                // The client sends nothing more, so it has hung up.
                _ = client.read_u8() => return Ok(()),
                length = server.read(&mut piece) => length?,
            };
            if length == 0 {
                return Ok(());
            }
            let Some(mishap) = mishap else {
                client.write_all(piece.get(..length).unwrap()).await?;
                continue;
            };
            client.write_all(piece.get(..length / 2).unwrap()).await?;
            self.mishap.send_replace(None);
            match mishap {
                Mishap::HangUp | Mishap::Cut => {}
                // Makes the close a reset.
                Mishap::Reset => client.set_zero_linger()?,
                Mishap::Stall => {
                    let _ = client.read_u8().await;
                }
            }
            return Ok(());
        }
    }

    async fn reply(&self, answer: Answer, mut client: TcpStream) -> io::Result<()> {
        let (text, length) = match answer {
            Answer::Text(text) => (text, 0),
            Answer::Long(text, length) => (text, length),
        };
        client.write_all(text.as_bytes()).await?;
        let noise = [b'x'; 16 << 10];
        for _ in 0..length / noise.len() {
            client.write_all(&noise).await?;
            self.wasted.fetch_add(noise.len(), Ordering::SeqCst);
        }
        client.shutdown().await
    }
}

/// Reads a head, including the empty line after it.
async fn head(stream: &mut BufReader<TcpStream>) -> io::Result<String> {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if stream.read_line(&mut head).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
    Ok(head)
}

/// Forwards each byte of the body in its own chunk.
async fn crumble(
    mut server: BufReader<TcpStream>,
    mut client: TcpStream,
    head: &str,
) -> io::Result<()> {
    if !head.to_lowercase().contains("transfer-encoding: chunked") {
        while let Ok(byte) = server.read_u8().await {
            client.write_all(&[byte]).await?;
        }
        return Ok(());
    }
    loop {
        let mut size = String::new();
        server.read_line(&mut size).await?;
        let size = usize::from_str_radix(size.trim(), 16).map_err(io::Error::other)?;
        let mut chunk = vec![0; size + 2];
        server.read_exact(&mut chunk).await?;
        if size == 0 {
            return client.write_all(b"0\r\n\r\n").await;
        }
        for byte in chunk.iter().take(size) {
            client
                .write_all(&[b'1', b'\r', b'\n', *byte, b'\r', b'\n'])
                .await?;
        }
    }
}
