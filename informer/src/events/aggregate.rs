//! Which events are written, and when: series of equal events, rate limits and retries.
//!
//! A state machine without I/O. Events and answers go in, with the time; [`poll_write`](Aggregator::poll_write)
//! gives the next write. There is one write at a time, so an Event is created before its series is changed.
//!
//! The first of a series of equal events is created, and the second one written into it at once. Further ones
//! are counted, and the count is written every half an hour. A series ends if there is no such event for six
//! minutes; then its count is written for the last time.

#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;

use informer_core::Instant;

use super::recent::Recent;
use super::record::{NewEvent, Record, Same, Source};

/// How long a series waits for the next event.
const FINISH: Duration = Duration::from_secs(6 * 60);
/// How often the count of a long series is written.
const REFRESH: Duration = Duration::from_secs(30 * 60);
/// How many series, and how many rate limits, are remembered.
const REMEMBERED: usize = 4096;
/// How many writes may wait.
const QUEUE: usize = 1000;
/// How often a write is tried.
const TRIES: u32 = 12;
/// The wait between two tries. Up to a quarter is added, so that clients do not come all at once.
const REST: Duration = Duration::from_secs(10);
/// How many events of a type about an object may be written at once, and then one each.
const BURST: f64 = 25.0;
const REFILL: Duration = Duration::from_secs(5 * 60);

/// Decides what to write: see the [module](self).
#[derive(Debug)]
pub(super) struct Aggregator {
    /// The oldest is the one that ends first.
    series: Recent<Same, Series>,
    limits: Recent<Source, Bucket>,
    queue: VecDeque<Item>,
    attempt: Option<Attempt>,
    /// The time of the newest name.
    named: Duration,
    counts: RecorderCounts,
}

/// What a recorder has done so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct RecorderCounts {
    /// Events that became an Event of their own.
    pub recorded: u64,
    /// Events that were equal to an earlier one, and were counted there.
    pub counted: u64,
    /// Events that were left out because there were too many about one object.
    pub limited: u64,
    /// Events that were lost: the queue was full, or the recorder had stopped.
    pub dropped: u64,
    /// Writes that the server accepted.
    pub written: u64,
    /// Writes that were given up: the server refused them, or there was no answer for too long.
    pub failed: u64,
}

/// What came of an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Observed {
    /// There may be something to write now.
    Queued,
    /// It was counted, and that is enough for now.
    Counted,
    Limited,
    /// There is no room.
    Dropped,
}

/// How to write a record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Verb {
    Create,
    Patch,
}

/// What came of a write.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Answer {
    Written,
    /// The Event to be created exists.
    Exists,
    /// The Event to be patched does not exist.
    Missing,
    /// It may work later; the server may have said when.
    Later(Option<Duration>),
    /// It will never work.
    Refused,
}

/// What became of a write.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Settled {
    Done,
    /// It will be tried again.
    Again,
    GivenUp,
}

/// Equal events.
#[derive(Debug)]
struct Series {
    record: Record,
    /// The last event.
    seen: Instant,
    /// The count that the server has; 0 if it does not have the Event.
    written: u32,
    written_at: Instant,
    /// Whether a write waits or is on its way.
    is_queued: bool,
}

/// What to write.
#[derive(Debug)]
enum Item {
    /// A series that goes on.
    Open(Same),
    /// A series that has ended.
    Ended(Box<Series>),
}

/// A write on its way, or one that is to be repeated.
#[derive(Debug)]
struct Attempt {
    item: Item,
    verb: Verb,
    /// The count in it.
    count: u32,
    tries: u32,
    /// When to send it again; `None` while it is on its way.
    rests_until: Option<Instant>,
}

/// A token bucket from which nothing is taken in advance.
#[derive(Debug)]
struct Bucket {
    tokens: f64,
    last: Instant,
}

impl Aggregator {
    pub(super) fn new() -> Self {
        Self {
            series: Recent::new(),
            limits: Recent::new(),
            queue: VecDeque::new(),
            attempt: None,
            named: Duration::ZERO,
            counts: RecorderCounts::default(),
        }
    }

    pub(super) const fn counts(&self) -> RecorderCounts {
        self.counts
    }

    /// Takes an event that has just happened. `time` is the time since the beginning of 1970.
    pub(super) fn observe(&mut self, event: NewEvent, time: Duration, now: Instant) -> Observed {
        self.end_series(now);
        let source = event.source();
        let same = Same(Arc::new(event));
        if self.series.get(&same).is_some() {
            self.counts.counted += 1;
            return self.count(&same, source, time, now);
        }
        if !self.make_room() {
            return self.drop_event();
        }
        if !self.take_token(source, now) {
            self.counts.limited += 1;
            return Observed::Limited;
        }
        // Names are made of times, and no two are equal.
        self.named = time.max(self.named + Duration::from_nanos(1));
        let series = Series {
            record: Record {
                first: time,
                last: time,
                ..Record::new(Arc::clone(&same.0), self.named)
            },
            seen: now,
            written: 0,
            written_at: now,
            is_queued: true,
        };
        self.series.insert(same.clone(), series);
        self.queue.push_back(Item::Open(same));
        self.counts.recorded += 1;
        Observed::Queued
    }

