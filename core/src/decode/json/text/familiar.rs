//! Values that look like one that was walked before.
//!
//! Objects of one kind look alike: the `managedFields` of two pods often differ in a few names and times
//! only. So a value is compared with the last values of its kind, sixteen bytes in one step. Where it
//! differs within a string or a number, that is read, and the comparison goes on behind it. That takes a
//! fraction of the instructions of a walk.
//!
//! A value that passes is as valid as the example, and as deep: it has the same bytes, except for strings,
//! numbers and literals, which are read like any other.

use alloc::vec::Vec;
use core::fmt;

use super::arrays::Arrays;
use super::{JsonCursor, TextError};

/// How many examples are kept.
const EXAMPLES: usize = 4;

/// Shorter values are walked as fast.
const SHORTEST: usize = 64;

/// Longer values are not kept. Places in them fit into sixteen bits.
const LONGEST: usize = 8 << 10;

/// An example is given up if it differs more often than once in this many bytes.
const BYTES_PER_DIFFERENCE: usize = 64;

/// The scalar at a place is looked for from the end of the block that the place is in.
const BLOCK: usize = 8;

/// After many values in a row that look like no example, only one in this many is compared.
const RAREST: u8 = 16;

/// Examples of values, all of the same kind and at the same depth.
#[derive(Clone, Default)]
pub(in crate::decode::json) struct Familiar {
    /// The one that a value looked like last comes first.
    examples: Vec<Example>,
    /// How many values are walked before the next one is compared.
    pause: u8,
    /// The next pause.
    pauses: u8,
}

/// An array or an object.
#[derive(Clone)]
struct Example {
    text: Vec<u8>,
    /// Where its strings, numbers and literals begin and end.
    scalars: Vec<[u16; 2]>,
    /// For each block of the text, how many scalars begin in it or before it. A binary search through the scalars took
    /// half of the time of a comparison: each of its steps waits for the one before.
    begun: Vec<u16>,
}

impl JsonCursor<'_> {
    /// Skips a value, and does not walk it if it looks like an earlier one. Then its arrays are not reported.
    pub(in crate::decode::json) fn skip_familiar(
        &mut self,
        depth: usize,
        arrays: &mut impl Arrays,
        familiar: &mut Familiar,
    ) -> Result<(), TextError> {
        self.skip_white();
        if familiar.pause > 0 {
            familiar.pause -= 1;
            return self.skip_counting(depth, arrays).map(drop);
        }
        if let Some(length) = familiar.length_of(self.rest()) {
            self.at += length;
            return Ok(());
        }
        let text = self.skip_counting(depth, arrays)?;
        familiar.learn(text);
        Ok(())
    }
}

impl Familiar {
    /// The length of the value that `text` begins with, if it looks like an example.
    fn length_of(&mut self, text: &[u8]) -> Option<usize> {
        let mut examples = self.examples.iter().enumerate();
        let (at, length) = examples.find_map(|(at, it)| Some((at, it.length_of(text)?)))?;
        if let Some(newer) = self.examples.get_mut(..=at) {
            newer.rotate_right(1);
        }
        self.pauses = 0;
        Some(length)
    }

    /// Takes a valid value as an example.
    fn learn(&mut self, value: &[u8]) {
        self.pause = self.pauses;
        self.pauses = (2 * self.pauses + 1).min(RAREST - 1);
        // The end of a number is not known from the number alone.
        let is_nested = matches!(value.first(), Some(b'{' | b'['));
        if !is_nested || !(SHORTEST..=LONGEST).contains(&value.len()) {
            return;
        }
        self.examples.truncate(EXAMPLES - 1);
        self.examples.insert(0, Example::of(value));
    }
}

