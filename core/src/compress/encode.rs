//! From a text to its written form.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use core::mem;

use super::{Around, Dictionary, MORE, SHORTEST, Source};

/// Places are found by a hash of this many bytes. Shorter copies are found only near the last one.
const HASHED: usize = 8;

/// How many places of a text are remembered, as a power of two.
const RECENT_PLACES: u32 = 10;

/// How many places of the dictionary are remembered, as a power of two.
const DICTIONARY_PLACES: u32 = 14;

/// The longest string that is looked for in the dictionary: a label has at most 63 bytes, and a prefix.
const LONGEST_STRING: usize = 126;

/// How far after the last copy the end of a string is looked for.
const NEAR: usize = 64;

/// After this many bytes without a copy, only every second byte is looked at; after twice as many, every
/// third; and so on. With more patience, random texts such as UIDs push what is useful out of the places.
const PATIENCE: u32 = 5;

/// The most bytes that are passed in one step. Behind a certificate there may be something to copy.
const LONGEST_STEP: u32 = 32;

/// Literals of at most this length are written at once.
const SHORT: usize = 16;

/// A byte of one, eight times.
const ONES: u64 = 0x0101_0101_0101_0101;

/// Nothing is copied to or from behind this place, so that places are numbers of four bytes.
const LAST_PLACE: usize = 1 << 31;

/// Writes texts with one dictionary, whose places it knows.
pub(crate) struct Encoder {
    known: Places<{ 1 << DICTIONARY_PLACES }>,
    recent: Places<{ 1 << RECENT_PLACES }>,
}

/// Where texts with some hash stand: the lower two bytes of the place. What stands there must be compared,
/// so a place that was never remembered may be any number.
struct Places<const N: usize>(Box<[u16; N]>);

/// The text that is being written, after its head, and what was written of it.
struct Writing<'a> {
    dictionary: &'a [u8],
    text: &'a [u8],
    /// Where the next copy from the dictionary would go on.
    next: u32,
    /// Up to here the text is written.
    done: u32,
    written: &'a mut Vec<u8>,
}

/// Up to eight bytes that are written at once.
struct Part {
    bits: u64,
    bytes: usize,
}

impl Encoder {
    pub(crate) fn new(dictionary: &Dictionary) -> Self {
        let texts = dictionary.texts();
        let mut known = Places::new();
        for at in 0..texts.len() as u32 {
            if let Some(word) = word(texts, at) {
                known.replace(word, at);
            }
        }
        Self {
            known,
            recent: Places::new(),
        }
    }

    /// Where `text` stands in the dictionary as a whole string, if it is found. A short or a very long text
    /// is not looked for.
    pub(crate) fn find(
        &self,
        dictionary: &Dictionary,
        text: &[u8],
        around: Around,
    ) -> Option<usize> {
        let mut framed = [b'"'; LONGEST_STRING + 2];
        framed.get_mut(1..=text.len())?.copy_from_slice(text);
        let behind = match around {
            Around::Quotes => 1,
            Around::Length => {
                *framed.first_mut()? = u8::try_from(text.len()).ok()?;
                0
            }
        };
        let framed = framed.get(..1 + text.len() + behind)?;
        // Names often begin in the same way, so the end is looked for.
        let end = framed.last_chunk::<HASHED>()?;
        let place = usize::from(self.known.get(u64::from_le_bytes(*end)));
        let after = place + HASHED;
        let start = after.checked_sub(framed.len())?;
        (dictionary.texts().get(start..after)? == framed).then_some(start + 1)
    }

    /// Appends the written form of `text` after its first `head` bytes, which the reader has.
    pub(crate) fn encode(
        &mut self,
        dictionary: &Dictionary,
        text: &[u8],
        head: usize,
        written: &mut Vec<u8>,
    ) {
        self.recent.0.fill(0);
        let mut writing = Writing {
            dictionary: dictionary.texts(),
            text: text.get(..LAST_PLACE).unwrap_or(text),
            next: 0,
            done: head as u32,
            written,
        };
        // Every second place is enough: a copy is extended to the front, too.
        for at in (0..writing.done).step_by(2) {
            if let Some(word) = word(text, at) {
                self.recent.replace(word, at);
            }
        }
        while self.copy_next(&mut writing).is_some() {}
        writing.text = text;
        writing.finish();
    }

