//! Connections that are shared or reused.

use std::collections::VecDeque;
use std::fmt;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{HeaderValue, Method, Request, Response, Uri, header};
use http_body_util::Full;
use hyper::body::{Body as _, Incoming};
use hyper::client::conn::{TrySendError, http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use informer_transport_http::{chain, find, poll_data};
use tokio::sync::Notify;

use super::census::Census;
use super::dial::{Dialled, Stream, dial};
use super::error::{ConnectError, Peer, SendError, tls_failure};
use super::frames::Frames;
use super::http1::{Http1, Lent};
use super::proxy;
use super::settled::{Reading, Settled};
use super::unhurried::{Arriving, States};
use crate::config::{Config, Proxy};
use crate::tls::{Tls, TlsSource};

/// What a connection is used for. Lists are long and the rest must not wait behind them, so the two do
/// not share connections.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Class {
    List,
    /// Watches and requests for single objects.
    Watch,
}

/// How often to try a request that the server has not processed.
const ATTEMPTS: usize = 4;

/// The flow-control window of a watch: its unread bytes in flight, which a stalled reader keeps in memory. A
/// watch may begin with a full state, and a quarter of this makes it wait for the server's turn.
const WATCH_WINDOW: u32 = 1 << 20;

/// The window of a list. Only a few lists run at a time, and they should be fast.
const LIST_WINDOW: u32 = 2 << 20;

/// The largest frame, if the server cares to fill it.
const LARGEST_FRAME: u32 = 128 << 10;

/// The largest window in HTTP/2.
const LARGEST_WINDOW: u32 = (1 << 31) - 1;

/// The largest head or trailers of an HTTP/2 answer.
const LARGEST_HEAD: u32 = 64 << 10;

/// The most headers of an answer.
const MOST_HEADERS: usize = 100;

/// How many idle HTTP/1.1 connections to keep.
const SPARE: usize = 8;

/// The buffer of an HTTP/1.1 connection, which also bounds its chunks.
const HTTP1_BUFFER: usize = 256 << 10;

pub(super) type Content = Full<Bytes>;
type Http2Connection =
    http2::Connection<Settled<TokioIo<Frames<Box<dyn Stream>>>>, Content, TokioExecutor>;

/// A connection that one task drives while others read its limits; `None` after its end.
type Driven = Mutex<Option<Http2Connection>>;

/// All connections of a client.
pub(crate) struct Pool {
    config: Arc<Config>,
    /// For the connection to an `https://` proxy.
    proxy_tls: Option<TlsSource>,
    lists: Shelf,
    watches: Shelf,
    census: Census,
}

/// The connections of one class.
#[derive(Default)]
struct Shelf {
    open: Mutex<Open>,
    /// Held while a connection is opened that others may share. Contains the error of the last attempt.
    dialling: tokio::sync::Mutex<Option<ConnectError>>,
    /// How many attempts have finished.
    attempts: AtomicU64,
    /// HTTP/1.1 connections cannot be shared, so there is no point in waiting for one.
    is_http1: AtomicBool,
}

#[derive(Default)]
struct Open {
    shared: Vec<Shared>,
    spare: VecDeque<Spare>,
}

/// An HTTP/2 connection.
struct Shared {
    sender: http2::SendRequest<Content>,
    allowance: Arc<Driven>,
    streams: Arc<AtomicUsize>,
    states: States,
    /// How many streams may stall, each with a full window, before they block another one.
    roomy: usize,
    generation: u64,
}

/// An idle HTTP/1.1 connection.
struct Spare {
    sender: http1::SendRequest<Content>,
    connection: Arc<Http1>,
    states: States,
    generation: u64,
}