impl Example {
    /// `value` is valid.
    fn of(value: &[u8]) -> Self {
        let mut scalars = Vec::new();
        let mut cursor = JsonCursor::new(value);
        while let Some(byte) = cursor.peek() {
            let begin = cursor.at;
            if !matches!(byte, b'"' | b'-' | b'0'..=b'9' | b't' | b'f' | b'n') {
                cursor.at += 1;
            } else if cursor.skip_scalar().is_ok() {
                let extent = [begin, cursor.at];
                scalars.push(extent.map(|at| u16::try_from(at).unwrap_or(u16::MAX)));
            } else {
                break;
            }
        }
        scalars.shrink_to_fit();
        let mut begun = 0;
        let blocks = (1..=value.len() / BLOCK + 1).map(|end| {
            let rest = scalars.iter().skip(begun.into());
            begun += rest
                .take_while(|[begin, _]| usize::from(*begin) < end * BLOCK)
                .count() as u16;
            begun
        });
        Self {
            text: value.to_vec(),
            begun: blocks.collect(),
            scalars,
        }
    }

    /// The length of the value that `text` begins with, if it differs only in strings, numbers and literals.
    fn length_of(&self, text: &[u8]) -> Option<usize> {
        let (mut own, mut other) = (self.text.as_slice(), text);
        for _ in 0..=self.text.len() / BYTES_PER_DIFFERENCE {
            let same = common_prefix(own, other);
            if same == own.len() {
                return Some(text.len() - other.len() + same);
            }
            let compared = self.text.len() - own.len();
            let [begin, end] = self.scalar_at(compared + same)?;
            own = self.text.get(end..)?;
            other = behind_scalar(
                other.get(begin.checked_sub(compared)?..)?,
                self.text.get(begin)?,
            )?;
        }
        None
    }

    /// The scalar at a place, or one that ends there: a number may go on.
    fn scalar_at(&self, at: usize) -> Option<[usize; 2]> {
        let begun = self.scalars.get(..(*self.begun.get(at / BLOCK)?).into())?;
        let is_before = |[begin, _]: &&[u16; 2]| usize::from(*begin) <= at;
        let [begin, end] = begun.iter().rfind(is_before)?.map(usize::from);
        (at <= end).then_some([begin, end])
    }
}

/// What follows a scalar in the place of one that begins with `first`. A string may be a name, so only another string
/// may take its place.
fn behind_scalar<'a>(text: &'a [u8], first: &u8) -> Option<&'a [u8]> {
    let mut cursor = JsonCursor::new(text);
    if *first == b'"' {
        cursor.string().ok()?;
    } else {
        cursor.skip_scalar().ok()?;
    }
    Some(cursor.rest())
}

/// How many bytes two texts have in common at their beginning.
#[inline]
fn common_prefix(a: &[u8], b: &[u8]) -> usize {
    const STEP: usize = size_of::<u128>();
    let mut same = 0;
    let (steps, _) = a.as_chunks::<STEP>();
    for (a, b) in steps.iter().zip(b.as_chunks::<STEP>().0) {
        let differences = u128::from_le_bytes(*a) ^ u128::from_le_bytes(*b);
        if differences != 0 {
            return same + (differences.trailing_zeros() / u8::BITS) as usize;
        }
        same += STEP;
    }
    let rest = a.iter().zip(b).skip(same);
    same + rest.take_while(|(a, b)| a == b).count()
}

