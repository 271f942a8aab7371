//! An informer with scripted answers.

use std::collections::BTreeMap;

use informer_core::decode::{Decoder, Dynamic};
use informer_core::failure::MAX_MESSAGE;
use informer_core::processor::{Backlog, ListenerConfig, ListenerId};
use informer_core::storage::Heap;
use informer_core::transport::{Command, ExchangeId, Request, Signal};
use informer_core::{
    Encoding, Failure, Informer, InformerConfig, Instant, Notification, Object, ObjectKey,
};
use informer_test_support::{Fold, Strictness};
use serde_json::Value;

use crate::random::Random;

type Pod = Object<Value>;

/// How answers are cut into pieces.
#[derive(Clone)]
pub(super) enum Cut {
    Whole,
    /// Into pieces of at most this many bytes.
    At(Random, usize),
}

/// Namespace and name.
pub(super) type Key = (String, String);

/// Uid and version.
pub(super) type Stamp = (String, String);

/// The type of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Asked {
    /// The first page of a list, or a later one.
    List { first: bool },
    /// A watch, with or without the initial state.
    Watch { initial: bool },
}

/// The outcome of a conversation.
pub(super) struct Outcome<'a> {
    /// Every request as text.
    pub(super) asked: Vec<String>,
    /// The answers that were used, and their requests.
    pub(super) answered: Vec<(Asked, &'a [u8])>,
    pub(super) told: Vec<Notification<Pod>>,
    pub(super) store: BTreeMap<ObjectKey, Pod>,
    pub(super) status: String,
    /// Whether a full state began and was not completed.
    pub(super) interrupted: bool,
}

impl Outcome<'_> {
    pub(super) fn versions(&self) -> BTreeMap<Key, Stamp> {
        let version = |pod: &Pod| (key_of(pod.key()), stamp(pod));
        self.store.values().map(version).collect()
    }

    /// The objects that a listener knows from its notifications.
    pub(super) fn folded(&self) -> BTreeMap<ObjectKey, Pod> {
        let mut fold = Fold::new(Strictness::AddsUp);
        for told in &self.told {
            fold.tell(told, Pod::clone).unwrap();
        }
        fold.known().clone()
    }
}

fn key_of(key: &ObjectKey) -> Key {
    (key.namespace().to_owned(), key.name().to_owned())
}

fn stamp(pod: &Pod) -> Stamp {
    (pod.uid().to_string(), pod.version().to_string())
}

/// Answers the requests of an informer, one after the other.
pub(super) fn play<'a>(config: InformerConfig, answers: &[&'a [u8]], cut: Cut) -> Outcome<'a> {
    let mut talk = Talk::new(config);
    let mut answered = Vec::new();
    let mut interrupted = false;
    for answer in answers {
        let Some((exchange, asked)) = talk.request() else {
            break;
        };
        let before = talk.informer.status().counts.full_states;
        talk.answer(exchange, answer, cut.clone());
        answered.push((asked, *answer));
        let is_full_state = asked != Asked::Watch { initial: false };
        let is_complete = talk.informer.status().counts.full_states > before;
        interrupted |= is_full_state && !is_complete && !talk.has_next_page();
    }
    // Some configurations already show the first pages of an incomplete list.
    interrupted |= talk.has_next_page();
    talk.check_reports();
    let store = talk.informer.store().iter();
    Outcome {
        store: store.map(|pod| (pod.key().clone(), pod.clone())).collect(),
        status: talk.status(),
        asked: talk.asked,
        told: talk.told,
        answered,
        interrupted,
    }
}

struct Talk {
    informer: Informer<Decoder<Dynamic>, Heap>,
    listener: ListenerId,
    /// A listener that holds everything back until it has polled.
    stalling: ListenerId,
    now: Instant,
    next: Option<(ExchangeId, Asked)>,
    asked: Vec<String>,
    told: Vec<Notification<Pod>>,
}