/// Permission to send one request.
enum Lease {
    Http2(http2::SendRequest<Content>, Slot, States),
    Http1(Spare, Freshness),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Freshness {
    New,
    /// Reused: the server may have closed it in the meantime.
    Used,
}

/// A stream of a shared connection, released on drop.
struct Slot(Arc<AtomicUsize>);

impl Drop for Slot {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

/// An answer whose body has not been read yet.
pub(crate) struct Answer {
    pub(crate) head: http::response::Parts,
    body: Incoming,
    /// Those of its connection.
    states: States,
    /// Set while it is a full state that arrives.
    arriving: Option<Arriving>,
    /// The connection, if it is not shared. It gets its task back after the body was dropped.
    lent: Option<Lent>,
    hold: Hold,
}

/// What the reader of a body keeps busy.
enum Hold {
    Slot {
        _slot: Slot,
    },
    Connection {
        pool: Arc<Pool>,
        class: Class,
        spare: Option<Spare>,
    },
}

impl Pool {
    pub(crate) fn new(config: Arc<Config>) -> Self {
        Self {
            proxy_tls: proxy::tls_source(&config),
            config,
            lists: Shelf::default(),
            watches: Shelf::default(),
            census: Census::default(),
        }
    }

    pub(crate) const fn census(&self) -> &Census {
        &self.census
    }

    /// How many streams of HTTP/2 connections are in use.
    pub(crate) fn streams(&self) -> usize {
        let shelves = [&self.lists, &self.watches];
        shelves.iter().flat_map(|shelf| shelf.streams()).sum()
    }

    /// Sends `request`, which has an absolute URI, over a connection of its class.
    pub(crate) async fn send(
        self: &Arc<Self>,
        class: Class,
        request: Request<Content>,
        tls: Option<&Tls>,
    ) -> Result<Answer, SendError> {
        let mut attempt = 1;
        loop {
            let lease = self.lease(class, tls).await.map_err(SendError::Connect)?;
            match self.send_over(lease, class, request.clone()).await {
                Ok(answer) => return Ok(answer),
                Err(unsent) if unsent.is_safe_to_repeat && attempt < ATTEMPTS => attempt += 1,
                Err(unsent) => return Err(unsent.error),
            }
        }
    }

    async fn send_over(
        self: &Arc<Self>,
        lease: Lease,
        class: Class,
        mut request: Request<Content>,
    ) -> Result<Answer, Unsent> {
        match lease {
            Lease::Http2(mut sender, slot, states) => {
                let sent = sender.try_send_request(request).await;
                let response = sent.map_err(|error| self.unsent(error, Freshness::New))?;
                Ok(Answer::new(
                    response,
                    states,
                    None,
                    Hold::Slot { _slot: slot },
                ))
            }
            Lease::Http1(mut spare, freshness) => {
                address(&mut request, self.config.forwarder());
                // It may still be finishing the previous exchange.
                if let Err(error) = spare.sender.ready().await {
                    return Err(self.unsent_for(&error, freshness == Freshness::Used));
                }
                // What the server may have carried out is repeated only if it changes nothing.
                let freshness = match *request.method() {
                    Method::GET => freshness,
                    _ => Freshness::New,
                };
                let sent = spare.sender.try_send_request(request).await;
                let response = sent.map_err(|error| self.unsent(error, freshness))?;
                let lent = Arc::clone(&spare.connection).lend();
                let states = spare.states.clone();
                let hold = Hold::Connection {
                    pool: Arc::clone(self),
                    class,
                    spare: Some(spare),
                };
                Ok(Answer::new(response, states, Some(lent), hold))
            }
        }
    }

    fn unsent(&self, mut failed: TrySendError<Request<Content>>, freshness: Freshness) -> Unsent {
        let never_sent = failed.take_message().is_some();
        let error = failed.into_error();
        let not_looked_at = find::<h2::Error>(&error).is_some_and(|error| {
            let is_refused = error.reason() == Some(h2::Reason::REFUSED_STREAM);
            is_refused || (error.is_go_away() && error.is_remote())
        });
        let was_closed = freshness == Freshness::Used && !error.is_parse();
        self.unsent_for(&error, never_sent || not_looked_at || was_closed)
    }

