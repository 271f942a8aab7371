//! Captures log events of this thread.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex};

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

#[derive(Clone, Default)]
struct Recorder(Arc<Mutex<Vec<Line>>>);

impl Subscriber for Recorder {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("informer")
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut line = Line::default();
        event.record(&mut line);
        self.0.lock().unwrap().push(line);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// The events that are logged while `happens` runs.
pub fn logged(happens: impl FnOnce()) -> Vec<Line> {
    let recorder = Recorder::default();
    tracing::subscriber::with_default(recorder.clone(), happens);
    let lines = recorder.0.lock().unwrap();
    lines.clone()
}

/// The events with this message.
pub fn saying<'a>(lines: &'a [Line], text: &str) -> Vec<&'a Line> {
    let says = |line: &&Line| line.all("message").iter().any(|message| message == text);
    lines.iter().filter(says).collect()
}
