//! The built-in kinds whose fields are checked: leases and events, because electors and event
//! recorders depend on what a server refuses, and [definitions](definition), because they are served.

use serde_json::{Map, Value};

use crate::api::{ApiKind, FieldRules};
use crate::status::{ApiError, StatusCause};
use crate::store::definition;
use crate::store::metadata::{json_type, text};
use crate::store::validation::{push, qualified_name};

/// How long some fields of an event may be.
const REASON_LENGTH: usize = 128;
const NOTE_LENGTH: usize = 1024;

/// The format of a Go MicroTime, in Go's notation.
const MICRO_TIME: &str = "2006-01-02T15:04:05.000000Z07:00";

/// Refuses an object whose fields do not have the types of its kind, and adds the fields that the
/// kind always has.
pub(crate) fn decode(kind: &ApiKind, object: &mut Map<String, Value>) -> Result<(), ApiError> {
    let reader = Reader { kind };
    match kind.field_rules() {
        FieldRules::None => Ok(()),
        FieldRules::Definition => {
            definition::default(object);
            Ok(())
        }
        FieldRules::Lease => {
            let Some(Value::Object(spec)) = object.get("spec") else {
                return Ok(());
            };
            let field = |name: &str| format!("LeaseSpec.spec.{name}");
            for name in ["holderIdentity", "preferredHolder", "strategy"] {
                reader.text(spec.get(name), &field(name))?;
            }
            for name in ["leaseDurationSeconds", "leaseTransitions"] {
                reader.number(spec.get(name), &field(name))?;
            }
            for name in ["acquireTime", "renewTime"] {
                reader.micro_time(spec.get(name), &field(name))?;
            }
            Ok(())
        }
        rules @ (FieldRules::Event | FieldRules::CoreEvent) => {
            let names = EventNames::of(rules);
            for name in ["action", "reason", "type", "reportingInstance"] {
                reader.text(object.get(name), &format!("Event.{name}"))?;
            }
            for name in [names.controller, names.note] {
                reader.text(object.get(name), &format!("Event.{name}"))?;
            }
            reader.micro_time(object.get("eventTime"), "Event.eventTime")?;
            if let Some(series) = object.get("series") {
                reader.number(series.get("count"), "EventSeries.series.count")?;
                let field = "EventSeries.series.lastObservedTime";
                reader.micro_time(series.get("lastObservedTime"), field)?;
            }
            fill(kind, object);
            Ok(())
        }
    }
}

/// Adds the fields that Go writes even if they are empty.
fn fill(kind: &ApiKind, object: &mut Map<String, Value>) {
    let blank = format!("{{{}}}", kind.blank().trim_start_matches(','));
    let blank: Map<String, Value> = serde_json::from_str(&blank).unwrap_or_default();
    for (field, value) in blank {
        object.entry(field).or_insert(value);
    }
}

/// Adds the problems with a new object, or with one that replaces `before`.
pub(crate) fn validate(
    causes: &mut Vec<StatusCause>,
    kind: &ApiKind,
    object: &Map<String, Value>,
    before: Option<&Map<String, Value>>,
) {
    match kind.field_rules() {
        FieldRules::None => {}
        FieldRules::Definition => definition::validate(causes, object, before),
        FieldRules::Lease => lease(causes, object),
        rules @ (FieldRules::Event | FieldRules::CoreEvent) => {
            let event = Event {
                object,
                names: EventNames::of(rules),
            };
            event.check(causes);
            match before {
                _ if rules == FieldRules::CoreEvent => {}
                None => event.check_new(causes),
                Some(before) => event.check_change(causes, before),
            }
        }
    }
}

fn lease(causes: &mut Vec<StatusCause>, object: &Map<String, Value>) {
    let number = |name: &str| object.get("spec")?.get(name)?.as_i64();
    if let Some(seconds) = number("leaseDurationSeconds").filter(|seconds| *seconds <= 0) {
        let field = "spec.leaseDurationSeconds";
        let why = "must be greater than 0";
        causes.push(StatusCause::invalid_number(field, seconds, why));
    }
    if let Some(count) = number("leaseTransitions").filter(|count| *count < 0) {
        let why = "must be greater than or equal to 0";
        causes.push(StatusCause::invalid_number(
            "spec.leaseTransitions",
            count,
            why,
        ));
    }
}

