//! Differences between two sets of answers, known and unknown.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde_json::Value;

use crate::known::Known;

/// A place in an answer where two servers differ.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[non_exhaustive]
pub struct Difference {
    /// The request.
    pub question: String,
    /// The place in the answer, as a JSON pointer; empty for all of it.
    pub at: String,
    /// The recorded value.
    pub recorded: String,
    /// The actual value.
    pub answered: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            question,
            at,
            recorded,
            answered,
        } = self;
        write!(
            f,
            "{question}\n  at {at:?}\n  real {recorded}\n  here {answered}"
        )
    }
}

/// The result of a comparison.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Findings {
    /// Unexpected differences.
    pub unknown: Vec<Difference>,
    /// How many differences are known.
    pub known: usize,
    /// Entries of the list that explain nothing.
    pub stale: Vec<Known>,
}

/// Compares answers with recorded ones. Places in `known` may differ, and must.
///
/// ```
/// use std::collections::BTreeMap;
///
/// use informer_probes::compare::compare;
/// use serde_json::json;
///
/// let recorded = BTreeMap::from([("lists: GET /x".to_owned(), json!({"status": 200}))]);
/// let answered = BTreeMap::from([("lists: GET /x".to_owned(), json!({"status": 404}))]);
/// let findings = compare(&recorded, &answered, &[]);
/// assert_eq!(findings.unknown[0].at, "/status");
/// ```
#[must_use]
pub fn compare(
    recorded: &BTreeMap<String, Value>,
    answered: &BTreeMap<String, Value>,
    known: &[Known],
) -> Findings {
    let mut findings = Findings::default();
    let mut used = BTreeSet::new();
    for difference in differences(recorded, answered) {
        let explained = known.iter().position(|known| known.explains(&difference));
        match explained {
            Some(entry) => {
                used.insert(entry);
                findings.known += 1;
            }
            None => findings.unknown.push(difference),
        }
    }
    let entries = known.iter().enumerate();
    let stale = entries.filter(|(entry, _)| !used.contains(entry));
    findings.stale = stale.map(|(_, known)| *known).collect();
    findings
}

fn differences(
    recorded: &BTreeMap<String, Value>,
    answered: &BTreeMap<String, Value>,
) -> Vec<Difference> {
    let questions: BTreeSet<&String> = recorded.keys().chain(answered.keys()).collect();
    let mut found = Vec::new();
    for question in questions {
        let mut walk = Walk {
            question,
            found: &mut found,
        };
        let (left, right) = (recorded.get(question), answered.get(question));
        let status = |answer: Option<&Value>| answer.and_then(|it| it.get("status").cloned());
        if status(left) == status(right) {
            walk.compare("", left, right);
        } else {
            // Answers with different statuses have nothing else in common.
            walk.differs("/status", left, right);
        }
    }
    found
}

struct Walk<'a> {
    question: &'a str,
    found: &'a mut Vec<Difference>,
}

impl Walk<'_> {
    fn compare(&mut self, at: &str, recorded: Option<&Value>, answered: Option<&Value>) {
        match (recorded, answered) {
            (Some(Value::Object(left)), Some(Value::Object(right))) => {
                let keys: BTreeSet<&String> = left.keys().chain(right.keys()).collect();
                for key in keys {
                    let escaped = key.replace('~', "~0").replace('/', "~1");
                    self.compare(&format!("{at}/{escaped}"), left.get(key), right.get(key));
                }
            }
            (Some(Value::Array(left)), Some(Value::Array(right))) if left.len() == right.len() => {
                for (n, (left, right)) in left.iter().zip(right).enumerate() {
                    self.compare(&format!("{at}/{n}"), Some(left), Some(right));
                }
            }
            (left, right) if left == right => {}
            (left, right) => self.differs(at, left, right),
        }
    }

    fn differs(&mut self, at: &str, recorded: Option<&Value>, answered: Option<&Value>) {
        let text =
            |value: Option<&Value>| value.map_or_else(|| "nothing".to_owned(), Value::to_string);
        self.found.push(Difference {
            question: self.question.to_owned(),
            at: at.to_owned(),
            recorded: text(recorded),
            answered: text(answered),
        });
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn answers(answer: Value) -> BTreeMap<String, Value> {
        BTreeMap::from([("q: GET /x".to_owned(), answer)])
    }

    #[test]
    fn every_difference_is_named() {
        let findings = compare(
            &answers(json!({"a": {"b/c": 1}, "l": [1, 2], "m": [1], "gone": 1})),
            &answers(json!({"a": {"b/c": 2}, "l": [1, 3], "m": [], "new": 1})),
            &[],
        );
        let places: Vec<&str> = findings.unknown.iter().map(|it| it.at.as_str()).collect();
        assert_eq!(places, ["/a/b~1c", "/gone", "/l/1", "/m", "/new"]);
    }

    #[test]
    fn a_missing_answer_is_a_difference() {
        let findings = compare(&answers(json!(1)), &BTreeMap::new(), &[]);
        assert_eq!(findings.unknown.len(), 1);
    }

    #[test]
    fn known_places_must_differ() {
        let known = [Known {
            question: "q: GET *",
            at: "/message",
            reason: "another parser",
        }];
        let (left, right) = (json!({"message": "a"}), json!({"message": "b"}));
        let findings = compare(&answers(left.clone()), &answers(right), &known);
        assert_eq!((findings.unknown.len(), findings.known), (0, 1));
        assert_eq!(findings.stale, []);
        let findings = compare(&answers(left.clone()), &answers(left), &known);
        assert_eq!(findings.stale, known);
    }
}
