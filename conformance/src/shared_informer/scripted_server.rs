//! A server that follows the script of a case.
//!
//! The mock cannot replace it. The versions and uids of the cases are not those of any real server,
//! and the mock's scripts are fixed in advance. Here every step adds to an open watch or answers a
//! held request.

use alloc::collections::VecDeque;
use alloc::sync::Arc;
use core::task::{Context, Poll, Waker};
use std::sync::{Mutex, MutexGuard, PoisonError};

use informer_core::transport::{Command, ExchangeId, Request, Signal, Transport};
use informer_core::{Encoding, Failure};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::server::{self, Refusal};
use crate::vector::Thing;

/// The sizes of the pieces in which bytes arrive, over and over. Any split must work.
const PIECES: [usize; 7] = [1, 7, 2, 61, 3, 17, 5];

/// The script's side. Clones share the server.
#[derive(Clone, Default)]
pub(super) struct ScriptedServer {
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    /// The answer to requests for the full state; without one they are held.
    full_state: Option<FullState>,
    refusals: Refusals,
    /// A request without an answer yet.
    request: Option<(ExchangeId, Asked)>,
    /// The watch that carries events.
    watch: Option<ExchangeId>,
    /// The requests since the last call.
    calls: Vec<Value>,
    /// What was sent and has not arrived.
    sent: VecDeque<(ExchangeId, Sent)>,
    /// The waker of the waiting reader.
    reader: Option<Waker>,
}

/// A full state.
pub(super) struct FullState {
    pub(super) version: String,
    pub(super) objects: Vec<Thing>,
}

/// The requests that are refused before any is answered.
#[derive(Default, Deserialize)]
pub(super) struct Refusals {
    #[serde(default)]
    list_errors: VecDeque<Refusal>,
    #[serde(default)]
    watch_errors: VecDeque<Refusal>,
}

#[derive(Clone, Copy)]
enum Asked {
    List,
    StreamedList,
    Watch,
}

enum Sent {
    Opened,
    Bytes(Vec<u8>),
    Closed,
    Failed { failure: Failure, message: String },
}

impl ScriptedServer {
    /// Sets the answers from now on; a held request is answered first.
    pub(super) fn follow(&self, full_state: Option<FullState>, refusals: Refusals) {
        self.change(|state| {
            state.full_state = full_state;
            state.refusals = refusals;
            state.answer();
        });
    }

    /// Sends lines over the open watch, if there is one.
    pub(super) fn send(&self, lines: &str) {
        self.change(|state| {
            if let Some(watch) = state.watch {
                state.send(watch, lines);
            }
        });
    }

    /// Ends the open watch.
    pub(super) fn close(&self) {
        self.change(|state| {
            let closed = state.watch.take().map(|watch| (watch, Sent::Closed));
            state.sent.extend(closed);
        });
    }

    pub(super) fn take_calls(&self) -> Vec<Value> {
        core::mem::take(&mut self.lock().calls)
    }

    /// The informer's side.
    pub(super) fn transport(&self) -> ScriptedTransport {
        ScriptedTransport {
            server: self.clone(),
            arriving: None,
            piece: 0,
        }
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        let mut state = self.lock();
        change(&mut state);
        let reader = state.reader.take();
        drop(state);
        if let Some(reader) = reader {
            reader.wake();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn ask(&mut self, exchange: ExchangeId, request: Request<'_>) {
        let (call, asked) = match request {
            // This server never pages, so a request for a page equals nothing recorded.
            Request::List {
                page: Some(page), ..
            } => (json!({"call": "list", "page": page}), Asked::List),
            Request::List { version, limit, .. } => {
                let limit = limit.unwrap_or(0);
                let call = json!({"call": "list", "rv": version.as_str(), "limit": limit});
                (call, Asked::List)
            }
            Request::Watch {
                version,
                initial_events: true,
                ..
            } => (
                json!({"call": "watch", "rv": version.as_str(), "initial_events": true}),
                Asked::StreamedList,
            ),
            Request::Watch { version, .. } => {
                let call = json!({"call": "watch", "rv": version.as_str()});
                (call, Asked::Watch)
            }
        };
        self.calls.push(call);
        self.watch = None;
        self.request = Some((exchange, asked));
        self.answer();
    }

    /// Answers the current request, if the script has an answer.
    fn answer(&mut self) {
        let Some((exchange, asked)) = self.request.take() else {
            return;
        };
        let refusal = match asked {
            Asked::List | Asked::StreamedList => self.refusals.list_errors.pop_front(),
            Asked::Watch => self.refusals.watch_errors.pop_front(),
        };
        if let Some(refusal) = refusal {
            let (failure, message) = refusal.failure();
            let failed = Sent::Failed { failure, message };
            self.sent.push_back((exchange, failed));
            return;
        }
        let body = match (asked, &self.full_state) {
            (Asked::Watch, _) => String::new(),
            (Asked::List, Some(state)) => server::list(&state.version, &state.objects),
            (Asked::StreamedList, Some(state)) => {
                server::streamed_list(&state.version, &state.objects)
            }
            (Asked::List | Asked::StreamedList, None) => {
                self.request = Some((exchange, asked));
                return;
            }
        };
        self.sent.push_back((exchange, Sent::Opened));
        self.send(exchange, &body);
        match asked {
            Asked::List => self.sent.push_back((exchange, Sent::Closed)),
            Asked::StreamedList | Asked::Watch => self.watch = Some(exchange),
        }
    }

    fn send(&mut self, exchange: ExchangeId, text: &str) {
        if !text.is_empty() {
            let bytes = text.as_bytes().to_vec();
            self.sent.push_back((exchange, Sent::Bytes(bytes)));
        }
    }
}

/// The informer's side: a transport like any other.
pub(super) struct ScriptedTransport {
    server: ScriptedServer,
    /// What is shown until it is consumed.
    arriving: Option<(ExchangeId, Sent)>,
    /// The index of the next piece in [`PIECES`].
    piece: usize,
}

impl Transport for ScriptedTransport {
    fn execute(&mut self, command: Command<'_>) {
        let mut state = self.server.lock();
        match command {
            Command::Open { exchange, request } => state.ask(exchange, request),
            Command::Abort(exchange) => {
                state.watch = state.watch.filter(|watch| *watch != exchange);
                state.request = state.request.filter(|(asked, _)| *asked != exchange);
            }
        }
    }

    fn poll_signal(&mut self, cx: &mut Context<'_>) -> Poll<(ExchangeId, Signal<'_>)> {
        if self.arriving.is_none() {
            let mut state = self.server.lock();
            self.arriving = state.sent.pop_front();
            state.reader = Some(cx.waker().clone());
        }
        let Some((exchange, sent)) = &self.arriving else {
            return Poll::Pending;
        };
        let signal = match sent {
            Sent::Opened => Signal::Opened(Encoding::Json),
            Sent::Bytes(left) => {
                let size = PIECES.get(self.piece).copied().unwrap_or(1);
                Signal::Bytes(left.get(..size).unwrap_or(left))
            }
            Sent::Closed => Signal::Closed,
            Sent::Failed { failure, message } => Signal::Failed {
                failure: *failure,
                message,
            },
        };
        Poll::Ready((*exchange, signal))
    }

    fn consume(&mut self, n: usize) {
        if let Some((_, Sent::Bytes(left))) = &mut self.arriving {
            self.piece = (self.piece + 1) % PIECES.len();
            left.drain(..n.min(left.len()));
            if !left.is_empty() {
                return;
            }
        }
        self.arriving = None;
    }
}