    fn unsent_for(&self, error: &hyper::Error, is_safe_to_repeat: bool) -> Unsent {
        let error = if find::<rustls::Error>(error).is_some() {
            // With TLS 1.3 the server checks our certificate after the handshake.
            let forwarder = self.config.forwarder();
            let peer = forwarder.map_or_else(|| Peer::server(&self.config), Peer::proxy);
            SendError::Connect(ConnectError(tls_failure(error, &peer)))
        } else {
            let server = &self.config.server;
            let hint = if error.is_parse() && !server.tls {
                "; if it serves HTTPS, use https://"
            } else {
                ""
            };
            let (url, why) = (self.config.route(), chain(error));
            SendError::Broken(format!("{url} did not answer: {why}{hint}"))
        };
        Unsent {
            is_safe_to_repeat,
            error,
        }
    }

    async fn lease(&self, class: Class, tls: Option<&Tls>) -> Result<Lease, ConnectError> {
        let generation = tls.map_or(0, |tls| tls.generation);
        let shelf = self.shelf(class);
        let attempts = shelf.attempts.load(Ordering::Acquire);
        if let Some(lease) = shelf.open().take(generation) {
            return Ok(lease);
        }
        if shelf.is_http1.load(Ordering::Acquire) {
            return self.connect(class, tls).await;
        }
        let mut last_error = shelf.dialling.lock().await;
        if let Some(lease) = shelf.open().take(generation) {
            return Ok(lease);
        }
        if shelf.is_http1.load(Ordering::Acquire) {
            // Meanwhile we learned that connections cannot be shared.
            drop(last_error);
            return self.connect(class, tls).await;
        }
        // Requests that waited for a failed attempt share its error: a hundred attempts, one after
        // the other, could take hours.
        if shelf.attempts.load(Ordering::Acquire) > attempts
            && let Some(error) = &*last_error
        {
            return Err(error.clone());
        }
        let connected = self.connect(class, tls).await;
        *last_error = connected.as_ref().err().cloned();
        shelf.attempts.fetch_add(1, Ordering::AcqRel);
        connected
    }

    async fn connect(&self, class: Class, tls: Option<&Tls>) -> Result<Lease, ConnectError> {
        let connected = self.open(class, tls).await;
        self.census.attempted(connected.is_ok());
        connected
    }

    async fn open(&self, class: Class, tls: Option<&Tls>) -> Result<Lease, ConnectError> {
        let shelf = self.shelf(class);
        let generation = tls.map_or(0, |tls| tls.generation);
        let dialled = dial(&self.config, tls, self.proxy_tls.as_ref()).await?;
        shelf.is_http1.store(!dialled.is_http2, Ordering::Release);
        if !dialled.is_http2 {
            return self.http1(dialled, generation).await;
        }
        let shared = self.http2(class, dialled, generation).await?;
        let mut open = shelf.open();
        open.shared.push(shared);
        open.take(generation)
            .ok_or_else(|| self.complain("allows no HTTP/2 streams; use HTTP/1.1"))
    }

    async fn http1(&self, dialled: Dialled, generation: u64) -> Result<Lease, ConnectError> {
        let Dialled { stream, states, .. } = dialled;
        let (sender, connection) = http1::Builder::new()
            .max_buf_size(HTTP1_BUFFER)
            .max_headers(MOST_HEADERS)
            .handshake(TokioIo::new(stream))
            .await
            .map_err(|error| {
                self.complain(&format!("does not speak HTTP/1.1: {}", chain(&error)))
            })?;
        let connection = Arc::new(Http1::new(connection));
        let (running, open) = (Arc::clone(&connection), self.census.open_http1());
        tokio::spawn(async move {
            running.run().await;
            drop(open);
        });
        let spare = Spare {
            sender,
            connection,
            states,
            generation,
        };
        Ok(Lease::Http1(spare, Freshness::New))
    }

