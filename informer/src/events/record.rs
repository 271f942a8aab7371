//! Events: what the caller says, what is kept of it, and what the server gets.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use serde_json::{Value, json};

use super::reference::Reference;
use crate::micro_time::micro_time;
use crate::names::is_domain;

/// The longest note that a server accepts, in bytes.
const NOTE: usize = 1024;

/// Something that happened to an object.
///
/// ```
/// use informer::ObjectKey;
/// use informer::events::{NewEvent, Reference};
///
/// let shop = Reference::new("apps/v1", "Deployment", &ObjectKey::new("web", "shop"));
/// let pod = Reference::new("v1", "Pod", &ObjectKey::new("web", "shop-1"));
/// let event = NewEvent::normal(shop, "Scaled", "Scale", "scaled to 3").related(pod);
/// # let _ = event;
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewEvent {
    regarding: Reference,
    related: Option<Reference>,
    severity: Severity,
    reason: String,
    action: String,
    note: String,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Severity {
    Normal,
    Warning,
}

impl NewEvent {
    /// Nothing is wrong.
    ///
    /// The reason is one word for programs, such as `Scaled`. The action is what the controller did or tried
    /// to do, such as `Scale`. The note is for people; what is beyond 1,024 bytes is cut. Reason and action
    /// must not be empty.
    pub fn normal(
        regarding: impl Into<Reference>,
        reason: impl Into<String>,
        action: impl Into<String>,
        note: impl Into<String>,
    ) -> Self {
        Self {
            regarding: regarding.into(),
            related: None,
            severity: Severity::Normal,
            reason: reason.into(),
            action: action.into(),
            note: cut(note.into()),
        }
    }

    /// Something is wrong: see [`normal`](Self::normal).
    pub fn warning(
        regarding: impl Into<Reference>,
        reason: impl Into<String>,
        action: impl Into<String>,
        note: impl Into<String>,
    ) -> Self {
        Self {
            severity: Severity::Warning,
            ..Self::normal(regarding, reason, action, note)
        }
    }

    /// Names a second object, such as one that was made for the first.
    #[must_use]
    pub fn related(mut self, object: impl Into<Reference>) -> Self {
        self.related = Some(object.into());
        self
    }

    /// Where the event is stored. Those of cluster-scoped objects go to `default`.
    pub(super) fn namespace(&self) -> &str {
        match self.regarding.namespace() {
            "" => "default",
            namespace => namespace,
        }
    }

    /// What must be equal in the events of a series: everything but versions and times.
    fn sameness(&self) -> impl Eq + Hash + use<'_> {
        (
            self.regarding.identity(),
            self.related.as_ref().map(Reference::identity),
            self.severity,
            [&self.reason, &self.action, &self.note],
        )
    }

    /// What shares a rate limit: the events of one type about one object.
    pub(super) fn source(&self) -> Source {
        let regarding = self.regarding.clone().version("");
        Source(Arc::new((regarding, self.severity)))
    }
}

/// Shortens a note at the end of a character.
fn cut(mut note: String) -> String {
    const MORE: &str = "…";
    if note.len() > NOTE {
        let room = 0..=NOTE - MORE.len();
        let end = room.rev().find(|at| note.is_char_boundary(*at));
        note.truncate(end.unwrap_or_default());
        note.push_str(MORE);
    }
    note
}

/// Identifies a series.
#[derive(Clone, Debug)]
pub(super) struct Same(pub(super) Arc<NewEvent>);

impl PartialEq for Same {
    fn eq(&self, other: &Self) -> bool {
        self.0.sameness() == other.0.sameness()
    }
}

impl Eq for Same {}

impl Hash for Same {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.sameness().hash(state);
    }
}

/// Identifies a rate limit.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Source(Arc<(Reference, Severity)>);

/// An event to write.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Record {
    pub(super) event: Arc<NewEvent>,
    pub(super) name: String,
    /// When it was observed first, since the beginning of 1970.
    pub(super) first: Duration,
    /// When it was observed last.
    pub(super) last: Duration,
    /// How often it was observed.
    pub(super) count: u32,
}

impl Record {
    /// An event that was observed for the first time. The name is made of the time, which must be unique.
    pub(super) fn new(event: Arc<NewEvent>, time: Duration) -> Self {
        Self {
            name: name(&event, time),
            event,
            first: time,
            last: time,
            count: 1,
        }
    }

