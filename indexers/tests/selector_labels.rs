//! Label selectors: parsing, printing and matching.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use informer_core::{Object, ObjectKey, Resource};
use informer_indexers::selector::{
    LabelOperator, LabelRequirement, LabelSelector, MatchExpression, MatchOperator, SelectorError,
};

fn parse(text: &str) -> LabelSelector {
    text.parse()
        .unwrap_or_else(|error| panic!("{text:?}: {error}"))
}

fn refused(text: &str) -> SelectorError {
    match text.parse::<LabelSelector>() {
        Ok(selector) => panic!("{text:?} was parsed as {selector}"),
        Err(error) => error,
    }
}

fn requirement(key: &str, operator: LabelOperator, values: &[&str]) -> LabelRequirement {
    LabelRequirement::new(key, operator, values.iter().copied()).unwrap()
}

fn expression(key: &str, operator: MatchOperator, values: &[&str]) -> MatchExpression {
    MatchExpression {
        key: key.into(),
        operator,
        values: values.iter().copied().map(Into::into).collect(),
    }
}

#[test]
fn every_operator_is_parsed_and_printed() {
    use LabelOperator::*;
    let rows: &[(&str, LabelOperator, &[&str], &str)] = &[
        ("a in (y, x,y)", In, &["x", "y"], "a in (x,y)"),
        ("a notin(x)", NotIn, &["x"], "a notin (x)"),
        ("a = x", Equals, &["x"], "a=x"),
        ("a ==x", DoubleEquals, &["x"], "a==x"),
        ("a!= x", NotEquals, &["x"], "a!=x"),
        (" a ", Exists, &[], "a"),
        ("! a", DoesNotExist, &[], "!a"),
        ("a>1", GreaterThan, &["1"], "a>1"),
        ("a < 007", LessThan, &["007"], "a<007"),
    ];
    for (text, operator, values, printed) in rows {
        let selector = parse(text);
        let [only] = selector.requirements().unwrap() else {
            panic!("{text:?}: {selector:?}");
        };
        assert_eq!((only.key(), only.operator()), ("a", *operator), "{text:?}");
        assert_eq!(only.values().collect::<Vec<_>>(), *values, "{text:?}");
        assert_eq!(selector.to_string(), *printed, "{text:?}");
    }
}

#[test]
fn a_value_may_be_missing() {
    for (text, printed) in [
        ("a=", "a="),
        ("a==,b", "a==,b"),
        ("a != ", "a!="),
        ("a in ()", "a in ()"),
        ("a in (,)", "a in ()"),
        ("a in (x,)", "a in (,x)"),
        ("a in (,x)", "a in (,x)"),
        ("a notin (x,,y)", "a notin (,x,y)"),
    ] {
        assert_eq!(parse(text).to_string(), printed, "{text:?}");
        assert!(parse(text) == parse(printed), "{text:?}");
    }
}

#[test]
fn in_and_notin_are_words_except_where_an_operator_is_expected() {
    let selector = parse("in in (in, notin), notin, in = notin, !notin");
    assert_eq!(
        selector.to_string(),
        "in in (in,notin),in=notin,notin,!notin"
    );
}

#[test]
fn requirements_are_sorted_by_key_and_otherwise_keep_their_order() {
    let keys: Vec<String> = (0..20).map(|n| format!("a!={n},b!={n}")).collect();
    let printed = parse(&keys.join(",")).to_string();
    let sorted: Vec<String> = ["a", "b"]
        .iter()
        .flat_map(|key| (0..20).map(move |n| format!("{key}!={n}")))
        .collect();
    assert_eq!(printed, sorted.join(","));
}

#[test]
fn white_space_is_the_same_as_in_apimachinery() {
    assert_eq!(parse("\r\n\ta \t=\n b\r").to_string(), "a=b");
    assert!(parse(" \t\r\n").is_everything());
    for other in ["\u{b}", "\u{c}", "\u{a0}", "\u{3000}"] {
        refused(&format!("a{other}"));
    }
}

