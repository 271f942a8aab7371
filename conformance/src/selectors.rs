//! The family `selectors`: label and field selectors.

use alloc::collections::BTreeMap;

use informer_indexers::selector::{FieldSelector, LabelOperator, LabelSelector};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::vector::{Case, Mismatch};

#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Question {
    Label {
        selector: String,
        #[serde(default)]
        matches: Vec<Labelled>,
    },
    Field {
        selector: String,
        #[serde(default)]
        matches: Vec<Named>,
    },
}

/// What a label selector is tried on.
#[derive(Deserialize)]
struct Labelled {
    labels: BTreeMap<String, String>,
}

/// What a field selector is tried on.
#[derive(Deserialize)]
struct Named {
    namespace: String,
    name: String,
}

pub(crate) fn replay(case: &Case) -> Result<(), Mismatch> {
    case.ask(|question| {
        let got = match question {
            Question::Label { selector, matches } => about_labels(&selector, &matches),
            Question::Field { selector, matches } => about_fields(&selector, &matches),
        };
        (&["selector"], got.unwrap_or_else(|| json!({"err": true})))
    })
}

/// `None` if the selector is invalid.
fn about_labels(selector: &str, tried: &[Labelled]) -> Option<Value> {
    let selector: LabelSelector = selector.parse().ok()?;
    let requirements: Vec<_> = selector.requirements()?.iter().map(|requirement| {
        let values: Vec<_> = requirement.values().collect();
        json!({"key": requirement.key(), "op": recorded(requirement.operator()), "values": values})
    }).collect();
    let matches: Vec<_> = tried
        .iter()
        .map(|Labelled { labels }| {
            let matched = selector.matches_labels(labels);
            json!({"labels": labels, "match": matched})
        })
        .collect();
    let empty = selector.is_everything();
    Some(answer(&requirements, selector.to_string(), empty, &matches))
}

/// `None` if the selector is invalid.
fn about_fields(selector: &str, tried: &[Named]) -> Option<Value> {
    let selector: FieldSelector = selector.parse().ok()?;
    let requirements: Vec<_> = selector
        .requirements()
        .iter()
        .map(|requirement| {
            let op = requirement.operator().to_string();
            json!({"field": requirement.field(), "op": op, "value": requirement.value()})
        })
        .collect();
    let matches: Vec<_> = tried
        .iter()
        .map(|Named { namespace, name }| {
            let matched = selector.matches(|field| match field {
                "metadata.namespace" => Some(namespace),
                "metadata.name" => Some(name),
                _ => None,
            });
            json!({"namespace": namespace, "name": name, "match": matched})
        })
        .collect();
    let empty = selector.is_everything();
    Some(answer(&requirements, selector.to_string(), empty, &matches))
}

fn answer(requirements: &[Value], canonical: String, empty: bool, matches: &[Value]) -> Value {
    json!({
        "err": false,
        "requirements": requirements,
        "canonical": canonical,
        "empty": empty,
        "matches": matches,
    })
}

/// The operator as recorded.
fn recorded(operator: LabelOperator) -> String {
    match operator {
        LabelOperator::GreaterThan => "gt".to_owned(),
        LabelOperator::LessThan => "lt".to_owned(),
        other => other.to_string(),
    }
}