/// The names of fields that differ between the two groups of events.
struct EventNames {
    controller: &'static str,
    note: &'static str,
    regarding: &'static str,
}

impl EventNames {
    const fn of(rules: FieldRules) -> Self {
        match rules {
            FieldRules::CoreEvent => Self {
                controller: "reportingComponent",
                note: "message",
                regarding: "involvedObject",
            },
            _ => Self {
                controller: "reportingController",
                note: "note",
                regarding: "regarding",
            },
        }
    }
}

struct Event<'a> {
    object: &'a Map<String, Value>,
    names: EventNames,
}

impl Event<'_> {
    fn field(&self, name: &str) -> &str {
        let value = self.object.get(name).and_then(Value::as_str);
        value.unwrap_or_default()
    }

    /// What every event must have. One without a time is from the days of the core group.
    fn check(&self, causes: &mut Vec<StatusCause>) {
        let namespace = text(self.object, "namespace").unwrap_or_default();
        let regarding = self.object.get(self.names.regarding);
        let regarded = regarding.and_then(|it| it.get("namespace")?.as_str());
        let regarded = regarded.unwrap_or_default();
        let is_new = !self.field("eventTime").is_empty();
        let is_right = match (is_new, regarded) {
            (false, "") => namespace == "default",
            (false, regarded) => regarded == namespace,
            (true, "") => matches!(namespace, "default" | "kube-system"),
            (true, _) => true,
        };
        if !is_right {
            let why = "does not match event.namespace";
            causes.push(StatusCause::invalid(
                "involvedObject.namespace",
                regarded,
                why,
            ));
        }
        if !is_new {
            return;
        }
        let controller = self.field(self.names.controller);
        if controller.is_empty() {
            causes.push(StatusCause::required(self.names.controller, ""));
        }
        let wrong = qualified_name(controller);
        push(causes, self.names.controller, controller, wrong);
        for name in ["reportingInstance", "action", "reason"] {
            let value = self.field(name);
            if value.is_empty() {
                causes.push(StatusCause::required(name, ""));
            }
            check_length(causes, name, value, REASON_LENGTH);
        }
        check_length(causes, "message", self.field(self.names.note), NOTE_LENGTH);
    }

    /// What a new event of the new group must have.
    fn check_new(&self, causes: &mut Vec<StatusCause>) {
        self.check_series(causes);
        if self.field("eventTime").is_empty() {
            causes.push(StatusCause::required("eventTime", ""));
        }
        let kind = self.field("type");
        if !matches!(kind, "Normal" | "Warning") {
            let why = format!("has invalid value: {kind}");
            causes.push(StatusCause::invalid("type", "", &why));
        }
        for (name, field) in [
            ("deprecatedFirstTimestamp", "firstTimestamp"),
            ("deprecatedLastTimestamp", "lastTimestamp"),
            ("deprecatedCount", "count"),
        ] {
            let value = self.object.get(name);
            if value.is_some_and(|value| !value.is_null() && *value != 0) {
                causes.push(StatusCause::invalid(field, "", "needs to be unset"));
            }
        }
        let source = self.object.get("deprecatedSource");
        if source.is_some_and(|source| source.as_object().is_some_and(|it| !it.is_empty())) {
            causes.push(StatusCause::invalid("source", "", "needs to be unset"));
        }
    }

    /// Only the series of an event may change.
    fn check_change(&self, causes: &mut Vec<StatusCause>, before: &Map<String, Value>) {
        if self.object.get("series") != before.get("series") {
            self.check_series(causes);
        }
        for (name, field) in [
            ("regarding", "involvedObject"),
            ("reason", "reason"),
            ("note", "message"),
            // The real server checks it twice.
            ("reason", "reason"),
            ("type", "type"),
            ("eventTime", "eventTime"),
            ("action", "action"),
            ("related", "related"),
            ("reportingController", "reportingController"),
            ("reportingInstance", "reportingInstance"),
        ] {
            if self.object.get(name) != before.get(name) {
                let value = self.field(name);
                causes.push(StatusCause::invalid(field, value, "field is immutable"));
            }
        }
    }

    fn check_series(&self, causes: &mut Vec<StatusCause>) {
        let Some(series) = self.object.get("series").filter(|it| it.is_object()) else {
            return;
        };
        let count = series.get("count").and_then(Value::as_i64);
        if count.unwrap_or(0) < 2 {
            let why = "should be at least 2";
            causes.push(StatusCause::invalid("series.count", "", why));
        }
        if series.get("lastObservedTime").is_none_or(Value::is_null) {
            causes.push(StatusCause::required("series.lastObservedTime", ""));
        }
    }
}

