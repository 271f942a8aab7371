//! Whatever is written can be read again.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

use proptest::prelude::*;

use super::*;

fn written(dictionary: &Dictionary, head: &[u8], text: &[u8]) -> Vec<u8> {
    let mut written = Vec::new();
    let source = [head, text].concat();
    Encoder::new(dictionary).encode(dictionary, &source, head.len(), &mut written);
    written
}

/// Short words, so that there is much to copy; and now and then something new.
fn text() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        Just("\"metadata\":{\"name\":\"".into()),
        Just("\",\"namespace\":\"default\"".into()),
        Just("aaaaaaaa".into()),
        "[a-z]{0,12}",
        "[\u{0}-\u{ff}]{0,5}",
    ];
    prop::collection::vec(word, 0..60).prop_map(|words: Vec<String>| words.concat())
}

proptest! {
    #[test]
    fn a_written_text_is_read_as_it_was(dictionary in text(), head in text(), text in text()) {
        let dictionary = Dictionary::new(dictionary.as_bytes());
        let written = written(&dictionary, head.as_bytes(), text.as_bytes());
        let read = decode(&written, dictionary.texts(), head.as_bytes(), text.len());
        prop_assert_eq!(read.as_deref(), Some(text.as_bytes()));
    }

    #[test]
    fn its_start_can_be_read_alone(
        dictionary in text(), head in text(), text in text(), part in 0..=100_usize
    ) {
        let dictionary = Dictionary::new(dictionary.as_bytes());
        let written = written(&dictionary, head.as_bytes(), text.as_bytes());
        let enough = text.len() * part / 100;
        let start = decode_start(&written, dictionary.texts(), head.as_bytes(), enough);
        let (start, _) = start.unwrap_or_default();
        prop_assert!(start.len() >= enough);
        prop_assert!(text.as_bytes().starts_with(&start));
    }

    /// Records are compared by their bytes, so these may not depend on what was written before.
    #[test]
    fn the_same_text_is_always_written_as_the_same_bytes(
        dictionary in text(), head in text(), text in text(), other in text()
    ) {
        let dictionary = Dictionary::new(dictionary.as_bytes());
        let mut encoder = Encoder::new(&dictionary);
        let source = [head.as_bytes(), text.as_bytes()].concat();
        encoder.encode(&dictionary, other.as_bytes(), 0, &mut Vec::new());
        let mut again = Vec::new();
        encoder.encode(&dictionary, &source, head.len(), &mut again);
        prop_assert_eq!(again, written(&dictionary, head.as_bytes(), text.as_bytes()));
    }

    #[test]
    fn anything_else_is_refused_or_has_the_right_length(
        bytes in prop::collection::vec(any::<u8>(), 0..64),
        length in 0..200_usize,
    ) {
        let read = decode(&bytes, b"a dictionary of some length", b"and a head", length);
        prop_assert!(read.is_none_or(|read| read.len() == length));
    }

    #[test]
    fn numbers_are_read_as_they_were(numbers in prop::collection::vec(any::<u32>(), 0..9)) {
        let mut bytes = Vec::new();
        for number in &numbers {
            put_varint(&mut bytes, *number);
        }
        let mut left = &*bytes;
        for number in numbers {
            prop_assert_eq!(take_varint(&mut left), Some(number));
        }
        prop_assert_eq!(take_varint(&mut left), None);
    }
}

/// What differs from an example costs little more than its own bytes, wherever it is and even if it is
/// longer or shorter.
#[test]
fn a_text_like_the_example_is_written_as_its_differences() {
    let pod = |name: &str, ip: &str, node: &str| {
        format!(
            r#"{{"metadata":{{"name":"{name}","namespace":"default"}},"spec":{{"nodeName":"{node}"}},"status":{{"podIP":"{ip}","phase":"Running"}}}}"#
        )
    };
    let dictionary = pod("shop-7d9f-x2x4z", "10.0.0.1", "node-1");
    let dictionary = Dictionary::new(dictionary.as_bytes());
    let text = pod("shop-7d9f-abcde", "10.240.17.113", "node-104");
    let written = written(&dictionary, b"", text.as_bytes());
    assert!(written.len() < 40, "{} bytes", written.len());
}