    /// Counts an event that cannot be taken.
    pub(super) const fn drop_event(&mut self) -> Observed {
        self.counts.dropped += 1;
        Observed::Dropped
    }

    /// Counts one more event of a series.
    fn count(&mut self, same: &Same, source: Source, time: Duration, now: Instant) -> Observed {
        let Some(series) = self.series.touch(same) else {
            return Observed::Counted;
        };
        series.record.count = series.record.count.saturating_add(1).min(i32::MAX as u32);
        series.record.last = time;
        series.seen = now;
        let (is_queued, written) = (series.is_queued, series.written);
        let is_old = now.since(series.written_at) >= REFRESH;
        if is_queued || self.queue.len() >= QUEUE {
            return Observed::Counted;
        }
        if is_old || (written == 1 && self.take_token(source, now)) {
            self.enqueue(same);
            return Observed::Queued;
        }
        Observed::Counted
    }

    /// The next write, unless another one is on its way.
    pub(super) fn poll_write(&mut self, now: Instant) -> Option<(Verb, Record)> {
        self.end_series(now);
        match &mut self.attempt {
            Some(attempt) if attempt.rests_until.is_some_and(|until| now >= until) => {
                attempt.rests_until = None;
            }
            Some(_) => return None,
            None => {
                let (item, written) = self.next_item()?;
                self.attempt = Some(Attempt {
                    item,
                    verb: if written == 0 {
                        Verb::Create
                    } else {
                        Verb::Patch
                    },
                    count: 0,
                    tries: 0,
                    rests_until: None,
                });
            }
        }
        let attempt = self.attempt.as_ref()?;
        let record = self.series_of(&attempt.item)?.record.clone();
        let attempt = self.attempt.as_mut()?;
        attempt.count = record.count;
        attempt.tries += 1;
        Some((attempt.verb, record))
    }

    /// The next item of the queue, and the count that the server has.
    fn next_item(&mut self) -> Option<(Item, u32)> {
        loop {
            let item = self.queue.pop_front()?;
            let written = self.series_of(&item).map(|series| series.written);
            if let Some(written) = written {
                return Some((item, written));
            }
        }
    }

    /// Takes the answer to the last write.
    pub(super) fn answered(&mut self, answer: Answer, now: Instant) -> Settled {
        let Some(mut attempt) = self.attempt.take() else {
            return Settled::Done;
        };
        let rests_until = match (answer, attempt.verb) {
            (Answer::Written, _) => return self.settle(attempt, now),
            // An answer was lost.
            (Answer::Exists, Verb::Create) if attempt.count == 1 => {
                return self.settle(attempt, now);
            }
            (Answer::Exists, Verb::Create) => {
                attempt.verb = Verb::Patch;
                now
            }
            // The server does not keep Events for long.
            (Answer::Missing, Verb::Patch) => {
                attempt.verb = Verb::Create;
                now
            }
            (Answer::Later(wait), _) => {
                let rest = REST + self.jitter(&attempt, now);
                now.after(wait.unwrap_or_default().max(rest))
            }
            (Answer::Exists | Answer::Missing | Answer::Refused, _) => {
                return self.give_up(&attempt.item);
            }
        };
        if attempt.tries >= TRIES {
            return self.give_up(&attempt.item);
        }
        attempt.rests_until = Some(rests_until);
        self.attempt = Some(attempt);
        Settled::Again
    }

    fn settle(&mut self, attempt: Attempt, now: Instant) -> Settled {
        self.counts.written += 1;
        let Item::Open(same) = attempt.item else {
            return Settled::Done;
        };
        let Some(series) = self.series.get_mut(&same) else {
            return Settled::Done;
        };
        series.is_queued = false;
        series.written = attempt.count;
        series.written_at = now;
        // The series has begun meanwhile.
        if series.written == 1 && series.has_news() && self.take_token(same.0.source(), now) {
            self.enqueue(&same);
        }
        Settled::Done
    }

    fn give_up(&mut self, item: &Item) -> Settled {
        self.counts.failed += 1;
        // The next such event starts over.
        if let Item::Open(same) = item {
            self.series.remove(same);
        }
        Settled::GivenUp
    }

