//! The pods, their history, and who watches them.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::{BufMut as _, Bytes, BytesMut};
use informer_bench_pods::{Digits, FIRST_VERSION, Pods, Random};
use tokio::sync::mpsc;

use crate::cutter::Cutter;
use crate::options::Options;

/// How many events a watch can resume behind.
const HISTORY: usize = 10_000;

/// How many frames may wait for a client before changes wait for it.
const WAITING: usize = 16;

/// Everything that the server has.
pub(crate) struct World {
    state: Mutex<State>,
    pub(crate) cutter: Cutter,
    pub(crate) gzip: bool,
    pub(crate) style: String,
    /// The order in which pods change; without the marker.
    pub(crate) order: Vec<u32>,
    /// Held while pods are changed, so that one series follows the other.
    pub(crate) churning: Mutex<()>,
}

pub(crate) struct State {
    pub(crate) version: u64,
    pods: Vec<Held>,
    /// Events with their versions, oldest first.
    history: VecDeque<(u64, Bytes)>,
    watchers: Vec<mpsc::Sender<Bytes>>,
    /// How many changes were made, for the order.
    pub(crate) changes: usize,
}

/// A pod.
struct Held {
    /// As an element of a list.
    text: Bytes,
    digits: Digits,
    is_there: bool,
}

/// What happens to a pod.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Verb {
    Added,
    Modified,
    Deleted,
}

impl World {
    pub(crate) fn new(options: &Options) -> Result<Self, &'static str> {
        let pods = Pods::new(options.seed, options.pods as usize, options.namespaces);
        let mut held = Vec::with_capacity(pods.len());
        for number in 0..pods.len() {
            let mut text = String::new();
            pods.write(number, &mut text);
            text.shrink_to_fit();
            let digits = Pods::digits(&text).ok_or("a pod has no digits that could change")?;
            let text = Bytes::from(text);
            held.push(Held {
                text,
                digits,
                is_there: true,
            });
        }
        let mut order: Vec<u32> = (0..options.pods - 1).collect();
        let random = &mut Random::new(options.seed, 4);
        order.sort_by_cached_key(|_| random.number());
        Ok(Self {
            state: Mutex::new(State {
                version: FIRST_VERSION + pods.len() as u64,
                pods: held,
                history: VecDeque::with_capacity(HISTORY),
                watchers: Vec::new(),
                changes: 0,
            }),
            cutter: Cutter::new(options.seed),
            gzip: options.gzip,
            style: pods.style().to_string(),
            order,
            churning: Mutex::new(()),
        })
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of the pod that changes last.
    pub(crate) const fn marker(&self) -> usize {
        self.order.len()
    }
}

impl State {
    /// All pods as they are, as elements of a list.
    pub(crate) fn snapshot(&self) -> Arc<[Bytes]> {
        let there = self.pods.iter().filter(|pod| pod.is_there);
        there.map(|pod| pod.text.clone()).collect()
    }

    pub(crate) fn len(&self) -> usize {
        self.pods.iter().filter(|pod| pod.is_there).count()
    }

    pub(crate) fn bytes(&self) -> usize {
        self.pods.iter().map(|pod| pod.text.len()).sum()
    }

    /// Changes a pod and gives the event of it.
    pub(crate) fn change(&mut self, number: usize, verb: Verb, sent: u64) -> Bytes {
        self.version += 1;
        let Some(pod) = self.pods.get_mut(number) else {
            return Bytes::new();
        };
        let mut text = BytesMut::from(&*pod.text);
        put_digits(&mut text, pod.digits.version, 10, self.version);
        put_digits(&mut text, pod.digits.sent, 19, sent);
        pod.text = text.freeze();
        pod.is_there = verb != Verb::Deleted;
        let mut event = BytesMut::with_capacity(pod.text.len() + 80);
        write_event(&mut event, verb, &pod.text);
        let event = event.freeze();
        if self.history.len() == HISTORY {
            self.history.pop_front();
        }
        self.history.push_back((self.version, event.clone()));
        event
    }

    /// The events after a version; none if they are no longer known.
    pub(crate) fn since(&self, version: u64) -> Option<Vec<Bytes>> {
        let oldest = self.version - self.history.len() as u64;
        let newer = |(of, event): &(u64, Bytes)| (*of > version).then(|| event.clone());
        (version >= oldest).then(|| self.history.iter().filter_map(newer).collect())
    }

    /// Everything from here on.
    pub(crate) fn watch(&mut self) -> mpsc::Receiver<Bytes> {
        let (sender, receiver) = mpsc::channel(WAITING);
        self.watchers.push(sender);
        receiver
    }

    /// Those who watch.
    pub(crate) fn watchers(&mut self) -> Vec<mpsc::Sender<Bytes>> {
        self.watchers.retain(|watcher| !watcher.is_closed());
        self.watchers.clone()
    }
}

/// Appends an event. Objects in events have a kind.
pub(crate) fn write_event(out: &mut BytesMut, verb: Verb, pod: &[u8]) {
    let start: &[u8] = match verb {
        Verb::Added => br#"{"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","#,
        Verb::Modified => br#"{"type":"MODIFIED","object":{"kind":"Pod","apiVersion":"v1","#,
        Verb::Deleted => br#"{"type":"DELETED","object":{"kind":"Pod","apiVersion":"v1","#,
    };
    out.put_slice(start);
    out.put_slice(pod.get(1..).unwrap_or_default());
    out.put_slice(b"}\n");
}

fn put_digits(text: &mut [u8], at: usize, length: usize, mut number: u64) {
    let digits = text.get_mut(at..at + length).unwrap_or_default();
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + (number % 10) as u8;
        number /= 10;
    }
}