/// apimachinery skips a NUL right after a token and stops at any other NUL.
#[test]
fn a_nul_separates_tokens_or_ends_the_text() {
    for (text, printed) in [
        ("a\0=\0b", "a=b"),
        ("a \0 $$$", "a"),
        ("a\0\0$$$", "a"),
        ("a in (x\0,\0)\0", "a in (,x)"),
        ("\0$$$", ""),
    ] {
        assert_eq!(parse(text).to_string(), printed, "{text:?}");
    }
    refused("a\0b");
    refused("a, \0b");
}

#[test]
fn an_invalid_text_is_refused_with_its_position() {
    let after_key = "`in`, `notin`, `=`, `==`, `!=`, `>`, `<`, `,` or the end";
    for (text, found, at, expected) in [
        (",", ",", 0, "a key or `!`"),
        ("a,", "", 2, "a key or `!`"),
        ("a,,b", ",", 2, "a key or `!`"),
        ("= x", "=", 0, "a key or `!`"),
        ("!=a", "!=", 0, "a key or `!`"),
        ("!", "", 1, "a key"),
        ("!!a", "!", 1, "a key"),
        ("!a=x", "=", 2, "`,` or the end"),
        ("a b", "b", 2, after_key),
        ("a ! b", "!", 2, after_key),
        ("a(b)", "(", 1, after_key),
        ("a===x", "=", 3, "a value, `,` or the end"),
        ("a>=1", "=", 2, "a value, `,` or the end"),
        ("é=(x)", "(", 3, "a value, `,` or the end"),
        ("a=x y", "y", 4, "`,` or the end"),
        ("a in x", "x", 5, "`(`"),
        ("a in", "", 4, "`(`"),
        ("a in (", "", 6, "a value, `,` or `)`"),
        ("a in (x,", "", 8, "a value, `,` or `)`"),
        ("a in (=", "=", 6, "a value, `,` or `)`"),
        ("a in (x y)", "y", 8, "`,` or `)`"),
        ("a in (x", "", 7, "`,` or `)`"),
        ("a in (x))", ")", 8, "`,` or the end"),
    ] {
        let found = found.to_owned();
        let error = SelectorError::Unexpected {
            found,
            at,
            expected,
        };
        assert_eq!(refused(text), error, "{text:?}");
    }
}

#[test]
fn keys_are_names_with_an_optional_prefix() {
    let (long, too_long) = ("k".repeat(63), "k".repeat(64));
    let (prefix, long_prefix) = ("d".repeat(253), "d".repeat(254));
    for key in [
        "a",
        "A-b_c.9",
        "0",
        &long,
        "example.com/Role",
        "a-b.c/d",
        &format!("{prefix}/{long}"),
    ] {
        assert_eq!(parse(key).to_string(), key);
    }
    for key in [
        "-a",
        "a-",
        "_",
        ".a",
        "a$b",
        "é",
        &too_long,
        "/a",
        "a/",
        "a/b/c",
        "A.com/a",
        "a..b/c",
        "a.-b/c",
        "a_b/c",
        &format!("{long_prefix}/a"),
        "a/-",
    ] {
        for text in [key.to_owned(), format!("!{key}"), format!("{key}=x")] {
            let error = refused(&text);
            assert!(
                matches!(&error, SelectorError::InvalidKey { key: own, .. } if own == key),
                "{text:?}: {error}"
            );
        }
    }
}

#[test]
fn values_are_empty_or_names() {
    let (long, too_long) = ("v".repeat(63), "v".repeat(64));
    for value in ["", "x", "X_y-z.0", &long] {
        parse(&format!("a={value}"));
        parse(&format!("a in (x,{value})"));
    }
    for value in ["-x", "x-", "x/y", "x$", "é", &too_long] {
        for text in [format!("a={value}"), format!("a notin (x,{value})")] {
            let error = refused(&text);
            assert!(
                matches!(&error, SelectorError::InvalidValue { value: own, .. } if own == value),
                "{text:?}: {error}"
            );
        }
    }
}

#[test]
fn a_bound_is_an_integer() {
    for bound in ["0", "007", "9223372036854775807"] {
        parse(&format!("a>{bound}"));
    }
    for bound in ["", "x", "1.5", "1_0", "9223372036854775808"] {
        let error = refused(&format!("a<{bound}"));
        assert!(
            matches!(&error, SelectorError::NotAnInteger { value, .. } if value == bound),
            "{bound:?}: {error}"
        );
    }
    // A label value cannot have a sign.
    for bound in ["-1", "+1"] {
        let error = refused(&format!("a>{bound}"));
        assert!(matches!(error, SelectorError::InvalidValue { .. }));
    }
}