    /// Writes the text up to the end of the next copy; `None` if nothing more can be copied.
    fn copy_next(&mut self, writing: &mut Writing<'_>) -> Option<()> {
        let (dictionary, text) = (writing.dictionary, writing.text);
        let (next, done) = (writing.next, writing.done);
        let mut at = done;
        loop {
            let word = word(text, at)?;
            // The example that was copied last goes on at the same distance, or from its next quote if a
            // string ends here.
            let same = next + (at - done);
            if begins(dictionary, same, word) {
                return writing.copy::<true>(at, same);
            }
            if word as u8 == b'"'
                && let Some(quote) = next_quote(dictionary, next)
                && begins(dictionary, quote, word)
            {
                return writing.copy::<true>(at, quote);
            }
            let known = u32::from(self.known.get(word));
            let recent = self.recent.replace(word, at);
            let recent = at - u32::from((at as u16).wrapping_sub(recent));
            let is_recent = has(text, recent, word) && recent < at;
            if has(dictionary, known, word) {
                if is_recent && writing.is_longer(recent, known, at) {
                    return writing.copy::<false>(at, recent);
                }
                return writing.copy::<true>(at, known);
            }
            if is_recent {
                return writing.copy::<false>(at, recent);
            }
            // Little can be copied from the rest of a short string, but what follows it is often known.
            at += match quote_in(word >> 8) {
                Some(quote) => 1 + quote,
                None => (1 + (at - done) / PATIENCE).min(LONGEST_STEP),
            };
        }
    }
}

impl<const N: usize> Places<N> {
    fn new() -> Self {
        let places = vec![0; N].into_boxed_slice().try_into();
        Self(places.unwrap_or_else(|_| Box::new([0; N])))
    }

    fn get(&self, word: u64) -> u16 {
        self.0.get(Self::hash(word)).copied().unwrap_or_default()
    }

    /// Remembers a place. Returns the one that it takes the room of.
    fn replace(&mut self, word: u64, at: u32) -> u16 {
        let place = self.0.get_mut(Self::hash(word));
        place.map_or(0, |place| mem::replace(place, at as u16))
    }

    const fn hash(word: u64) -> usize {
        (word.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - N.trailing_zeros())) as usize
    }
}

impl Writing<'_> {
    /// Whether more can be copied from the text than from the dictionary.
    #[inline(never)]
    fn is_longer(&self, recent: u32, known: u32, at: u32) -> bool {
        let text = behind(self.text, at);
        common(behind(self.text, recent), text) > common(behind(self.dictionary, known), text)
    }

    /// Writes the literals up to a copy, and as much of the copy as there is. At least
    /// [`SHORTEST`] bytes must be the same.
    fn copy<const IN_DICTIONARY: bool>(&mut self, at: u32, from: u32) -> Option<()> {
        let source = if IN_DICTIONARY {
            self.dictionary
        } else {
            self.text
        };
        let (at, from, done) = (at as usize, from as usize, self.done as usize);
        let (source_before, source) = source.split_at_checked(from)?;
        let (before, text) = self.text.split_at_checked(at)?;
        let length = common(source, text);
        // Bytes before the copy may be the same, too.
        let before = before.get(done..)?;
        let same = before.iter().rev().zip(source_before.iter().rev());
        let back = same.take_while(|(one, two)| one == two).count();
        let (from, length, literals) = (from - back, length + back, before.len() - back);
        let next = self.next as usize + literals;
        let (source, place, bytes) = if IN_DICTIONARY {
            let by = (from as isize).wrapping_sub_unsigned(next);
            match i8::try_from(by) {
                Ok(0) => (Source::Next, 0, 0),
                Ok(by) => (Source::Near, u16::from(by as u8), 1),
                Err(_) => (Source::Far, from as u16, 2),
            }
        } else {
            (Source::Recent, (done + literals - from) as u16, 2)
        };
        let mut part = self.literals(literals, source, length - SHORTEST);
        part.add(u64::from(place), bytes);
        part.put(self.written);
        self.done = (done + literals + length) as u32;
        self.next = (if IN_DICTIONARY { from } else { next } + length) as u32;
        Some(())
    }

    /// Writes what is left as literals.
    fn finish(&mut self) {
        let literals = self.text.len() - self.done as usize;
        if literals > 0 {
            self.literals(literals, Source::Next, 0);
        }
    }

    /// Writes a token and the literals, up to the place of the copy. The last part is returned.
    // A fifth of packing an object is saved where it is part of `copy`.
    #[inline(always)]
    fn literals(&mut self, literals: usize, source: Source, copied: usize) -> Part {
        let token = literals.min(MORE) << 5 | (source as usize) << 3 | copied.min(MORE);
        let mut part = Part {
            bits: token as u64,
            bytes: 1,
        };
        if literals > 0 {
            part.more(literals);
            part.put(self.written);
            part = Part { bits: 0, bytes: 0 };
            let text = behind(self.text, self.done);
            match text.first_chunk::<SHORT>() {
                // Writing all of them takes less time than writing the right number.
                Some(short) if literals <= SHORT => {
                    self.written.extend_from_slice(short);
                    self.written
                        .truncate(self.written.len() - (SHORT - literals));
                }
                _ => self
                    .written
                    .extend_from_slice(text.get(..literals).unwrap_or(text)),
            }
        }
        part.more(copied);
        part
    }
}