    async fn http2(
        &self,
        class: Class,
        dialled: Dialled,
        generation: u64,
    ) -> Result<Shared, ConnectError> {
        let Dialled { stream, states, .. } = dialled;
        let settings = &self.config.settings;
        let (window, streams) = match class {
            Class::List => (LIST_WINDOW, settings.max_lists),
            Class::Watch => (WATCH_WINDOW, settings.max_streams),
        };
        let streams = u32::try_from(streams.get()).unwrap_or(u32::MAX);
        let streams = streams.min(LARGEST_WINDOW / window);
        let (io, reading) = Settled::new(TokioIo::new(Frames::new(stream)));
        let handshake = http2::Builder::new(TokioExecutor::new())
            .timer(TokioTimer::new())
            .initial_max_send_streams(0)
            .initial_stream_window_size(window)
            .max_frame_size(LARGEST_FRAME)
            .initial_connection_window_size(window * streams)
            .max_header_list_size(LARGEST_HEAD)
            .keep_alive_interval(settings.keep_alive_interval)
            .keep_alive_timeout(settings.keep_alive_timeout)
            .keep_alive_while_idle(true)
            .handshake(io);
        let failed = |error| self.complain(&format!("does not speak HTTP/2: {}", chain(&error)));
        let (sender, connection) = handshake.await.map_err(failed)?;
        let allowance = Arc::new(Mutex::new(Some(connection)));
        let running = run(Arc::clone(&allowance), Arc::clone(&reading));
        let open = self.census.open_http2();
        tokio::spawn(async move {
            running.await;
            drop(open);
        });
        let settled = until_settled(&sender, &allowance, &reading.asked);
        match tokio::time::timeout(settings.connect_timeout, settled).await {
            Ok(true) => Ok(Shared {
                sender,
                allowance,
                streams: Arc::default(),
                states,
                roomy: usize::try_from(streams).unwrap_or(usize::MAX),
                generation,
            }),
            Ok(false) => Err(match reading.refused() {
                Some(error) => ConnectError(tls_failure(&error, &Peer::server(&self.config))),
                None => self.complain("closed the connection before sending HTTP/2 settings"),
            }),
            Err(_) => Err(self.complain("did not send HTTP/2 settings in time; use HTTP/1.1")),
        }
    }

    fn complain(&self, about: &str) -> ConnectError {
        ConnectError(format!("{} {about}", self.config.route()))
    }