#[test]
fn sizes_are_compared_as_64_bit_integers() {
    let (greater, less) = (parse("a>5"), parse("a<5"));
    for (value, is_greater, is_less) in [
        ("6", true, false),
        ("5", false, false),
        ("4", false, true),
        ("-3", false, true),
        ("+6", true, false),
        ("06", true, false),
        ("9223372036854775807", true, false),
        ("9223372036854775808", false, false),
        ("x", false, false),
        ("", false, false),
        ("6 ", false, false),
    ] {
        let labels = [("a", value)];
        assert_eq!(greater.matches_labels(labels), is_greater, "{value:?}");
        assert_eq!(less.matches_labels(labels), is_less, "{value:?}");
    }
    assert!(!greater.matches_labels([("", ""); 0]));
    assert!(!less.matches_labels([("", ""); 0]));
}

#[test]
fn everything_and_nothing() {
    let everything = LabelSelector::everything();
    let nothing = LabelSelector::nothing();
    for labels in [&[("a", "x")][..], &[]] {
        let labels = labels.iter().copied();
        assert!(everything.matches_labels(labels.clone()));
        assert!(!nothing.matches_labels(labels.clone()));
    }
    assert!(everything == parse("") && everything == LabelSelector::default());
    assert!(everything.is_everything() && !nothing.is_everything());
    assert_eq!(everything.requirements(), Some(&[][..]));
    assert_eq!(nothing.requirements(), None);
    assert_eq!(nothing.to_string(), "");
    let a = requirement("a", LabelOperator::Exists, &[]);
    assert!(everything.and(a.clone()) == parse("a"));
    assert!(nothing.clone().and(a) == nothing);
}

#[test]
fn match_labels_and_match_expressions_are_combined() {
    let expressions = [
        expression("tier", MatchOperator::NotIn, &["db", "cache", "db"]),
        expression("app", MatchOperator::Exists, &[]),
        expression("zone", MatchOperator::In, &[""]),
        expression("canary", MatchOperator::DoesNotExist, &[]),
    ];
    let labels = LabelSelector::from_labels([("tier", "web"), ("app", "")]).unwrap();
    let both = labels.and_expressions(expressions).unwrap();
    assert_eq!(
        both.to_string(),
        "app=,app,!canary,tier=web,tier notin (cache,db),zone in ()"
    );
    let none = LabelSelector::from_labels([("", ""); 0]).unwrap();
    assert!(none.and_expressions([]).unwrap().is_everything());
}

#[test]
fn invalid_labels_and_expressions_are_refused() {
    let from = |label: (&str, &str)| LabelSelector::from_labels([label]).unwrap_err();
    assert!(matches!(
        from(("a b", "")),
        SelectorError::InvalidKey { .. }
    ));
    assert!(matches!(
        from(("a", "b c")),
        SelectorError::InvalidValue { .. }
    ));
    let count = |key: &str, operator, count| SelectorError::ValueCount {
        key: key.into(),
        operator,
        count,
    };
    for (wrong, error) in [
        (
            expression("a", MatchOperator::In, &[]),
            count("a", LabelOperator::In, 0),
        ),
        (
            expression("b", MatchOperator::NotIn, &[]),
            count("b", LabelOperator::NotIn, 0),
        ),
        (
            expression("c", MatchOperator::Exists, &["x"]),
            count("c", LabelOperator::Exists, 1),
        ),
        (
            expression("d", MatchOperator::DoesNotExist, &["", "x"]),
            count("d", LabelOperator::DoesNotExist, 2),
        ),
    ] {
        let right = expression("z", MatchOperator::Exists, &[]);
        let everything = LabelSelector::everything();
        assert_eq!(
            everything.and_expressions([right, wrong]).unwrap_err(),
            error
        );
    }
    for (text, operator) in [
        ("In", MatchOperator::In),
        ("NotIn", MatchOperator::NotIn),
        ("Exists", MatchOperator::Exists),
        ("DoesNotExist", MatchOperator::DoesNotExist),
    ] {
        assert_eq!(text.parse(), Ok(operator));
    }
    for text in ["in", "", "Equals", "Gt"] {
        let operator = text.to_owned();
        let error = SelectorError::UnknownOperator { operator };
        assert_eq!(text.parse::<MatchOperator>(), Err(error));
    }
}

