//! A server on loopback that is hostile until told to be good.

// Requests.
pub(crate) mod ask;

// Answers, as bytes and pauses.
pub(crate) mod reply;

// Bodies in protobuf.
pub(crate) mod protobuf;

// The good server.
pub(crate) mod good;

// HTTP/1.1, byte by byte.
mod http1;

// Correct HTTP/2.
mod http2;

// Connections that a mode controls.
pub(crate) mod line;

// HTTP/2, frame by frame.
pub(crate) mod frames;

// Certificates.
pub(crate) mod tls;

use std::error::Error;
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rustls::ServerConfig;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_rustls::TlsAcceptor;

use crate::mode::{Act, Mode, Over};
use ask::Ask;
use good::State;
use line::Line;
use reply::Reply;
use tls::{Authorities, Shows};

/// A server for one mode. Dropping it stops it.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    pub(crate) scene: Arc<Scene>,
    turn: watch::Sender<bool>,
    _tasks: JoinSet<()>,
}

/// State shared by all connections of a server.
pub(crate) struct Scene {
    mode: &'static Mode,
    is_good: AtomicBool,
    connections: Times,
    requests: Times,
    /// Connections to the address that no client should contact.
    strays: AtomicUsize,
    elsewhere: SocketAddr,
    tls: Option<(Arc<ServerConfig>, Arc<ServerConfig>)>,
}

/// The times of an event.
#[derive(Default)]
struct Times(Mutex<Vec<Instant>>);

impl Times {
    /// Records the event now. Returns how often it happened before.
    fn note(&self) -> usize {
        let mut times = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        times.push(Instant::now());
        times.len() - 1
    }

    fn between(&self, from: Instant, to: Instant) -> Vec<Instant> {
        let times = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let within = times.iter().filter(|time| (from..to).contains(time));
        within.copied().collect()
    }
}

impl Server {
    pub(crate) async fn start(
        mode: &'static Mode,
        authorities: &Authorities,
    ) -> Result<Self, Box<dyn Error + Send + Sync>> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let elsewhere = TcpListener::bind(("127.0.0.1", 0)).await?;
        let tls = match mode.over {
            Over::Tls(shows) => {
                Some((authorities.server(shows)?, authorities.server(Shows::Good)?))
            }
            _ => None,
        };
        let scene = Arc::new(Scene {
            mode,
            is_good: AtomicBool::new(false),
            connections: Times::default(),
            requests: Times::default(),
            strays: AtomicUsize::new(0),
            elsewhere: elsewhere.local_addr()?,
            tls,
        });
        let address = listener.local_addr()?;
        let (turn, turning) = watch::channel(false);
        let mut tasks = JoinSet::new();
        tasks.spawn(accept(listener, Arc::clone(&scene), turning));
        let stray = Arc::clone(&scene);
        tasks.spawn(async move {
            while elsewhere.accept().await.is_ok() {
                stray.strays.fetch_add(1, Ordering::SeqCst);
            }
        });
        Ok(Self {
            address,
            scene,
            turn,
            _tasks: tasks,
        })
    }

    /// Restarts the server as a good one: open connections end.
    pub(crate) fn turn_good(&self) {
        self.scene.is_good.store(true, Ordering::SeqCst);
        self.turn.send_replace(true);
    }
}

async fn accept(listener: TcpListener, scene: Arc<Scene>, mut turning: watch::Receiver<bool>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                let Ok((stream, _)) = accepted else { continue };
                scene.connections.note();
                let scene = Arc::clone(&scene);
                connections.spawn(async move {
                    // A client that hangs up is not an error.
                    let _ = scene.converse(stream).await;
                });
            }
            Ok(()) = turning.changed() => connections.abort_all(),
            Some(_) = connections.join_next() => {}
        }
    }
}

impl Scene {
    /// The times of requests in this period, or of connections if there were more.
    pub(crate) fn attempts(&self, from: Instant, to: Instant) -> Vec<Instant> {
        let connections = self.connections.between(from, to);
        let requests = self.requests.between(from, to);
        if connections.len() > requests.len() {
            connections
        } else {
            requests
        }
    }

    /// How many connections went to the address that no client should contact.
    pub(crate) fn strays(&self) -> usize {
        self.strays.load(Ordering::SeqCst)
    }

    /// Records a request.
    pub(crate) fn asked(&self, target: &str, accept: &str) -> Ask {
        let number = self.requests.note();
        Ask::parse(target, accept, number, self.elsewhere.to_string())
    }

    fn is_good(&self) -> bool {
        self.is_good.load(Ordering::SeqCst)
    }

    fn answer(&self, ask: &Ask) -> Reply {
        if self.is_good() {
            return good::answer(ask, State::After);
        }
        let hostile = match self.mode.act {
            Act::Answers(answer) => answer(ask),
            _ => None,
        };
        hostile.unwrap_or_else(|| good::answer(ask, State::Before))
    }

    async fn converse(self: Arc<Self>, stream: TcpStream) -> io::Result<()> {
        stream.set_nodelay(true)?;
        if let Act::Connections(act) = self.mode.act
            && !self.is_good()
        {
            let scene = Arc::clone(&self);
            return act(Line { stream, scene }).await;
        }
        match (&self.tls, self.mode.over) {
            (Some((hostile, good)), _) => {
                let config = if self.is_good() { good } else { hostile };
                let stream = TlsAcceptor::from(Arc::clone(config)).accept(stream).await?;
                http2::serve(stream, &self).await
            }
            (None, Over::Http2) => http2::serve(stream, &self).await,
            (None, _) => http1::serve(stream, &self).await,
        }
    }
}