/// Examples are parts of objects, which may be secret.
impl fmt::Debug for Familiar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let examples = self.examples.len();
        f.debug_struct("Familiar")
            .field("examples", &examples)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;
    use alloc::string::String;

    const DEPTH: usize = 8;

    const VALUE: &str = concat!(
        r#"[{"manager":"kubelet","time":"2026-11-19T01:02:03Z","fieldsV1":{"f:status":{".":{},"#,
        r#""k:{\"port\":80,\"type\":\"Ready\"}":{"f:note":{},"caf\u00e9":[1,-2.5e3,true,null,""]}}},"#,
        r#""n":{ },"z":"é"}]"#
    );

    /// Whether a text looks like an example. Checks that skipping says the same with the example and without.
    fn check(example: &str, text: &[u8]) -> bool {
        let mut familiar = Familiar::default();
        familiar.learn(example.as_bytes());
        familiar.pause = 0;
        let found = familiar.length_of(text);
        let mut plain = JsonCursor::new(text);
        let walked = plain.skip_value(DEPTH).map(drop);
        if let Some(length) = found {
            let end = Ok(length);
            assert_eq!(
                walked.map(|()| plain.position()),
                end,
                "{}",
                text.escape_ascii()
            );
        }
        let mut cursor = JsonCursor::new(text);
        assert_eq!(cursor.skip_familiar(DEPTH, &mut (), &mut familiar), walked);
        assert!(walked.is_err() || cursor.at == plain.at);
        found.is_some()
    }

    #[test]
    fn scalars_may_differ() {
        for (from, to) in [
            (
                "kubelet",
                "kube-controller-manager, which has a name of more than 32 bytes",
            ),
            ("kubelet", ""),
            ("kubelet", r#"\"}],\\"#),
            ("kubelet", "Zoë"),
            (r#"\"Ready\""#, r#"\"Initialized\""#),
            (r#"\":80,"#, r#"\":8080,"#),
            (r#"k:{\"port\":80,\"type\":\"Ready\"}"#, "k"),
            (r"caf\u00e9", r"caf\u00ea"),
            (r"caf\u00e9", r"caf\ud83d\ude00"),
            (r#""""#, r#""now there is something""#),
            ("é", "e"),
            ("[1,", "[12,"),
            ("[1,", "[-0.5e-7,"),
            ("[1,", "[null,"),
            ("-2.5e3", "2"),
            ("true", "false"),
            ("true", "10"),
            ("null", "true"),
        ] {
            let other = VALUE.replacen(from, to, 1);
            assert_ne!(other, VALUE, "{from} is not there");
            assert!(check(VALUE, other.as_bytes()), "{other}");
            assert!(check(&other, VALUE.as_bytes()), "{other}");
            assert!(check(VALUE, format!("{other},\"more\"").as_bytes()));
        }
        // A string may be a name, which nothing else can be.
        let text = VALUE.replacen("[1,", "[\"1\",", 1);
        assert!(check(VALUE, text.as_bytes()));
        assert!(!check(&text, VALUE.as_bytes()));
    }

    #[test]
    fn nothing_else_may_differ() {
        for (from, to) in [
            (r#"{".":{},"#, r#"{".":{},"f:more":{},"#),
            (r#"{".":{},"#, "{"),
            ("true", "{}"),
            ("true", "truth"),
            ("true", "true,true"),
            ("[1,", "["),
            ("[1,", "[1:"),
            ("[1,", "[1 ,"),
            ("[1,", "[01,"),
            ("{ }", "{}"),
            (r#""n""#, "7"),
            (r#""z""#, r#""z"""#),
            (r#""é"}]"#, r#""é"},{}]"#),
        ] {
            let other = VALUE.replacen(from, to, 1);
            assert_ne!(other, VALUE, "{from} is not there");
            assert!(!check(VALUE, other.as_bytes()), "{other}");
            let is_valid = JsonCursor::new(other.as_bytes()).skip_value(DEPTH).is_ok();
            assert!(!is_valid || !check(&other, VALUE.as_bytes()), "{other}");
        }
    }

    /// Every single mistake is found as by a walk.
    #[test]
    fn what_passes_is_valid() {
        let mut passed = 0;
        for at in 0..VALUE.len() {
            let (before, after) = VALUE.as_bytes().split_at(at);
            check(VALUE, before);
            for byte in (0..=u8::MAX).filter(|byte| byte % 16 < 3 || !byte.is_ascii_alphanumeric())
            {
                let inserted = [before, &[byte], after].concat();
                let replaced = [before, &[byte], &after[1..]].concat();
                passed += usize::from(check(VALUE, &inserted));
                passed += usize::from(check(VALUE, &replaced));
            }
            check(VALUE, &[before, &after[1..]].concat());
        }
        assert!(passed > 1000, "only {passed} mistakes were inside strings");
    }

    #[test]
    fn deeper_values_are_no_examples_of_others() {
        let nested = |depth: usize| {
            let name = r#"{"a name that makes the value long enough to be kept, as an example":"#;
            let mut text = String::new();
            text.extend((0..depth).map(|_| name));
            text.push('1');
            text.extend((0..depth).map(|_| '}'));
            text
        };
        assert!(check(&nested(DEPTH - 1), nested(DEPTH - 1).as_bytes()));
        assert!(!check(&nested(DEPTH - 1), nested(DEPTH).as_bytes()));
    }

    #[test]
    fn values_of_two_shapes_in_turn_are_familiar() {
        let shapes = [VALUE, &VALUE.replace(r#"{".":{},"#, "{")];
        let mut familiar = Familiar::default();
        for round in 0..20 {
            let text = shapes[round % 2].as_bytes();
            let was_known = familiar.pause == 0 && familiar.length_of(text).is_some();
            assert_eq!(was_known, round >= 3, "round {round}");
            JsonCursor::new(text)
                .skip_familiar(DEPTH, &mut (), &mut familiar)
                .unwrap();
        }
    }

    #[test]
    fn values_that_are_never_alike_are_rarely_compared() {
        let mut familiar = Familiar::default();
        let mut compared = 0;
        for number in 0..1600 {
            compared += usize::from(familiar.pause == 0);
            let text = format!("[{}{VALUE}]", "[],".repeat(number));
            JsonCursor::new(text.as_bytes())
                .skip_familiar(DEPTH, &mut (), &mut familiar)
                .unwrap();
        }
        assert!((100..=110).contains(&compared), "{compared} of 1600");
        // From the first one on that is like another one, all are compared.
        for _ in 0..RAREST * 2 {
            JsonCursor::new(VALUE.as_bytes())
                .skip_familiar(DEPTH, &mut (), &mut familiar)
                .unwrap();
        }
        assert_eq!((familiar.pause, familiar.pauses), (0, 0));
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let mut familiar = Familiar::default();
        for length in (0..3 * LONGEST).step_by(1000) {
            for text in [
                format!("[\"{}\",{length}]", "a".repeat(length)),
                format!("[{}0]", "1,".repeat(length / 2)),
            ] {
                JsonCursor::new(text.as_bytes())
                    .skip_familiar(DEPTH, &mut (), &mut familiar)
                    .unwrap();
                familiar.pause = 0;
                let room = |it: &Example| {
                    it.text.capacity() + 4 * it.scalars.capacity() + 2 * it.begun.capacity()
                };
                let kept = familiar.examples.iter().map(room).max();
                assert!(familiar.examples.len() <= EXAMPLES);
                assert!(kept.is_none_or(|kept| kept <= LONGEST * 13 / 4 + 2));
            }
        }
        for scalar in ["1234567890".repeat(8), format!("\"{}\"", "a".repeat(100))] {
            let mut familiar = Familiar::default();
            familiar.learn(scalar.as_bytes());
            assert!(familiar.examples.is_empty());
        }
    }

    #[test]
    fn an_example_that_helped_stays() {
        let value = |number| format!("[{}{VALUE}]", "[],".repeat(number));
        let mut familiar = Familiar::default();
        let mut numbers = (1..=9).map(value);
        for known in numbers.by_ref().take(EXAMPLES) {
            familiar.learn(known.as_bytes());
        }
        for unknown in numbers {
            assert!(familiar.length_of(value(1).as_bytes()).is_some());
            familiar.learn(unknown.as_bytes());
        }
    }

    #[test]
    fn white_space_in_front_is_no_part_of_a_value() {
        let text = format!(" \n{VALUE}");
        let mut familiar = Familiar::default();
        for known in [0, 1] {
            let mut cursor = JsonCursor::new(text.as_bytes());
            let skipped = cursor.skip_familiar(DEPTH, &mut (), &mut familiar);
            assert_eq!((skipped, cursor.at), (Ok(()), text.len()));
            assert_eq!(familiar.pauses, 1 - known);
            familiar.pause = 0;
        }
    }

    #[test]
    fn its_debug_shows_no_contents() {
        let mut familiar = Familiar::default();
        familiar.learn(VALUE.as_bytes());
        assert_eq!(format!("{familiar:?}"), "Familiar { examples: 1, .. }");
    }
}