    const fn shelf(&self, class: Class) -> &Shelf {
        match class {
            Class::List => &self.lists,
            Class::Watch => &self.watches,
        }
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool")
            .field("streams_of_lists", &self.lists.streams())
            .field("streams_of_watches", &self.watches.streams())
            .finish_non_exhaustive()
    }
}

/// A request without an answer.
struct Unsent {
    /// As far as we can know, the server has not processed it.
    is_safe_to_repeat: bool,
    error: SendError,
}

impl Shelf {
    /// How many streams each HTTP/2 connection has.
    fn streams(&self) -> Vec<usize> {
        let open = self.open();
        let streams = open.shared.iter().map(|shared| &shared.streams);
        streams.map(|count| count.load(Ordering::Acquire)).collect()
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Open {
    /// A connection with the current certificates and room for another request. Takes the fullest one, so
    /// that connections that are no longer needed run empty.
    fn take(&mut self, generation: u64) -> Option<Lease> {
        self.shared
            .retain(|shared| shared.generation == generation && !shared.sender.is_closed());
        self.spare
            .retain(|spare| spare.generation == generation && !spare.sender.is_closed());
        let with_room = self.shared.iter().filter(|shared| shared.has_room());
        if let Some(shared) = with_room.max_by_key(|shared| shared.streams.load(Ordering::Acquire))
        {
            shared.streams.fetch_add(1, Ordering::AcqRel);
            let slot = Slot(Arc::clone(&shared.streams));
            let lease = Lease::Http2(shared.sender.clone(), slot, shared.states.clone());
            // Close other connections that have run empty.
            self.shared
                .retain(|shared| shared.streams.load(Ordering::Acquire) > 0);
            return Some(lease);
        }
        let spare = self.spare.pop_back()?;
        Some(Lease::Http1(spare, Freshness::Used))
    }
}

impl Shared {
    fn has_room(&self) -> bool {
        let limit = allowed(&self.allowance).min(self.roomy);
        self.streams.load(Ordering::Acquire) < limit
    }
}

impl Answer {
    fn new(response: Response<Incoming>, states: States, lent: Option<Lent>, hold: Hold) -> Self {
        let (head, body) = response.into_parts();
        Self {
            head,
            body,
            states,
            arriving: None,
            lent,
            hold,
        }
    }

    /// Lets bytes gather for a moment before they are read: this is a full state.
    pub(crate) fn rest(&mut self) {
        self.arriving = Some(self.states.arriving());
    }

    /// Reads bytes as they arrive: the state is complete.
    pub(crate) fn hurry(&mut self) {
        self.arriving = None;
    }

    /// The next piece of the body; `None` at its end.
    pub(crate) fn poll_chunk(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, hyper::Error>>> {
        let (lent, body) = (&self.lent, &mut self.body);
        let piece = poll_data(cx, |cx| match lent {
            Some(lent) => lent.poll_frame(body, cx),
            None => Pin::new(&mut *body).poll_frame(cx),
        });
        if let Poll::Ready(None) = piece {
            self.lent = None;
            self.arriving = None;
            self.hold.release();
        }
        piece
    }
}

impl Hold {
    /// Returns the connection to the pool after the body was read to its end.
    fn release(&mut self) {
        if let Self::Connection { pool, class, spare } = self
            && let Some(spare) = spare.take()
        {
            let mut open = pool.shelf(*class).open();
            open.spare.push_back(spare);
            if open.spare.len() > SPARE {
                open.spare.pop_front();
            }
        }
    }
}

/// How many streams the peer allows; 0 until it has said so.
fn allowed(connection: &Driven) -> usize {
    let connection = connection.lock().unwrap_or_else(PoisonError::into_inner);
    connection
        .as_ref()
        .map_or(0, Http2Connection::current_max_send_streams)
}

/// Waits until the peer has said how many streams it allows. Returns `false` if it is gone.
async fn until_settled(
    sender: &http2::SendRequest<Content>,
    allowance: &Driven,
    asked: &Notify,
) -> bool {
    while allowed(allowance) == 0 {
        if sender.is_closed() {
            return false;
        }
        asked.notified().await;
    }
    true
}

/// Drives a connection to its end, and then wakes [`until_settled`].
async fn run(connection: Arc<Driven>, reading: Arc<Reading>) {
    let end = std::future::poll_fn(|cx| {
        let mut connection = connection.lock().unwrap_or_else(PoisonError::into_inner);
        let running = connection.as_mut();
        let ended = running.is_none_or(|running| Pin::new(running).poll(cx).is_ready());
        if ended {
            // Senders notice the end only when the connection is dropped.
            *connection = None;
            return Poll::Ready(());
        }
        Poll::Pending
    });
    end.await;
    reading.asked.notify_one();
}

/// HTTP/1.1 puts the host in a header, and in the request target only for a proxy that forwards the request.
fn address(request: &mut Request<Content>, forwarder: Option<&Proxy>) {
    let host = request
        .uri()
        .authority()
        .map(|authority| authority.as_str());
    if let Some(host) = host.and_then(|host| HeaderValue::from_str(host).ok()) {
        request.headers_mut().insert(header::HOST, host);
    }
    let Some(proxy) = forwarder else {
        let target = request.uri().path_and_query().cloned();
        *request.uri_mut() = target.map_or_else(Uri::default, Uri::from);
        return;
    };
    let authorization = proxy.authorization();
    if let Some(mut value) =
        authorization.and_then(|value| HeaderValue::from_str(value.expose()).ok())
    {
        value.set_sensitive(true);
        let headers = request.headers_mut();
        headers.insert(header::PROXY_AUTHORIZATION, value);
    }
}