impl Part {
    fn add(&mut self, bits: u64, bytes: usize) {
        self.bits |= bits << (8 * self.bytes);
        self.bytes += bytes;
    }

    /// Adds a varint with what does not fit into the token.
    fn more(&mut self, number: usize) {
        let Some(more) = number.checked_sub(MORE) else {
            return;
        };
        let mut more = more as u32;
        while more >= 0x80 {
            self.add(u64::from(more as u8 | 0x80), 1);
            more >>= 7;
        }
        self.add(u64::from(more), 1);
    }

    fn put(&self, to: &mut Vec<u8>) {
        to.extend_from_slice(&self.bits.to_le_bytes());
        to.truncate(to.len() - (8 - self.bytes));
    }
}

/// How many bytes are the same at the beginning of both.
fn common(one: &[u8], two: &[u8]) -> usize {
    let mut length = 0;
    for (a, b) in one.as_chunks::<16>().0.iter().zip(two.as_chunks::<16>().0) {
        let differ = u128::from_le_bytes(*a) ^ u128::from_le_bytes(*b);
        if differ != 0 {
            return length + differ.trailing_zeros() as usize / 8;
        }
        length += 16;
    }
    let rest = one.iter().skip(length).zip(two.iter().skip(length));
    length + rest.take_while(|(a, b)| a == b).count()
}

/// The first quote from this place on, if it is near.
#[inline(never)]
fn next_quote(text: &[u8], at: u32) -> Option<u32> {
    let near = behind(text, at);
    let near = near.get(..NEAR).unwrap_or(near);
    let words = near.as_chunks().0.iter().zip((at..).step_by(8));
    let mut quotes = words.filter_map(|(word, at)| Some(at + quote_in(u64::from_le_bytes(*word))?));
    quotes.next()
}

/// Which byte of a word is its first quote.
fn quote_in(word: u64) -> Option<u32> {
    let differ = word ^ (ONES * b'"' as u64);
    // The lowest of these bits belongs to the first byte that is zero.
    let zero = differ.wrapping_sub(ONES) & !differ & (ONES << 7);
    (zero != 0).then(|| zero.trailing_zeros() / 8)
}

/// Whether a copy of the shortest length begins with this word.
fn begins(text: &[u8], at: u32, first: u64) -> bool {
    word(text, at).is_some_and(|word| word as u32 == first as u32)
}

fn has(text: &[u8], at: u32, first: u64) -> bool {
    word(text, at) == Some(first)
}

fn behind(text: &[u8], at: u32) -> &[u8] {
    text.get(at as usize..).unwrap_or_default()
}

/// The next eight bytes.
fn word(text: &[u8], at: u32) -> Option<u64> {
    let at = at as usize;
    let bytes = text.get(at..at + HASHED)?.first_chunk()?;
    Some(u64::from_le_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Bytes among which quotes and neighbours of quotes are frequent.
    fn bytes() -> impl Strategy<Value = [u8; 8]> {
        prop::array::uniform8(prop_oneof![Just(b'"'), Just(b'!'), Just(b'#'), any::<u8>()])
    }

    proptest! {
        #[test]
        fn the_first_quote_is_found(bytes in bytes()) {
            let found = quote_in(u64::from_le_bytes(bytes));
            let expected = bytes.iter().position(|byte| *byte == b'"');
            prop_assert_eq!(found.map(|at| at as usize), expected);
        }

        #[test]
        fn a_near_quote_is_found(before in 0..100_usize, text in 0..100_usize) {
            let mut bytes = vec![b'x'; before + text];
            bytes.push(b'"');
            bytes.resize(bytes.len() + 8, b'"');
            let expected = (text < NEAR).then_some((before + text) as u32);
            prop_assert_eq!(next_quote(&bytes, before as u32), expected);
        }

        #[test]
        fn what_is_common_is_counted(
            same in prop::collection::vec(any::<u8>(), 0..70),
            one in prop::collection::vec(0..3_u8, 0..20),
            two in prop::collection::vec(3..6_u8, 0..20),
        ) {
            let common = common(&[&*same, &*one].concat(), &[&*same, &*two].concat());
            prop_assert_eq!(common, same.len());
        }
    }
}
