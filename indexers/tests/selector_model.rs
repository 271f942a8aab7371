//! Random selectors against a simple model, and random texts.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

use std::collections::BTreeMap;

use informer_core::{Object, ObjectKey};
use informer_indexers::selector::{
    FieldOperator, FieldSelector, LabelOperator, LabelRequirement, LabelSelector,
};
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::sample::select;

/// Runs `cases` cases and writes no regression files.
fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// The parts of a requirement: key, operator, and values in any order with duplicates.
type Asked = (String, LabelOperator, Vec<String>);

fn built(asked: &[Asked]) -> LabelSelector {
    let requirement = |(key, operator, values): &Asked| {
        LabelRequirement::new(key, *operator, values.iter().map(String::as_str)).unwrap()
    };
    asked.iter().map(requirement).collect()
}

fn asked(
    key: impl Strategy<Value = String> + Clone + 'static,
    value: impl Strategy<Value = String> + Clone + 'static,
) -> impl Strategy<Value = Vec<Asked>> {
    let bound = prop_oneof![(0..12_i64), 0..=i64::MAX].prop_map(|bound| bound.to_string());
    let restriction = prop_oneof![
        (
            select(vec![LabelOperator::In, LabelOperator::NotIn]),
            vec(value.clone(), 1..4)
        ),
        (
            select(vec![
                LabelOperator::Equals,
                LabelOperator::DoubleEquals,
                LabelOperator::NotEquals,
            ]),
            vec(value, 1)
        ),
        (
            select(vec![LabelOperator::Exists, LabelOperator::DoesNotExist]),
            Just(Vec::new())
        ),
        (
            select(vec![LabelOperator::GreaterThan, LabelOperator::LessThan]),
            vec(bound, 1)
        ),
    ];
    let requirement =
        (key, restriction).prop_map(|(key, (operator, values))| (key, operator, values));
    vec(requirement, 0..5)
}

/// Any valid label key, including some that look like operators.
fn any_key() -> impl Strategy<Value = String> + Clone {
    prop_oneof![
        1 => select(vec!["in", "notin", "exists"]).prop_map(str::to_owned),
        4 => "([a-z0-9]([a-z0-9-]{0,5}[a-z0-9])?(\\.[a-z0-9]{1,3}){0,2}/)?[A-Za-z0-9]([A-Za-z0-9._-]{0,8}[A-Za-z0-9])?",
    ]
}

fn any_value() -> impl Strategy<Value = String> + Clone {
    prop_oneof![
        1 => select(vec!["", "in", "notin"]).prop_map(str::to_owned),
        4 => "[A-Za-z0-9]([A-Za-z0-9._-]{0,8}[A-Za-z0-9])?",
    ]
}

/// Only a few, so that selectors often match.
fn few_keys() -> impl Strategy<Value = String> + Clone {
    select(vec!["a", "b", "x.io/c"]).prop_map(str::to_owned)
}

fn few_values() -> impl Strategy<Value = String> + Clone {
    select(vec!["", "x", "y", "5", "7", "11"]).prop_map(str::to_owned)
}

/// Labels of objects may be invalid, because a server may send anything.
fn labels() -> impl Strategy<Value = BTreeMap<String, String>> {
    let odd = select(vec!["-3", "+6", "5x", "99999999999999999999"]).prop_map(str::to_owned);
    btree_map(few_keys(), prop_oneof![4 => few_values(), 1 => odd], 0..4)
}

/// The matching rules in their simplest form.
fn model(asked: &Asked, labels: &BTreeMap<String, String>) -> bool {
    let (key, operator, values) = asked;
    let label = labels.get(key);
    let listed = label.is_some_and(|value| values.contains(value));
    let ordered = || {
        let label: i64 = label?.parse().ok()?;
        Some(label.cmp(&values[0].parse().unwrap()))
    };
    match operator {
        LabelOperator::In | LabelOperator::Equals | LabelOperator::DoubleEquals => listed,
        LabelOperator::NotIn | LabelOperator::NotEquals => !listed,
        LabelOperator::Exists => label.is_some(),
        LabelOperator::DoesNotExist => label.is_none(),
        LabelOperator::GreaterThan => ordered().is_some_and(|order| order.is_gt()),
        LabelOperator::LessThan => ordered().is_some_and(|order| order.is_lt()),
    }
}

