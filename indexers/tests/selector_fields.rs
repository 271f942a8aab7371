//! Field selectors: parsing, printing and matching.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::borrow::Cow;

use informer_indexers::selector::{FieldOperator, FieldSelector, SelectorError};

fn parse(text: &str) -> FieldSelector {
    text.parse()
        .unwrap_or_else(|error| panic!("{text:?}: {error}"))
}

fn refused(text: &str) -> SelectorError {
    match text.parse::<FieldSelector>() {
        Ok(selector) => panic!("{text:?} was parsed as {selector}"),
        Err(error) => error,
    }
}

#[test]
fn terms_are_parsed_and_printed() {
    use FieldOperator::*;
    let rows: &[(&str, &str, FieldOperator, &str, &str)] = &[
        ("a=x", "a", Equals, "x", "a=x"),
        ("a==x", "a", Equals, "x", "a=x"),
        ("a!=x", "a", NotEquals, "x", "a!=x"),
        ("a=", "a", Equals, "", "a="),
        ("=x", "", Equals, "x", "=x"),
        (" a = x ", " a ", Equals, " x ", " a = x "),
        (r"a=\\\,\=", "a", Equals, r"\,=", r"a=\\\,\="),
        (r"a==\=", "a", Equals, "=", r"a=\="),
        (r"a\,b=x", r"a\,b", Equals, "x", r"a\,b=x"),
        (r"a\=x", r"a\", Equals, "x", r"a\=x"),
        ("a!!=x", "a!", NotEquals, "x", "a!!=x"),
        ("a=!x", "a", Equals, "!x", "a=!x"),
        ("é=ü", "é", Equals, "ü", "é=ü"),
        (",,a=x,", "a", Equals, "x", "a=x"),
    ];
    for (text, field, operator, value, printed) in rows {
        let selector = parse(text);
        let [only] = selector.requirements() else {
            panic!("{text:?}: {selector:?}");
        };
        assert_eq!(
            (only.field(), only.operator(), only.value()),
            (*field, *operator, *value),
            "{text:?}"
        );
        assert_eq!(selector.to_string(), *printed, "{text:?}");
    }
}

#[test]
fn terms_are_sorted_by_their_text() {
    assert_eq!(parse("b=1,a=2,a!=3,a=1").to_string(), "a!=3,a=1,a=2,b=1");
    // After the field name, `.` sorts before `=`.
    assert_eq!(parse("a=1,a.b=1").to_string(), "a.b=1,a=1");
    // The second `=` affects the order, although it is not printed.
    assert_eq!(parse("a=a,a==b").to_string(), "a=b,a=a");
}

#[test]
fn empty_terms_are_ignored() {
    for text in ["", ",", "=", "==", "!=", ",=,,!="] {
        assert!(parse(text).is_everything(), "{text:?}");
    }
    assert_eq!(parse("=,a=x").to_string(), "a=x");
}

#[test]
fn an_invalid_text_is_refused_with_its_position() {
    let term = "a field, `=` or `!=`, and a value";
    let escape = r"`\` only before `\`, `,` and `=` in a value";
    let equals = r"`\=` for a `=` in a value";
    for (text, found, at, expected) in [
        ("a", "a", 0, term),
        ("b=x,é,a!x", "é", 4, term),
        (r"a\,b", r"a\,b", 0, term),
        (r"a=x\y", r"\y", 3, escape),
        (r"é=,a!=x\é", r"\é", 8, escape),
        (r"a=\", r"\", 2, escape),
        ("a=x=y", "=", 3, equals),
        ("a===x", "=", 3, equals),
        ("a!==x", "=", 3, equals),
        // Errors come in text order, although `a` sorts first.
        ("b,a", "b", 0, term),
    ] {
        let found = found.to_owned();
        let error = SelectorError::Unexpected {
            found,
            at,
            expected,
        };
        assert_eq!(refused(text), error, "{text:?}");
    }
    assert_eq!(
        refused(r"a=\n").to_string(),
        r#"found "\\n" at byte 2 of the selector, expected `\` only before `\`, `,` and `=` in a value"#
    );
}

#[test]
fn a_missing_field_counts_as_the_empty_string() {
    let fields = |field: &str| (field == "a").then_some("x");
    for (text, matched) in [
        ("", true),
        ("a=x", true),
        ("a!=x", false),
        ("a=y", false),
        ("a!=y", true),
        ("b=", true),
        ("b!=", false),
        ("b=x", false),
        ("b!=x", true),
        ("a=x,b!=x", true),
        ("a=x,b=x", false),
    ] {
        assert_eq!(parse(text).matches(fields), matched, "{text:?}");
    }
}

#[test]
fn field_values_may_be_borrowed_or_owned() {
    let selector = parse("a=x,n!=7");
    assert!(selector.matches(|field| match field {
        "a" => Some(Cow::Borrowed("x")),
        "n" => Some(Cow::Owned(8.to_string())),
        _ => None,
    }));
    let mut asked = Vec::new();
    assert!(!selector.matches(|field| {
        asked.push(field.to_owned());
        Some(String::from("7"))
    }));
    // The first requirement decides, so the second field is not requested.
    assert_eq!(asked, ["a"]);
}

#[test]
fn an_exact_match_is_found() {
    let selector = parse("a!=w,a=x,a=y,b!=z,c=");
    assert_eq!(selector.requires_exact_match("a"), Some("x"));
    assert_eq!(selector.requires_exact_match("b"), None);
    assert_eq!(selector.requires_exact_match("c"), Some(""));
    assert_eq!(selector.requires_exact_match("d"), None);
}

#[test]
fn a_selector_can_be_built() -> Result<(), SelectorError> {
    let everything = FieldSelector::everything();
    assert!(everything == parse("") && everything.is_everything());
    let built = everything
        .and_eq("a", r"1,2=3\4")?
        .and_ne("a.b", "")?
        .and_ne("a", "x")?;
    assert_eq!(built.to_string(), r"a!=x,a.b!=,a=1\,2\=3\\4");
    assert_eq!(built, parse(&built.to_string()));
    Ok(())
}

#[test]
fn an_invalid_field_name_is_refused() {
    for field in ["", "a,b", "a=b", "a!", r"a\"] {
        for made in [
            FieldSelector::everything().and_eq(field, "x"),
            FieldSelector::everything().and_ne(field, "x"),
        ] {
            let error = made.unwrap_err();
            let field = field.to_owned();
            assert_eq!(error, SelectorError::InvalidField { field });
        }
    }
    let error = FieldSelector::everything().and_eq("a!", "x").unwrap_err();
    assert_eq!(
        error.to_string(),
        r#"invalid field name "a!" in a selector, expected a non-empty name without `,`, `=`, `!` and `\`"#
    );
}
