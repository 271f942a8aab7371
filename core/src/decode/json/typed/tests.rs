#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use proptest::prelude::*;
use serde::de::{DeserializeOwned, Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};

use super::super::text::{ArrayLengths, JsonCursor};
use super::*;

/// Reads `text` as a decoder does: the lengths are counted first.
fn read<K: DeserializeOwned>(text: &str) -> Result<K, TypeError> {
    let mut lengths = ArrayLengths::new();
    let mut cursor = JsonCursor::new(text.as_bytes());
    cursor.skip_counting(128, &mut lengths)?;
    from_text(text, lengths.found(), text.len()..text.len())
}

/// A type for each way in which serde reads.
#[derive(Deserialize, PartialEq, Debug, Clone)]
#[serde(rename_all = "camelCase", default)]
#[derive(Default)]
struct All {
    text: Option<String>,
    small: u8,
    signed: i64,
    wide: u128,
    negative: i128,
    real: f64,
    single: f32,
    flag: bool,
    letter: Option<char>,
    list: Vec<Self>,
    pair: (u8, String),
    map: BTreeMap<String, i32>,
    by_number: BTreeMap<u16, bool>,
    by_flag: BTreeMap<bool, ()>,
    choice: Choice,
    either: Either,
    tagged: Option<Tagged>,
    wrapped: Wrapped,
    unit: (),
    any: Value,
    boxed: Option<Box<Self>>,
    #[serde(flatten)]
    rest: BTreeMap<String, Value>,
}

#[derive(Deserialize, PartialEq, Debug, Clone, Default)]
enum Choice {
    #[default]
    Nothing,
    One(u8),
    Two(u8, String),
    Named {
        a: u8,
    },
}

#[derive(Deserialize, PartialEq, Debug, Clone)]
#[serde(untagged)]
enum Either {
    Number(i32),
    Text(String),
}

impl Default for Either {
    fn default() -> Self {
        Self::Number(0)
    }
}

#[derive(Deserialize, PartialEq, Debug, Clone)]
#[serde(tag = "type")]
enum Tagged {
    A { x: u8 },
    B,
}

