//! The JSON reader agrees with serde_json on what is valid and on what it means.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests"
)]

mod decode_support;

use decode_support::{json, string, style};
use informer_core::decode::json::text::{JsonCursor, JsonKind, MAX_DEPTH, TextError, validate};
use proptest::prelude::*;
use serde_json::Value;

fn agrees(text: &[u8]) -> Result<(), String> {
    let theirs = serde_json::from_slice::<Value>(text);
    let ours = validate(text, 128);
    if theirs.is_ok() == ours.is_ok() {
        return Ok(());
    }
    Err(format!(
        "{}: {ours:?}, serde_json: {theirs:?}",
        text.escape_ascii()
    ))
}

/// Text that is almost always JSON.
fn almost_json() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "[a-z \u{7f}é😀]{0,12}",
        1 => "[a-z]{12,36}",
        1 => "\\\\[\"\\\\/bfnrtux0]",
        1 => "\\\\u[0-9a-fA-F]{4}",
        1 => "\\\\ud[89ab][0-9a-f]{2}\\\\ud[c-f][0-9a-f]{2}",
        1 => "[\u{0}-\u{1f}]",
    ];
    let text =
        prop::collection::vec(piece, 0..4).prop_map(|pieces| format!("\"{}\"", pieces.concat()));
    let number = prop_oneof![
        "-?(0|[1-9][0-9]{0,25})(\\.[0-9]{1,10})?([eE][+-]?[0-9]{1,3})?",
        "[0-9eE.+-]{1,6}",
        "[0-9]{290,330}",
    ];
    let word = prop::sample::select(vec!["null", "true", "false", "nul", "truE", "NaN", ""]);
    let leaf = prop_oneof![text.clone(), number, word.prop_map(str::to_owned)];
    let white = || prop::sample::select(vec!["", "", "", " ", "\n", "\t", "\r\n ", "\u{b}"]);
    let value = leaf.prop_recursive(5, 32, 4, move |inner| {
        let spaced = (white(), inner, white()).prop_map(|(a, value, b)| format!("{a}{value}{b}"));
        let member = (text.clone(), white(), spaced.clone())
            .prop_map(|(name, white, value)| format!("{white}{name}{white}:{value}"));
        prop_oneof![
            prop::collection::vec(spaced, 0..4)
                .prop_map(|values| format!("[{}]", values.join(","))),
            prop::collection::vec(member, 0..4)
                .prop_map(|members| format!("{{{}}}", members.join(","))),
        ]
    });
    (white(), value, white()).prop_map(|(a, value, b)| format!("{a}{value}{b}"))
}

#[derive(Clone, Debug)]
enum Damage {
    Replace(prop::sample::Index, u8),
    Insert(prop::sample::Index, u8),
    Remove(prop::sample::Index),
    Cut(prop::sample::Index),
}

fn damage() -> impl Strategy<Value = Damage> {
    let byte = || {
        prop_oneof![
            any::<u8>(),
            prop::sample::select(b"{}[]\",:\\ue0123.-+ \n\x1ftn".to_vec()),
        ]
    };
    let at = any::<prop::sample::Index>;
    prop_oneof![
        3 => (at(), byte()).prop_map(|(at, byte)| Damage::Replace(at, byte)),
        3 => (at(), byte()).prop_map(|(at, byte)| Damage::Insert(at, byte)),
        2 => at().prop_map(Damage::Remove),
        1 => at().prop_map(Damage::Cut),
    ]
}

fn apply(damage: &Damage, text: &mut Vec<u8>) {
    match damage {
        Damage::Insert(at, byte) => text.insert(at.index(text.len() + 1), *byte),
        _ if text.is_empty() => {}
        Damage::Replace(at, byte) => {
            let at = at.index(text.len());
            text[at] = *byte;
        }
        Damage::Remove(at) => {
            text.remove(at.index(text.len()));
        }
        Damage::Cut(at) => text.truncate(at.index(text.len())),
    }
}

/// Reads a value with the cursor alone.
fn parse(cursor: &mut JsonCursor<'_>, depth: usize) -> Result<Value, TextError> {
    Ok(match cursor.kind()? {
        JsonKind::Object => {
            let mut found = serde_json::Map::new();
            let mut members = cursor.enter_object(depth)?;
            while let Some(name) = members.next(cursor)? {
                found.insert(name.to_cow().into_owned(), parse(cursor, depth - 1)?);
            }
            Value::Object(found)
        }
        JsonKind::Array => {
            let mut found = Vec::new();
            let mut elements = cursor.enter_array(depth)?;
            while elements.next(cursor)? {
                found.push(parse(cursor, depth - 1)?);
            }
            Value::Array(found)
        }
        JsonKind::String => Value::String(cursor.string()?.chars().collect()),
        JsonKind::Number => cursor
            .number()?
            .parse::<serde_json::Number>()
            .unwrap()
            .into(),
        JsonKind::Bool => cursor.bool()?.into(),
        JsonKind::Null => {
            cursor.skip_value(1)?;
            Value::Null
        }
    })
}

