//! Captures log events of this thread.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Once;

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// One log event. A field that occurs twice has both values.
#[derive(Clone, Default, Debug)]
pub struct Line(BTreeMap<&'static str, Vec<String>>);

impl Line {
    /// The values of a field.
    pub fn all(&self, field: &str) -> &[String] {
        self.0.get(field).map_or(&[], Vec::as_slice)
    }

    /// The value of a field that occurs at most once.
    pub fn get(&self, field: &str) -> Option<&str> {
        match self.all(field) {
            [] => None,
            [value] => Some(value),
            many => panic!("{field} occurs {} times: {self:?}", many.len()),
        }
    }
}

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0
            .entry(field.name())
            .or_default()
            .push(format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.entry(field.name()).or_default().push(value.into());
    }
}

thread_local! {
    /// What this thread has logged, while somebody listens.
    static HEARD: RefCell<Option<Vec<Line>>> = const { RefCell::new(None) };
}

struct Listener;

impl Subscriber for Listener {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("informer")
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        HEARD.with_borrow_mut(|heard| {
            if let Some(lines) = heard {
                let mut line = Line::default();
                event.record(&mut line);
                lines.push(line);
            }
        });
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// The events that are logged while `happens` runs.
pub fn logged(happens: impl FnOnce()) -> Vec<Line> {
    // One subscriber for the whole program: a test without one could switch a line off for the others, if it
    // is the first to come by.
    static LISTENING: Once = Once::new();
    LISTENING.call_once(|| tracing::subscriber::set_global_default(Listener).unwrap());
    let before = HEARD.replace(Some(Vec::new()));
    happens();
    HEARD.replace(before).unwrap_or_default()
}

/// The events with this message.
pub fn saying<'a>(lines: &'a [Line], text: &str) -> Vec<&'a Line> {
    let says = |line: &&Line| line.all("message").iter().any(|message| message == text);
    lines.iter().filter(says).collect()
}