#[derive(Deserialize, PartialEq, Debug, Clone, Default)]
struct Wrapped(String);

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        (-1000..1000).prop_map(|number| json!(f64::from(number) / 8.0)),
        "[a-z\"\\\\é😀\n]{0,12}".prop_map(Value::from),
        prop_oneof![Just("Nothing"), Just("A"), Just("B"), Just("x"), Just("1")]
            .prop_map(Value::from),
    ];
    let name = prop_oneof![
        "(text|small|signed|wide|negative|real|single|flag|letter|list|pair|map|byNumber|byFlag)",
        "(choice|either|tagged|wrapped|unit|any|boxed|type|x|a|One|Two|Named|12|true|other)",
    ];
    leaf.prop_recursive(5, 64, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::btree_map(name.clone(), inner, 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn it_reads_what_serde_json_reads(value in value(), pretty: bool) {
        let text = if pretty { format!("{value:#}") } else { value.to_string() };
        prop_assert_eq!(read::<Value>(&text).ok(), serde_json::from_str(&text).ok());
        let ours = read::<All>(&text);
        match serde_json::from_str::<All>(&text) {
            Ok(expected) => prop_assert_eq!(ours.unwrap(), expected),
            Err(error) => prop_assert!(ours.is_err(), "{} but {:?}", error, ours),
        }
    }
}

#[test]
fn each_member_of_each_kind_is_read_as_serde_json_reads_it() {
    let values = [
        "null",
        "true",
        "false",
        "0",
        "-0",
        "7",
        "-7",
        "256",
        "1.5",
        "-1e3",
        "1e-400",
        "18446744073709551615",
        "18446744073709551616",
        "-9223372036854775808",
        "-9223372036854775809",
        "340282366920938463463374607431768211455",
        r#""""#,
        r#""a""#,
        r#""ab""#,
        r#""\u00e9""#,
        r#""Nothing""#,
        r#""One""#,
        "[]",
        "[1]",
        r#"[1,"a"]"#,
        r#"[1,"a",2]"#,
        "{}",
        r#"{"a":1}"#,
        r#"{"One":1}"#,
        r#"{"One":null}"#,
        r#"{"Two":[1,"b"]}"#,
        r#"{"Two":[1]}"#,
        r#"{"Named":{"a":3}}"#,
        r#"{"Named":[3]}"#,
        r#"{"Nothing":null}"#,
        r#"{"Nothing":null,"One":1}"#,
        r#"{"1":true}"#,
        r#"{"true":null}"#,
        r#"{"+1":true}"#,
        r#"{"01":true}"#,
        r#"{" 1":true}"#,
        r#"{"70000":true}"#,
        r#"{"type":"A","x":1}"#,
        r#"{"x":1,"type":"A"}"#,
        r#"{"type":"B"}"#,
        r#"{"type":"C"}"#,
    ];
    let members = [
        "text", "small", "signed", "wide", "negative", "real", "single", "flag", "letter", "list",
        "pair", "map", "byNumber", "byFlag", "choice", "either", "tagged", "wrapped", "unit",
        "any", "boxed", "other",
    ];
    for member in members {
        for value in values {
            let text = format!(r#"{{"{member}": {value} }}"#);
            let (ours, theirs) = (read::<All>(&text), serde_json::from_str::<All>(&text));
            match (ours, theirs) {
                (Ok(ours), Ok(theirs)) => assert_eq!(ours, theirs, "{text}"),
                (Err(error), Err(_)) => {
                    // What is in `rest` was buffered by serde, which forgets the path.
                    assert!(error.to_string().starts_with(member), "{text}: {error}");
                }
                (ours, theirs) => panic!("{text}: {ours:?}, but serde_json {theirs:?}"),
            }
        }
    }
}

#[test]
fn an_error_names_the_path() {
    #[derive(Deserialize, Debug)]
    #[expect(dead_code, reason = "only read")]
    struct Pod {
        spec: Spec,
    }
    #[derive(Deserialize, Debug)]
    #[expect(dead_code, reason = "only read")]
    struct Spec {
        containers: Vec<Container>,
        matrix: Option<Vec<Vec<u8>>>,
    }
    #[derive(Deserialize, Debug)]
    #[expect(dead_code, reason = "only read")]
    struct Container {
        name: String,
    }
    for (text, expected) in [
        (
            r#"{"spec":{"containers":[{"name":"a"},{"name":1}]}}"#,
            "spec.containers[1].name: invalid type: integer `1`, expected a string",
        ),
        (
            r#"{"spec":{"containers":[{"name":"a"},{}]}}"#,
            "spec.containers[1]: missing field `name`",
        ),
        (
            r#"{"spec":{"containers":[],"matrix":[[1],[2,300]]}}"#,
            "spec.matrix[1][1]: invalid value: integer `300`, expected u8",
        ),
        (
            r#"{"spec":null}"#,
            "spec: invalid type: null, expected struct Spec",
        ),
        (
            r#"[]"#,
            "invalid length 0, expected struct Pod with 1 element",
        ),
        (r#"{}"#, "missing field `spec`"),
    ] {
        assert_eq!(read::<Pod>(text).unwrap_err().to_string(), expected);
    }
}

#[derive(Deserialize, Debug)]
struct Tree {
    #[serde(default)]
    list: Vec<Self>,
    #[serde(default)]
    numbers: Vec<u8>,
}

#[test]
fn a_vec_is_allocated_once_at_its_size() {
    let text = r#"{"skipped":[[],[1]],"list":[{"list":[{},{},{},{},{}]},{"numbers":[1,2,3]},{}],"numbers":[]}"#;
    let tree: Tree = read(text).unwrap();
    assert_eq!((tree.list.len(), tree.list.capacity()), (3, 3));
    let inner = &tree.list[0].list;
    assert_eq!((inner.len(), inner.capacity()), (5, 5));
    let numbers = &tree.list[1].numbers;
    assert_eq!((numbers.len(), numbers.capacity()), (3, 3));
}

#[test]
fn what_is_left_out_is_not_read() {
    for text in [
        r#"{"a":1,"managed":[{"x":[1]}],"numbers":[1,2,3]}"#,
        r#"{ "a" : 1 , "managed" : [ { "x" : [ 1 ] } ] , "numbers" : [ 1 , 2 , 3 ] }"#,
    ] {
        let from = text.find(',').unwrap() + 1;
        let to = text.rfind(']').unwrap();
        let to = text[..to]
            .rfind("] ,")
            .map_or_else(|| text.find("}],").unwrap() + 3, |at| at + 3);
        let mut lengths = ArrayLengths::new();
        let mut cursor = JsonCursor::new(text.as_bytes());
        cursor.skip_counting(128, &mut lengths).unwrap();
        let tree: Tree = from_text(text, lengths.found(), from..to).unwrap();
        assert_eq!((tree.numbers.len(), tree.numbers.capacity()), (3, 3));
        let value: Value = from_text(text, lengths.found(), from..to).unwrap();
        assert_eq!(value, json!({"a": 1, "numbers": [1, 2, 3]}), "{text}");
    }
    for (text, from, to) in [
        (r#"{"managed":[1],"a":1}"#, 1, 15),
        (r#"{ "managed":[1] , "a":1}"#, 1, 17),
        (r#"{"a":1,"managed":[1]}"#, 6, 20),
        (r#"{"a":1 , "managed":[1] }"#, 7, 22),
    ] {
        let value: Value = from_text(text, &[], from..to).unwrap();
        assert_eq!(value, json!({"a": 1}), "{text}");
    }
}

#[test]
fn nesting_is_bounded_as_in_serde_json() {
    for depth in [126, 127, 128, 129, 1000] {
        let text = "[".repeat(depth) + &"]".repeat(depth);
        let ours = from_text::<Value>(&text, &[], 0..0).is_ok();
        assert_eq!(
            ours,
            serde_json::from_str::<Value>(&text).is_ok(),
            "{depth}"
        );
    }
}

#[test]
fn siblings_do_not_count_as_nested() {
    for sibling in ["{}", "[]", r#"{"a":{}}"#] {
        let text = format!("[{}]", [sibling; 300].join(","));
        let value: Vec<Value> = from_text(&text, &[], 0..0).unwrap();
        assert_eq!(value.len(), 300, "{sibling}");
    }
}

/// A type that takes one member, whatever follows.
struct FirstMember(u8);

impl<'de> Deserialize<'de> for FirstMember {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        struct First;
        impl<'de> Visitor<'de> for First {
            type Value = FirstMember;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a member")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<FirstMember, A::Error> {
                let first = members.next_entry::<String, u8>()?;
                let missing = || A::Error::custom("no member");
                first
                    .map(|(_, value)| FirstMember(value))
                    .ok_or_else(missing)
            }
        }
        reader.deserialize_map(First)
    }
}

#[test]
fn a_type_must_take_all_members() {
    let error = |text| {
        read::<FirstMember>(text)
            .err()
            .map(|error| error.to_string())
    };
    assert_eq!(
        read::<FirstMember>(r#"{"a":7}"#)
            .map(|first| first.0)
            .unwrap(),
        7
    );
    let more = error(r#"{"a":7,"b":8}"#).unwrap();
    assert!(more.contains("more members than the type has"), "{more}");
    // What the type says comes first.
    let wrong = error(r#"{"a":700,"b":8}"#).unwrap();
    assert!(wrong.contains("700"), "{wrong}");
    let none = error("{}").unwrap();
    assert!(none.contains("no member"), "{none}");
}

#[test]
fn text_that_is_not_json_is_an_error() {
    for text in [
        "",
        "{",
        "[",
        "[1",
        "[1,",
        "[1,]",
        r#"{"a""#,
        r#"{"a":"#,
        r#"{"a":1,"#,
        r#"{"a":1,}"#,
        "{,}",
        "nul",
        "tru",
        "1.",
        "-",
        "1 2",
        r#""a"#,
        r#""\x""#,
        "[1 2]",
        r#"{"a" 1}"#,
    ] {
        assert!(from_text::<Value>(text, &[], 0..0).is_err(), "{text}");
        assert!(serde_json::from_str::<Value>(text).is_err(), "{text}");
    }
    assert_eq!(
        from_text::<String>(r#""a""#, &[], 0..0).unwrap(),
        "a".to_owned()
    );
}
