//! Label and field selectors.
//!
//! The first line of the input is a selector, each further one a label or a field: `key=value`.
//! What must hold:
//!
//! * A printed selector parses back to the same selector, and prints the same again.
//! * A selector is the conjunction of its requirements, and each of them can be built from its
//!   parts.
//! * It matches exactly if a naive evaluation of its requirements does.

use std::collections::BTreeMap;

use informer_core::{Object, ObjectKey};
use informer_indexers::selector::{
    FieldOperator, FieldSelector, LabelOperator, LabelRequirement, LabelSelector,
};

use crate::Target;

/// This target.
pub const TARGET: Target = Target {
    name: "selectors",
    run,
    words: &[
        "a",
        "b.c/d",
        "x",
        "5",
        "-3",
        "in",
        "notin",
        " in (",
        " notin (",
        "(",
        ")",
        ",",
        "=",
        "==",
        "!=",
        "!",
        ">",
        "<",
        " ",
        "\t",
        "\n",
        "\\",
        "\\,",
        "\\=",
        "\\\\",
        "\u{e9}",
        "-",
        "/",
        "\n=",
        "\na=x",
        "metadata.name",
        "status.phase",
    ],
};

/// Parses the input as a label selector and as a field selector.
pub fn run(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let mut lines = text.split('\n');
    let selector = lines.next().unwrap_or_default();
    let values = lines.filter_map(|line| line.split_once('='));
    let values: BTreeMap<&str, &str> = values.collect();
    if let Ok(selector) = selector.parse() {
        labels(&selector, &values);
    }
    if let Ok(selector) = selector.parse() {
        fields(&selector, &values);
    }
}

fn labels(selector: &LabelSelector, labels: &BTreeMap<&str, &str>) {
    let printed = selector.to_string();
    let again: LabelSelector = printed.parse().expect("a printed selector parses");
    assert_eq!(&again, selector, "printed as {printed:?}");
    assert_eq!(again.to_string(), printed);

    let requirements = selector
        .requirements()
        .expect("a parsed selector has requirements");
    let made: LabelSelector = requirements
        .iter()
        .map(|own| LabelRequirement::new(own.key(), own.operator(), own.values()).unwrap())
        .collect();
    assert_eq!(&made, selector);

    let holds = |own: &LabelRequirement| holds(own, labels.get(own.key()).copied());
    let expected = requirements.iter().all(holds);
    let object = Object::builder(ObjectKey::new("", "x"))
        .labels(labels)
        .body(());
    assert_eq!(
        selector.matches_labels(object.labels()),
        expected,
        "{printed:?} of {labels:?}"
    );
    assert_eq!(
        selector.matches(&object),
        expected,
        "{printed:?} of {labels:?}"
    );
    assert_eq!(requirements.is_empty(), selector.is_everything());
}

/// The rules, evaluated naively.
fn holds(requirement: &LabelRequirement, label: Option<&str>) -> bool {
    let listed = label.is_some_and(|label| requirement.values().any(|value| value == label));
    let compared = || {
        let label: i64 = label?.parse().ok()?;
        let bound: i64 = requirement.values().next()?.parse().ok()?;
        Some(label.cmp(&bound))
    };
    match requirement.operator() {
        LabelOperator::In | LabelOperator::Equals | LabelOperator::DoubleEquals => listed,
        LabelOperator::NotIn | LabelOperator::NotEquals => !listed,
        LabelOperator::Exists => label.is_some(),
        LabelOperator::DoesNotExist => label.is_none(),
        LabelOperator::GreaterThan => compared().is_some_and(std::cmp::Ordering::is_gt),
        LabelOperator::LessThan => compared().is_some_and(std::cmp::Ordering::is_lt),
    }
}

fn fields(selector: &FieldSelector, fields: &BTreeMap<&str, &str>) {
    let printed = selector.to_string();
    let again: FieldSelector = printed.parse().expect("a printed selector parses");
    // Requirements are sorted by their text, and `==` is printed as `=`.
    let sorted = |selector: &FieldSelector| {
        let mut requirements = selector.requirements().to_vec();
        requirements.sort_by_key(ToString::to_string);
        requirements
    };
    assert_eq!(sorted(&again), sorted(selector), "printed as {printed:?}");
    let once_more: FieldSelector = again
        .to_string()
        .parse()
        .expect("a printed selector parses again");
    assert_eq!(once_more, again);

    let expected = selector.requirements().iter().all(|own| {
        let value = fields.get(own.field()).copied().unwrap_or_default();
        match own.operator() {
            FieldOperator::Equals => value == own.value(),
            FieldOperator::NotEquals => value != own.value(),
        }
    });
    let matched = selector.matches(|field| fields.get(field));
    assert_eq!(matched, expected, "{printed:?} of {fields:?}");
}