/// The fields of a requirement: name, operator, value.
type Term = (String, FieldOperator, String);

fn terms(
    field: impl Strategy<Value = String>,
    value: impl Strategy<Value = String>,
) -> impl Strategy<Value = Vec<Term>> {
    let operator = select(vec![FieldOperator::Equals, FieldOperator::NotEquals]);
    vec((field, operator, value), 0..5)
}

fn built_fields(terms: &[Term]) -> FieldSelector {
    let everything = FieldSelector::everything();
    let built = terms.iter().try_fold(everything, |selector, term| {
        let (field, operator, value) = term;
        match operator {
            FieldOperator::Equals => selector.and_eq(field, value),
            FieldOperator::NotEquals => selector.and_ne(field, value),
        }
    });
    built.unwrap()
}

/// Text that looks like a selector.
fn almost() -> impl Strategy<Value = String> {
    let pieces = vec![
        "a", "b.c/d", "5", "in", "notin", " in (", "(", ")", ",", ",", "=", "==", "!=", "!", ">",
        "<", " ", "\t", "\0", "\\", "\\,", "\\=", "\\\\", "é", "-", "/",
    ];
    vec(select(pieces), 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(cases(2_000))]

    #[test]
    fn printed_labels_parse_to_the_same_selector(asked in asked(any_key(), any_value())) {
        let selector = built(&asked);
        let read: LabelSelector = selector.to_string().parse().unwrap();
        prop_assert_eq!(read, selector);
    }

    #[test]
    fn label_matches_agree_with_the_model(asked in asked(few_keys(), few_values()), labels in labels()) {
        let selector = built(&asked);
        let expected = asked.iter().all(|requirement| model(requirement, &labels));
        let object = Object::builder(ObjectKey::new("", "x"))
            .labels(&labels)
            .body(());
        prop_assert_eq!(selector.matches_labels(object.labels()), expected);
        prop_assert_eq!(selector.matches(&object), expected);
    }

    #[test]
    fn printed_fields_parse_to_the_same_selector(terms in terms("[^,=!\\\\]{1,6}", "[a,=!\\\\é\0]{0,6}")) {
        let selector = built_fields(&terms);
        let read: FieldSelector = selector.to_string().parse().unwrap();
        prop_assert_eq!(read, selector);
    }

    #[test]
    fn field_matches_agree_with_the_model(
        terms in terms("[ab]", "[xy]?"),
        fields in btree_map("[ab]", "[xy]?", 0..3),
    ) {
        let matched = built_fields(&terms).matches(|field| fields.get(field));
        let expected = terms.iter().all(|(field, operator, value)| {
            let own = fields.get(field).map_or("", String::as_str);
            match operator {
                FieldOperator::Equals => own == value,
                FieldOperator::NotEquals => own != value,
            }
        });
        prop_assert_eq!(matched, expected);
    }

    #[test]
    fn any_text_is_parsed_or_refused(text in prop_oneof![almost(), any::<String>()]) {
        if let Ok(selector) = text.parse::<LabelSelector>() {
            let read: LabelSelector = selector.to_string().parse().unwrap();
            prop_assert_eq!(read, selector);
        }
        if let Ok(selector) = text.parse::<FieldSelector>() {
            let read: FieldSelector = selector.to_string().parse().unwrap();
            // The order may differ: `==` is printed as `=`, which sorts differently.
            let sorted = |selector: &FieldSelector| {
                let mut texts: Vec<_> = selector.requirements().to_vec();
                texts.sort_by_key(ToString::to_string);
                texts
            };
            prop_assert_eq!(sorted(&read), sorted(&selector));
        }
    }
}
