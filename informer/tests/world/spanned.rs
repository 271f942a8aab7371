//! Records the spans of this thread, and asks somebody for something from every call of the subscriber.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;
use std::sync::Once;

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// A span as it was recorded.
#[derive(Clone, Debug)]
pub struct Span {
    pub name: &'static str,
    pub fields: BTreeMap<&'static str, String>,
    /// The span in which it was opened.
    pub parent: Option<u64>,
    pub entered: usize,
    handles: usize,
}

impl Span {
    pub fn get(&self, field: &str) -> Option<&str> {
        self.fields.get(field).map(String::as_str)
    }

    pub const fn is_open(&self) -> bool {
        self.handles > 0
    }
}

/// What a thread has recorded.
#[derive(Clone, Default)]
pub struct Recorded {
    pub spans: Vec<Span>,
    /// The messages of events, with the names of the spans around them.
    pub events: Vec<(String, Option<&'static str>)>,
    /// All values of spans and events.
    pub text: String,
    /// How many times it was asked.
    pub asked: usize,
    entered: Vec<u64>,
    ask: Option<Rc<dyn Fn()>>,
}

impl Recorded {
    pub fn named(&self, name: &str) -> Vec<&Span> {
        self.spans.iter().filter(|span| span.name == name).collect()
    }

    fn span(&mut self, id: &Id) -> Option<&mut Span> {
        self.spans
            .get_mut(usize::try_from(id.into_u64()).unwrap() - 1)
    }
}

thread_local! {
    static RECORDED: RefCell<Option<Recorded>> = const { RefCell::new(None) };
}

/// Notes what happens, if this thread records, and asks without holding on to the record.
fn note<R>(what: impl FnOnce(&mut Recorded) -> R) -> Option<R> {
    let (noted, ask) = RECORDED.with_borrow_mut(|recorded| {
        let recorded = recorded.as_mut()?;
        recorded.asked += usize::from(recorded.ask.is_some());
        Some((what(recorded), recorded.ask.clone()))
    })?;
    ask.iter().for_each(|ask| ask());
    Some(noted)
}

#[derive(Default)]
struct Values(BTreeMap<&'static str, String>);

impl Visit for Values {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0.insert(field.name(), format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name(), value.into());
    }
}

struct Recorder;

impl Subscriber for Recorder {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("informer")
    }

    fn new_span(&self, attributes: &Attributes<'_>) -> Id {
        let mut values = Values::default();
        attributes.record(&mut values);
        let number = note(|recorded| {
            recorded.text += &format!("{:?}\n", values.0);
            let current = recorded.entered.last().copied();
            let parent = attributes.parent().map(Id::into_u64);
            recorded.spans.push(Span {
                name: attributes.metadata().name(),
                fields: values.0,
                parent: parent.or_else(|| current.filter(|_| attributes.is_contextual())),
                entered: 0,
                handles: 1,
            });
            recorded.spans.len() as u64
        });
        Id::from_u64(number.unwrap_or(u64::MAX))
    }

    fn record(&self, _: &Id, values: &Record<'_>) {
        note(|recorded| recorded.text += &format!("{values:?}\n"));
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut values = Values::default();
        event.record(&mut values);
        note(|recorded| {
            recorded.text += &format!("{:?}\n", values.0);
            let around = recorded.entered.last().copied().map(Id::from_u64);
            let around = around.and_then(|id| recorded.span(&id).map(|span| span.name));
            let message = values.0.remove("message").unwrap_or_default();
            recorded.events.push((message, around));
        });
    }

    fn enter(&self, id: &Id) {
        note(|recorded| {
            recorded.entered.push(id.into_u64());
            if let Some(span) = recorded.span(id) {
                span.entered += 1;
            }
        });
    }

    fn exit(&self, _: &Id) {
        note(|recorded| recorded.entered.pop());
    }

    fn clone_span(&self, id: &Id) -> Id {
        note(|recorded| {
            if let Some(span) = recorded.span(id) {
                span.handles += 1;
            }
        });
        id.clone()
    }

    fn try_close(&self, id: Id) -> bool {
        let closed = note(|recorded| {
            recorded.span(&id).is_some_and(|span| {
                span.handles -= 1;
                span.handles == 0
            })
        });
        closed.unwrap_or(true)
    }
}

/// Records from now on.
pub fn begin() {
    static RECORDING: Once = Once::new();
    RECORDING.call_once(|| tracing::subscriber::set_global_default(Recorder).unwrap());
    RECORDED.set(Some(Recorded::default()));
}

/// Asks from every call from now on.
pub fn ask(ask: impl Fn() + 'static) {
    RECORDED.with_borrow_mut(|recorded| recorded.as_mut().unwrap().ask = Some(Rc::new(ask)));
}

/// What was recorded so far.
pub fn recorded() -> Recorded {
    RECORDED.with_borrow(|recorded| recorded.clone().unwrap())
}

/// Records no longer.
pub fn end() -> Recorded {
    RECORDED.replace(None).unwrap()
}