impl Talk {
    fn new(config: InformerConfig) -> Self {
        let now = Instant::from_micros(1);
        let mut informer = Informer::new(Decoder::new(Dynamic), config, 1).unwrap();
        let mut stalls = ListenerConfig::new();
        stalls.backlog = Backlog::Stall { at: 1 };
        let listener = informer.add_listener(ListenerConfig::new(), now).unwrap();
        let stalling = informer.add_listener(stalls, now).unwrap();
        informer.start(now);
        Self {
            informer,
            listener,
            stalling,
            now,
            next: None,
            asked: Vec::new(),
            told: Vec::new(),
        }
    }

    fn take_commands(&mut self) {
        while let Some(command) = self.informer.poll_command(self.now) {
            if let Command::Open { exchange, request } = command {
                self.asked.push(format!("{request:?}"));
                let asked = match request {
                    Request::List { page, .. } => Asked::List {
                        first: page.is_none(),
                    },
                    Request::Watch {
                        initial_events: initial,
                        ..
                    } => Asked::Watch { initial },
                };
                self.next = Some((exchange, asked));
            }
        }
    }

    fn has_next_page(&mut self) -> bool {
        self.take_commands();
        self.next
            .is_some_and(|(_, asked)| asked == Asked::List { first: false })
    }

    /// The next request, after a wait if needed.
    fn request(&mut self) -> Option<(ExchangeId, Asked)> {
        self.take_commands();
        if self.next.is_none() {
            self.now = self.informer.next_deadline()?;
            self.informer.advance(self.now);
            self.take_commands();
        }
        self.next.take()
    }

    fn answer(&mut self, exchange: ExchangeId, answer: &[u8], cut: Cut) {
        if let Some(failure) = failure(answer) {
            let message = "scripted failure";
            self.signal(exchange, Signal::Failed { failure, message });
            return;
        }
        self.signal(exchange, Signal::Opened(Encoding::Json));
        let pieces = match cut {
            Cut::Whole => vec![answer],
            Cut::At(mut random, longest) => random.cut(answer, longest),
        };
        for mut piece in pieces {
            while !piece.is_empty() {
                let used = self.signal(exchange, Signal::Bytes(piece));
                piece = &piece[used..];
            }
        }
        self.signal(exchange, Signal::Closed);
    }

    /// Offers a signal until it is taken. While a listener holds it back, polls the listeners.
    fn signal(&mut self, exchange: ExchangeId, signal: Signal<'_>) -> usize {
        let used = self.informer.signal(exchange, signal, self.now);
        let polled = self.poll();
        match used {
            // Every piece is used, or a listener had something to poll.
            Some(used) if used > 0 || polled || !matches!(signal, Signal::Bytes(_)) => used,
            _ => {
                assert!(polled, "held back, but no listener has anything to poll");
                self.signal(exchange, signal)
            }
        }
    }

    fn poll(&mut self) -> bool {
        let mut polled = false;
        loop {
            let told = self.informer.poll_notification(self.listener);
            let stalling = self.informer.poll_notification(self.stalling).is_some();
            if told.is_none() && !stalling {
                return polled;
            }
            polled = true;
            self.told.extend(told);
        }
    }

    fn status(&self) -> String {
        let mut status = self.informer.status();
        // Some configurations read what follows a failure, others do not.
        status.counts.bytes = 0;
        format!("{status:?}")
    }

    fn check_reports(&mut self) {
        let reports = std::iter::from_fn(|| self.informer.poll_rejected());
        let reports: Vec<_> = reports.collect();
        assert!(reports.len() <= 64, "{} reports", reports.len());
        for report in reports {
            assert!(report.reason.len() <= MAX_MESSAGE, "{}", report.reason);
        }
    }
}

/// The failure that an answer stands for.
fn failure(answer: &[u8]) -> Option<Failure> {
    const FAILURES: [Failure; 9] = [
        Failure::Broken,
        Failure::Expired,
        Failure::Unreachable,
        Failure::Throttled { retry_after: None },
        Failure::VersionTooLarge,
        Failure::Internal,
        Failure::TimedOut,
        Failure::Invalid,
        Failure::Credentials,
    ];
    let number = answer.strip_prefix(b"!")?.first()?;
    FAILURES
        .get(usize::from(number.wrapping_sub(b'0')))
        .copied()
}
