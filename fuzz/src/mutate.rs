//! Mutations of inputs.

use std::ops::Range;

use crate::random::Random;

/// The longest input.
const LONGEST: usize = 64 << 10;

/// Bytes that matter to parsers.
const BYTES: &[u8] = b"\0\t\n\r \"'\\{}[](),:;=!%&*-+.019<>|\x1b\x7f\x80\xc3\xff";

/// Numbers that matter to parsers.
const NUMBERS: &[&str] = &[
    "0",
    "-0",
    "-1",
    "1",
    "00",
    "128",
    "255",
    "65535",
    "65536",
    "80010",
    "2147483648",
    "4294967296",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "1e308",
    "1e400",
    "0.1",
    "+5",
];

/// The input of a seed: one of the corpus with a few mutations, some of which insert `words`.
#[must_use]
pub fn input(seed: u64, corpus: &[Vec<u8>], words: &[&str]) -> Vec<u8> {
    let mut random = Random::new(seed);
    let mut bytes = random.pick(corpus).cloned().unwrap_or_default();
    // Most inputs stay close to their origin, because parsers refuse distant ones at once.
    let steps = 1 + random.below(4) * random.below(4);
    for _ in 0..steps {
        step(&mut random, &mut bytes, corpus, words);
    }
    bytes.truncate(LONGEST);
    bytes
}

fn step(random: &mut Random, bytes: &mut Vec<u8>, corpus: &[Vec<u8>], words: &[&str]) {
    let at = random.below(bytes.len() + 1);
    let range = range(random, bytes.len());
    match random.below(14) {
        0 => {
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= 1 << random.below(8);
            }
        }
        1 => put(random, bytes, at, BYTES),
        2 => bytes.insert(at, u8::try_from(random.below(256)).unwrap_or(0)),
        3 | 4 => insert(
            bytes,
            at..at,
            random.pick(words).map_or(&[], |word| word.as_bytes()),
        ),
        5 => insert(
            bytes,
            range,
            random.pick(words).map_or(&[], |word| word.as_bytes()),
        ),
        6 => insert(bytes, range, &[]),
        7 => {
            let copy = bytes[range].to_vec();
            insert(bytes, at..at, &copy);
        }
        8 => {
            let lines = line(bytes, at);
            let copy = bytes[lines].to_vec();
            let to = line(bytes, range.start).start;
            insert(bytes, to..to, &copy);
        }
        9 => {
            let lines = line(bytes, at);
            insert(bytes, lines, &[]);
        }
        10 => splice(random, bytes, at, corpus),
        11 => bytes.truncate(at),
        12 => replace_number(random, bytes, at),
        _ => {
            let copy = bytes.clone();
            put(random, bytes, at, &copy);
        }
    }
}

/// Overwrites one byte with one of `from`.
fn put(random: &mut Random, bytes: &mut [u8], at: usize, from: &[u8]) {
    if let (Some(byte), Some(new)) = (bytes.get_mut(at), random.pick(from)) {
        *byte = *new;
    }
}

fn insert(bytes: &mut Vec<u8>, range: Range<usize>, new: &[u8]) {
    bytes.splice(range, new.iter().copied());
}

/// A range within `length` bytes, more often a short one.
fn range(random: &mut Random, length: usize) -> Range<usize> {
    let start = random.below(length + 1);
    let most = if random.below(2) == 0 { 8 } else { length };
    let end = (start + random.below(most + 1)).min(length);
    start..end
}

/// The line around a byte, newline included.
fn line(bytes: &[u8], at: usize) -> Range<usize> {
    let is_end = |byte: &u8| *byte == b'\n';
    let start = bytes[..at]
        .iter()
        .rposition(is_end)
        .map_or(0, |end| end + 1);
    let end = bytes[at..].iter().position(is_end);
    start..end.map_or(bytes.len(), |end| at + end + 1)
}

/// Continues with a part of another input.
fn splice(random: &mut Random, bytes: &mut Vec<u8>, at: usize, corpus: &[Vec<u8>]) {
    let Some(other) = random.pick(corpus) else {
        return;
    };
    let part = range(random, other.len());
    if random.below(2) == 0 {
        bytes.truncate(at);
        bytes.extend_from_slice(&other[part.start..]);
    } else {
        insert(bytes, at..at, &other[part]);
    }
}

/// Replaces the next number.
fn replace_number(random: &mut Random, bytes: &mut Vec<u8>, at: usize) {
    let Some(start) = bytes[at..].iter().position(u8::is_ascii_digit) else {
        return;
    };
    let start = at + start;
    let length = bytes[start..]
        .iter()
        .take_while(|byte| byte.is_ascii_digit());
    let end = start + length.count();
    let number = random.pick(NUMBERS).map_or("", |number| number);
    insert(bytes, start..end, number.as_bytes());
}