/// Strings that end elsewhere than in the example are followed by a copy that needs one byte for its place.
#[test]
fn an_example_is_followed_behind_a_short_string() {
    let fields = |value: &dyn Fn(u32) -> String| -> String {
        let field = |at| format!("\"a-known-name-{at}\":\"{}\",", value(at));
        (0..50).map(field).collect()
    };
    let dictionary = fields(&|at| format!("{at:05}"));
    let text = fields(&|at| "x".repeat(1 + at as usize % 7));
    let dictionary = Dictionary::new(dictionary.as_bytes());
    let written = written(&dictionary, b"", text.as_bytes());
    let read = decode(&written, dictionary.texts(), b"", text.len());
    assert_eq!(read.as_deref(), Some(text.as_bytes()));
    // On average four literals, a token, a length and a place.
    assert!(written.len() <= 50 * 7 + 10, "{}", written.len());
}

/// A copy from the text can be as far away as two bytes can say, and no further.
#[test]
fn distances_around_the_largest_are_read_as_they_were() {
    let known = b"a text that comes twice";
    let dictionary = Dictionary::new(b"");
    for head in [0, 100] {
        for between in 65_500..65_660 {
            let mut text = vec![b'.'; head];
            text.extend_from_slice(known);
            text.resize(between, b'-');
            text.extend_from_slice(known);
            let (head, text) = text.split_at(head);
            let written = written(&dictionary, head, text);
            let read = decode(&written, b"", head, text.len());
            assert!(read.as_deref() == Some(text), "{} {between}", head.len());
            let copied = between - head.len() < 1 << 16;
            assert_eq!(written.len() < 50, copied, "{} {between}", head.len());
        }
    }
}

/// Literals and copies of all lengths, around those that need another byte.
#[test]
fn literals_and_copies_of_each_length_are_read_as_they_were() {
    let example: Vec<u8> = (0..600_u32)
        .flat_map(|at| (at * at).to_string().into_bytes())
        .collect();
    let dictionary = Dictionary::new(&example);
    for literals in (0..40).chain(130..140) {
        for copied in (0..30).chain(130..150) {
            let mut text = vec![0xff; literals];
            text.extend_from_slice(example.get(100..100 + copied).unwrap());
            text.push(0xfe);
            let written = written(&dictionary, b"", &text);
            let read = decode(&written, &example, b"", text.len());
            assert_eq!(read, Some(text), "{literals} {copied}");
            let most = literals.min(20) + copied.min(12) + 12;
            assert!(
                written.len() <= most,
                "{literals} {copied} {}",
                written.len()
            );
        }
    }
}

#[test]
fn the_head_is_copied_instead_of_written() {
    let uid = b"0b5f0c4e-3c55-4a0e-9d5e-7a0a5f0f3f11";
    let dictionary = Dictionary::new(b"");
    let plain = written(&dictionary, b"", uid);
    let with_head = written(&dictionary, uid, uid);
    assert!(
        with_head.len() <= 5 && plain.len() > uid.len(),
        "{with_head:?}"
    );
}

#[test]
fn only_the_largest_size_of_a_dictionary_is_used() {
    let texts: Vec<u8> = (0..80_000_u32).flat_map(u32::to_le_bytes).collect();
    let dictionary = Dictionary::new(&texts);
    assert_eq!(dictionary.texts().len(), Dictionary::LARGEST);
    // Copies from the very end of it.
    let end = dictionary.texts().last_chunk::<64>().unwrap();
    let written = written(&dictionary, b"", end);
    assert!(written.len() < 8);
    let read = decode(&written, dictionary.texts(), b"", end.len());
    assert_eq!(read.as_deref(), Some(&end[..]));
}

/// Copies from further back than a distance can say are not written.
#[test]
fn a_long_text_is_read_as_it_was() {
    let dictionary = Dictionary::new(b"{\"metadata\":{\"name\":\"");
    for lines in [1_000_u32, 4_000, 30_000] {
        let text: String = (0..lines)
            .map(|line| {
                format!(
                    "\"key-{}\":\"a value that comes again {}\",",
                    line % 700,
                    line * 7
                )
            })
            .collect();
        let written = written(&dictionary, b"some head", text.as_bytes());
        assert!(written.len() * 2 < text.len());
        let read = decode(&written, dictionary.texts(), b"some head", text.len());
        assert!(read.as_deref() == Some(text.as_bytes()), "{lines} lines");
    }
}

/// A long text with nothing to copy, such as a certificate, hides nothing that stands behind it.
#[test]
fn what_is_known_is_found_behind_a_long_new_text() {
    let mut random = 7_u32;
    let mut noise = || {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (random >> 24) as u8
    };
    let new: Vec<u8> = (0..20_000).map(|_| noise()).collect();
    let known: String = (0..20)
        .map(|at| format!("\"condition-{at}\":true,"))
        .collect();
    let dictionary = Dictionary::new(known.as_bytes());
    let written = written(&dictionary, b"", &[&new, known.as_bytes()].concat());
    assert!(written.len() < new.len() + 50, "{}", written.len());
}