    /// Up to a quarter of the rest, another one for each client and each try.
    fn jitter(&self, attempt: &Attempt, now: Instant) -> Duration {
        let mut hasher = DefaultHasher::new();
        let series = self.series_of(&attempt.item);
        let name = series.map(|series| &series.record.name);
        (name, attempt.tries, now).hash(&mut hasher);
        let most = REST.as_millis() as u64 / 4;
        Duration::from_millis(hasher.finish() % (most + 1))
    }

    /// When to look again for something to write.
    pub(super) fn next_deadline(&self) -> Option<Instant> {
        let rests_until = self.attempt.as_ref().and_then(|it| it.rests_until);
        // A series whose count has no room in the queue cannot end yet.
        let is_full = self.queue.len() >= QUEUE;
        let can_end = |series: &Series| !(series.is_queued || is_full && series.has_news());
        let oldest = self.series.oldest().filter(|(_, series)| can_end(series));
        let ends = oldest.map(|(_, series)| series.seen.after(FINISH));
        rests_until.into_iter().chain(ends).min()
    }

    /// Whether nothing waits to be written, and nothing is on its way.
    pub(super) fn is_idle(&self) -> bool {
        self.queue.is_empty() && self.attempt.is_none()
    }

    /// Whether a write is not to be repeated before a while.
    pub(super) fn rests(&self, now: Instant) -> bool {
        let rests_until = self.attempt.as_ref().and_then(|it| it.rests_until);
        rests_until.is_some_and(|until| until > now)
    }

    /// How many writes are not done.
    pub(super) fn waiting(&self) -> usize {
        self.queue.len() + usize::from(self.attempt.is_some())
    }

    /// Queues the counts that the server does not know yet.
    pub(super) fn write_all(&mut self) {
        let keys: Vec<_> = self.series.keys().cloned().collect();
        for same in keys {
            let series = self.series.get(&same);
            if series.is_some_and(|series| series.has_news() && !series.is_queued) {
                self.enqueue(&same);
            }
        }
    }

    /// Gives up all that is not written. Returns how many writes that are.
    pub(super) fn abandon(&mut self) -> usize {
        let lost = self.waiting();
        let items = self.attempt.take().map(|attempt| attempt.item);
        for item in items.into_iter().chain(std::mem::take(&mut self.queue)) {
            self.give_up(&item);
        }
        lost
    }

    fn enqueue(&mut self, same: &Same) {
        if let Some(series) = self.series.get_mut(same) {
            series.is_queued = true;
            self.queue.push_back(Item::Open(same.clone()));
        }
    }

    fn series_of<'a>(&'a self, item: &'a Item) -> Option<&'a Series> {
        match item {
            Item::Open(same) => self.series.get(same),
            Item::Ended(series) => Some(series),
        }
    }

    /// Ends the series that have waited long enough.
    fn end_series(&mut self, now: Instant) {
        while let Some((_, oldest)) = self.series.oldest() {
            if now.since(oldest.seen) < FINISH || !self.forget_oldest(QUEUE) {
                return;
            }
        }
    }

    /// Makes room for one more series and its first write. Returns `false` if there is none.
    fn make_room(&mut self) -> bool {
        self.queue.len() < QUEUE
            && (self.series.len() < REMEMBERED || self.forget_oldest(QUEUE - 1))
    }

    /// Ends the oldest series, if it is not about to be written. Its last count is queued, up to this bound.
    fn forget_oldest(&mut self, bound: usize) -> bool {
        let Some((same, series)) = self.series.oldest() else {
            return false;
        };
        if series.is_queued || (series.has_news() && self.queue.len() >= bound) {
            return false;
        }
        let same = same.clone();
        let ended = self.series.remove(&same).filter(Series::has_news);
        self.queue
            .extend(ended.map(|series| Item::Ended(Box::new(series))));
        true
    }

    /// Takes a token for a write.
    fn take_token(&mut self, source: Source, now: Instant) -> bool {
        if let Some(bucket) = self.limits.touch(&source) {
            return bucket.take(now);
        }
        if self.limits.len() >= REMEMBERED
            && let Some((oldest, _)) = self.limits.oldest()
        {
            let oldest = oldest.clone();
            self.limits.remove(&oldest);
        }
        let mut bucket = Bucket {
            tokens: BURST,
            last: now,
        };
        let is_allowed = bucket.take(now);
        self.limits.insert(source, bucket);
        is_allowed
    }
}

impl Series {
    const fn has_news(&self) -> bool {
        self.record.count > self.written
    }
}

impl Bucket {
    fn take(&mut self, now: Instant) -> bool {
        let refill = now.since(self.last).as_secs_f64() / REFILL.as_secs_f64();
        self.tokens = (self.tokens + refill).min(BURST);
        self.last = self.last.max(now);
        let is_allowed = self.tokens >= 1.0;
        if is_allowed {
            self.tokens -= 1.0;
        }
        is_allowed
    }
}