/// Strings are read in steps of 16 bytes, the first two of them in a place of their own.
#[test]
fn strings_are_read_alike_wherever_a_step_ends() {
    let pieces: [&[u8]; 11] = [
        b"",
        b"\\n",
        b"\\\"",
        b"\\\\",
        b"\\ud83d\\ude00",
        b"\\ud83d",
        b"\\x",
        b"\"",
        b"\x1f",
        b"\xff",
        "é😀".as_bytes(),
    ];
    for piece in pieces {
        for (before, after) in
            (0..=36).flat_map(|before| [0, 1, 15, 16, 40].map(|after| (before, after)))
        {
            let string = [
                b"\"",
                &[b'a'; 36][..before],
                piece,
                &[b'b'; 40][..after],
                b"\"",
            ]
            .concat();
            // At the end of the text, as a name, as a value, and before white space.
            for text in [
                string.clone(),
                [b"{", &string[..], b":0}"].concat(),
                [b"[[", &string[..], b",{}],[{\"a\":", &string, b"}]]"].concat(),
                [
                    b"[{ ",
                    &string[..],
                    b" : ",
                    &string,
                    b" , ",
                    &string,
                    b":{ } } , [ ] ]",
                ]
                .concat(),
            ] {
                agrees(&text).unwrap();
                if let Ok(theirs) = serde_json::from_slice::<Value>(&text) {
                    let ours = parse(&mut JsonCursor::new(&text), 128).unwrap();
                    assert_eq!(ours, theirs, "{}", text.escape_ascii());
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn json_is_judged_like_serde_json(text in almost_json()) {
        prop_assert_eq!(agrees(text.as_bytes()), Ok(()));
    }

    #[test]
    fn damaged_json_is_judged_like_serde_json(
        text in almost_json(),
        damages in prop::collection::vec(damage(), 1..4),
    ) {
        let mut text = text.into_bytes();
        for damage in &damages {
            apply(damage, &mut text);
            prop_assert_eq!(agrees(&text), Ok(()));
        }
    }

    /// Numbers near the largest `f64`, where the arithmetic of serde_json is not exact.
    #[test]
    fn numbers_near_the_largest_f64_are_judged_like_serde_json(
        sign in "-?",
        leading in prop_oneof![
            3 => "1797693134862315[5-9][0-9]{0,6}",
            1 => "1797693134862315[5-9][0-9]{280,310}",
            1 => "1844674407370955161[0-9]{0,5}",
            2 => "[1-9][0-9]{0,25}",
            1 => "[1-9][0-9]{285,320}",
            1 => "0",
        ],
        point in any::<prop::sample::Index>(),
        pointed in any::<bool>(),
        exponent in prop_oneof![
            4 => (280..330_i64).prop_map(|n| format!("e{n}")),
            1 => (-700..330_i64).prop_map(|n| format!("E{n:+}")),
            1 => "e[-+]?[0-9]{9,12}",
            1 => Just(String::new()),
        ],
    ) {
        let mut digits = leading;
        if pointed && digits.len() > 1 {
            digits.insert(1 + point.index(digits.len() - 1), '.');
        } else if pointed {
            digits.push_str(".0");
        }
        agrees(format!("{sign}{digits}{exponent}").as_bytes()).map_err(TestCaseError::fail)?;
    }

    #[test]
    fn arbitrary_bytes_are_judged_like_serde_json(text in prop::collection::vec(any::<u8>(), 0..40)) {
        prop_assert_eq!(agrees(&text), Ok(()));
    }

    #[test]
    fn values_are_read_like_serde_json(value in json(), style in style()) {
        let text = value.render(style);
        let theirs: Value = serde_json::from_str(&text).unwrap();
        let mut cursor = JsonCursor::new(text.as_bytes());
        prop_assert_eq!(parse(&mut cursor, 128).unwrap(), theirs);
        prop_assert_eq!(cursor.end(), Ok(()));
        let skipped = JsonCursor::new(text.as_bytes()).skip_value(128).unwrap();
        prop_assert_eq!(skipped, text.as_bytes());
    }

    #[test]
    fn strings_are_read_like_serde_json(meant in string(), other in string(), style in style()) {
        let text = decode_support::text(&meant).render(style);
        let found = JsonCursor::new(text.as_bytes()).string().unwrap();
        prop_assert!(found.eq_str(&meant));
        prop_assert_eq!(found.eq_str(&other), meant == other);
        prop_assert_eq!(found.to_cow(), meant.as_str());
        prop_assert_eq!(found.to_string(), meant.as_str());
        prop_assert_eq!(found.as_plain().unwrap_or(&meant), meant.as_str());
    }
}

#[test]
fn every_short_text_is_judged_like_serde_json() {
    let alphabet = b"{}[]\",:01-.e \\n";
    let mut text = Vec::new();
    let mut count = 0;
    extend(&mut text, 5, &mut |text| {
        agrees(text).unwrap();
        count += 1;
    });
    assert_eq!(
        count,
        (0..=5)
            .map(|length| alphabet.len().pow(length))
            .sum::<usize>()
    );

    fn extend(text: &mut Vec<u8>, room: usize, check: &mut impl FnMut(&[u8])) {
        check(text);
        if room > 0 {
            for byte in b"{}[]\",:01-.e \\n" {
                text.push(*byte);
                extend(text, room - 1, check);
                text.pop();
            }
        }
    }
}

#[test]
fn awkward_texts_are_judged_like_serde_json() {
    for text in [
        &b""[..],
        b" ",
        b"nul",
        b"null ",
        b"nullx",
        b"true false",
        b"tru",
        b"-",
        b"-0",
        b"-0.0e-0",
        b"00",
        b"01",
        b"1.",
        b".5",
        b"1.e1",
        b"1e",
        b"1e+",
        b"1E+05",
        b"+1",
        b"0x1",
        b"1e308",
        b"1e309",
        b"-1e309",
        b"1e-999999",
        b"0e999999999999",
        b"1e999999999999",
        b"Infinity",
        b"[1,]",
        b"[,1]",
        b"[1 2]",
        b"[",
        b"]",
        b"{\"a\"}",
        b"{\"a\":}",
        b"{\"a\":1,}",
        b"{a:1}",
        b"{1:1}",
        b"{\"a\":1 \"b\":2}",
        b"{\"a\":1}}",
        b"[}",
        b"{]",
        b"'a'",
        b"\"a",
        b"\"\t\"",
        b"\"\x7f\"",
        b"\"\xc3\xa9\"",
        b"\"\xc3\"",
        b"\"\xed\xa0\x80\"",
        b"\"\xf5\x80\x80\x80\"",
        br#""\u0000""#,
        br#""\ud800""#,
        br#""\ud800\ud800""#,
        br#""\ud800\udc00""#,
        br#""\udc00""#,
        br#""\ud800x""#,
        br#""\u00""#,
        br#""\u00g0""#,
        br#""\u+123""#,
        br#""\x41""#,
        br#""\""#,
        b"\xef\xbb\xbf{}",
        b"\0",
        b"{}\0",
        b"{} \n",
        b"//\n{}",
        b"[1]\x0c",
    ] {
        agrees(text).unwrap();
    }
    let long = [b"1".as_slice(), &[b'0'; 400]].concat();
    agrees(&long).unwrap();
    agrees(&[&long, b"e-399".as_slice()].concat()).unwrap();
}

#[test]
fn nesting_is_bounded_where_serde_json_bounds_it() {
    for levels in [1, 2, 126, 127, 128, 129, 1000, 100_000] {
        let array = [vec![b'['; levels], vec![b']'; levels]].concat();
        agrees(&array).unwrap();
        let object = "{\"a\":".repeat(levels - 1) + "{}" + &"}".repeat(levels - 1);
        agrees(object.as_bytes()).unwrap();
        let beyond = validate(&array, usize::MAX);
        assert_eq!(beyond.is_ok(), levels < MAX_DEPTH, "{levels}");
    }
    assert_eq!(validate(b"[[]]", 2), Err(TextError::TooDeep { at: 1 }));
    assert_eq!(validate(b"[[]]", 3), Ok(()));
    assert_eq!(validate(b"1", 0), Ok(()));
}

#[test]
fn arrays_and_objects_are_distinguished_at_any_depth() {
    // Arrays and objects alternate, so that any wrong bit is an error.
    let levels = 900;
    let text = "[{\"a\":".repeat(levels / 2) + "1" + &"}]".repeat(levels / 2);
    assert_eq!(validate(text.as_bytes(), MAX_DEPTH), Ok(()));
    let wrong = "[{\"a\":".repeat(levels / 2) + "1" + &"]}".repeat(levels / 2);
    assert!(validate(wrong.as_bytes(), MAX_DEPTH).is_err());
}

#[test]
fn an_error_names_the_position() {
    assert_eq!(
        validate(br#"{"a":tru}"#, 128),
        Err(TextError::Syntax { at: 5 })
    );
    assert_eq!(
        validate(br#"{"a":1"#, 128),
        Err(TextError::Syntax { at: 6 })
    );
    assert_eq!(
        TextError::Syntax { at: 5 }.to_string(),
        "invalid JSON at byte 5"
    );
}