/// The values are counted before duplicates are removed.
#[test]
fn an_operator_takes_its_number_of_values() {
    use LabelOperator::*;
    for (operator, counts) in [
        (In, &[1, 2][..]),
        (NotIn, &[1, 2]),
        (Equals, &[1]),
        (DoubleEquals, &[1]),
        (NotEquals, &[1]),
        (Exists, &[0]),
        (DoesNotExist, &[0]),
        (GreaterThan, &[1]),
        (LessThan, &[1]),
    ] {
        for count in 0..3 {
            let made = LabelRequirement::new("a", operator, vec!["1"; count]);
            assert_eq!(
                made.is_ok(),
                counts.contains(&count),
                "{operator:?} {count}"
            );
        }
    }
}

/// An object with unsorted labels, one of them twice.
struct Odd;

impl Resource for Odd {
    type Key = ();

    fn key(&self) -> &() {
        &()
    }

    fn uid(&self) -> &'static str {
        ""
    }

    fn version(&self) -> &'static str {
        ""
    }

    fn labels(&self, visit: &mut dyn FnMut(&str, &str)) {
        for (key, value) in [("tier", "db"), ("app", "web"), ("tier", "web")] {
            visit(key, value);
        }
    }
}

#[test]
fn the_last_value_of_a_duplicate_label_counts() {
    let as_labels = [("tier", "db"), ("app", "web"), ("tier", "web")];
    for (text, matched) in [
        ("tier=web", true),
        ("tier=db", false),
        ("tier!=db", true),
        ("tier notin (web)", false),
        ("app,tier", true),
        ("zone!=a", true),
        ("!app", false),
    ] {
        assert_eq!(parse(text).matches(&Odd), matched, "{text:?}");
        assert_eq!(parse(text).matches_labels(as_labels), matched, "{text:?}");
    }
}

#[test]
fn an_object_is_matched_by_its_labels() {
    let object = Object::builder(ObjectKey::new("default", "web"))
        .labels([("app", "web")])
        .body(());
    assert!(parse("app=web,!tier").matches(&object));
    assert!(!parse("app=web,tier").matches(&&object));
}

#[test]
fn every_error_is_one_clear_sentence() {
    let value_count = LabelRequirement::new("a", LabelOperator::In, [""; 0]).unwrap_err();
    for (error, sentence) in [
        (
            refused("a = )"),
            r#"found ")" at byte 4 of the selector, expected a value, `,` or the end"#,
        ),
        (
            refused("a,"),
            "the selector ends at byte 2, expected a key or `!`",
        ),
        (
            refused("A/a"),
            "invalid label key \"A/a\": the prefix before `/` must be a DNS name: at most 253 \
             lower-case letters, digits, `-` and `.`, and each part must start and end with a letter \
             or digit",
        ),
        (
            refused("a\u{1}"),
            "invalid label key \"a\\u{1}\": a key is an optional prefix and `/`, then 1 to 63 letters, \
             digits, `-`, `_` and `.` that start and end with a letter or digit",
        ),
        (
            refused("a=-"),
            "invalid value \"-\" of label \"a\": a value must be empty, or up to 63 letters, digits, \
             `-`, `_` and `.` that start and end with a letter or digit",
        ),
        (
            refused("a>x"),
            r#"cannot compare label "a" with "x", expected a 64-bit integer"#,
        ),
        (
            value_count,
            r#"operator `in` on label "a" has 0 values, expected at least one"#,
        ),
        (
            "in".parse::<MatchOperator>().unwrap_err(),
            "unknown operator \"in\" in a match expression, expected `In`, `NotIn`, `Exists` or \
             `DoesNotExist`",
        ),
    ] {
        assert_eq!(error.to_string(), sentence);
    }
}