fn check_length(causes: &mut Vec<StatusCause>, field: &str, value: &str, most: usize) {
    if value.len() > most {
        let why = format!("can have at most {most} characters");
        causes.push(StatusCause::invalid(field, "", &why));
    }
}

/// Refuses values in the words of Go's JSON reader.
struct Reader<'a> {
    kind: &'a ApiKind,
}

impl Reader<'_> {
    fn text(&self, value: Option<&Value>, field: &str) -> Result<(), ApiError> {
        match value {
            None | Some(Value::Null | Value::String(_)) => Ok(()),
            Some(other) => Err(self.unreadable(other, field, "string")),
        }
    }

    fn number(&self, value: Option<&Value>, field: &str) -> Result<(), ApiError> {
        match value {
            None | Some(Value::Null) => Ok(()),
            Some(number) if number.as_i64().is_some_and(|n| i32::try_from(n).is_ok()) => Ok(()),
            Some(other) => Err(self.unreadable(other, field, "int32")),
        }
    }

    fn micro_time(&self, value: Option<&Value>, field: &str) -> Result<(), ApiError> {
        self.text(value, field)?;
        let text = value.and_then(Value::as_str);
        match text.and_then(|text| Some((text, micro_time_error(text)?))) {
            Some((text, (rest, element))) => Err(self.refused(&format!(
                "parsing time {text:?} as {MICRO_TIME:?}: cannot parse {rest:?} as {element:?}"
            ))),
            None => Ok(()),
        }
    }

    fn unreadable(&self, value: &Value, field: &str, expected: &str) -> ApiError {
        let given = match value {
            Value::Number(number) if expected == "int32" => format!("number {number}"),
            value => json_type(value).to_owned(),
        };
        self.refused(&format!(
            "json: cannot unmarshal {given} into Go struct field {field} of type {expected}"
        ))
    }

    fn refused(&self, why: &str) -> ApiError {
        let (kind, version) = (self.kind.kind(), self.kind.version());
        ApiError::bad_request(format!(
            "{kind} in version {version:?} cannot be handled as a {kind}: {why}"
        ))
    }
}

/// The rest of a text that is not a MicroTime, and the element of the format that it should begin
/// with; `None` if the text is right.
fn micro_time_error(text: &str) -> Option<(&str, &'static str)> {
    const ELEMENTS: [&str; 13] = [
        "2006", "-", "01", "-", "02", "T", "15", ":", "04", ":", "05", ".000000", "Z07:00",
    ];
    let mut rest = text;
    for element in ELEMENTS {
        let after = match element {
            "Z07:00" => zone(rest),
            _ => matching(rest, element),
        };
        match after {
            Some(after) => rest = after,
            None => return Some((rest, element)),
        }
    }
    (!rest.is_empty()).then_some((rest, ""))
}

/// What follows a text of the shape `element`, in which digits stand for digits.
fn matching<'a>(text: &'a str, element: &str) -> Option<&'a str> {
    let head = text.get(..element.len())?;
    let fits = head
        .bytes()
        .zip(element.bytes())
        .all(|(given, shape)| match shape {
            b'0'..=b'9' => given.is_ascii_digit(),
            other => given == other,
        });
    fits.then(|| text.get(element.len()..))?
}

fn zone(text: &str) -> Option<&str> {
    let signed = text.strip_prefix(['+', '-']);
    text.strip_prefix('Z')
        .or_else(|| matching(signed?, "07:00"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn micro_times() {
        for right in [
            "2026-11-17T10:00:00.123456Z",
            "2026-11-17T10:00:00.123456+02:00",
        ] {
            assert_eq!(micro_time_error(right), None, "{right}");
        }
        for (wrong, rest, element) in [
            ("yesterday", "yesterday", "2006"),
            ("2026-11-17", "", "T"),
            ("2026-11-17T10:00:00Z", "Z", ".000000"),
            ("2026-11-17T10:00:00.1Z", ".1Z", ".000000"),
            ("2026-11-17T10:00:00.123456789Z", "789Z", "Z07:00"),
        ] {
            assert_eq!(micro_time_error(wrong), Some((rest, element)), "{wrong}");
        }
    }
}