    /// The whole Event.
    pub(super) fn whole(&self, reporter: &Reporter) -> Value {
        let event = &*self.event;
        let mut whole = json!({
            "apiVersion": "events.k8s.io/v1",
            "kind": "Event",
            "metadata": {"namespace": event.namespace(), "name": self.name},
            "eventTime": micro_time(UNIX_EPOCH + self.first),
            "reportingController": reporter.controller,
            "reportingInstance": reporter.instance,
            "action": event.action,
            "reason": event.reason,
            "regarding": event.regarding,
            "note": event.note,
            "type": match event.severity {
                Severity::Normal => "Normal",
                Severity::Warning => "Warning",
            },
        });
        if let Value::Object(members) = &mut whole {
            if let Some(related) = &event.related {
                members.insert("related".to_owned(), json!(related));
            }
            if self.count > 1 {
                members.insert("series".to_owned(), self.series());
            }
        }
        whole
    }

    /// The part that changes.
    pub(super) fn change(&self) -> Value {
        json!({"series": self.series()})
    }

    fn series(&self) -> Value {
        json!({"count": self.count, "lastObservedTime": micro_time(UNIX_EPOCH + self.last)})
    }
}

/// Who reports events.
#[derive(Clone, Debug)]
pub(super) struct Reporter {
    pub(super) controller: String,
    pub(super) instance: String,
}

/// The name of an Event. The name of the object comes first, unless an Event may not be called so.
fn name(event: &NewEvent, time: Duration) -> String {
    let nanos = time.as_nanos();
    let name = format!("{}.{nanos:x}", event.regarding.name());
    if is_domain(&name) {
        return name;
    }
    let mut hasher = DefaultHasher::new();
    event.sameness().hash(&mut hasher);
    format!("event.{nanos:x}.{:x}", hasher.finish())
}

#[cfg(test)]
mod tests {
    use informer_core::ObjectKey;

    use super::*;

    fn about(name: &str) -> Reference {
        Reference::new("v1", "Pod", &ObjectKey::new("web", name))
    }

    #[test]
    fn notes_are_cut_between_characters() {
        for (note, kept) in [
            ("x".repeat(1024), 1024),
            ("x".repeat(1025), 1024),
            // One byte, then characters of two.
            (format!("x{}", "é".repeat(600)), 1024),
            ("é".repeat(600), 1023),
            ("€".repeat(5_000), 1023),
        ] {
            let cut = cut(note.clone());
            assert_eq!(cut.len(), kept);
            let start = cut.trim_end_matches('…');
            assert!(note.starts_with(start));
            assert_eq!(cut.ends_with('…'), note.len() > 1024);
        }
    }

    #[test]
    fn versions_and_times_make_no_difference() {
        let event = |version, note| {
            let pod = about("a").version(version);
            Same(Arc::new(
                NewEvent::normal(pod, "R", "A", note).related(about("b")),
            ))
        };
        assert_eq!(event("1", "x"), event("2", "x"));
        assert_ne!(event("1", "x"), event("1", "y"));
        let same = Same(Arc::new(NewEvent::normal(about("a"), "R", "A", "x")));
        assert_ne!(same, event("1", "x"), "related");
        let warning = NewEvent::warning(about("a"), "R", "A", "x");
        assert_ne!(same, Same(Arc::new(warning.clone())), "type");
        assert_ne!(same.0.source(), warning.source());
        let uid = NewEvent::normal(about("a").uid("u"), "R", "A", "x");
        assert_ne!(same, Same(Arc::new(uid)), "another object");
    }

    #[test]
    fn names_are_valid() {
        let named = |object: &str| {
            let event = Arc::new(NewEvent::normal(about(object), "R", "A", ""));
            Record::new(event, Duration::from_nanos(0xabc)).name
        };
        assert_eq!(named("shop-1"), "shop-1.abc");
        for strange in ["system:node", "Upper", &"x".repeat(253)] {
            let name = named(strange);
            assert!(name.starts_with("event.abc."), "{name}");
            assert!(is_domain(&name), "{name}");
        }
        assert_ne!(named("a:b"), named("a:c"));
    }
}
