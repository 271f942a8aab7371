//! From a text to its written form.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use super::{Around, Dictionary, MORE, SHORTEST, Source, put_varint};

/// Places are found by a hash of this many bytes. Shorter copies are found only near the last one.
const HASHED: usize = 8;

/// How many places of a text are remembered; a power of two.
const RECENT_PLACES: usize = 1 << 10;

/// How many places of the dictionary are remembered; a power of two.
const DICTIONARY_PLACES: usize = 1 << 14;

/// The longest string that is looked for in the dictionary: a label has at most 63 bytes, and a prefix.
const LONGEST_STRING: usize = 126;

/// How far after the last copy the end of a string is looked for.
const NEAR: usize = 64;

/// After this many bytes without a copy, only every second byte is looked at; after twice as many, every
/// third; and so on. With more patience, random texts such as UIDs push what is useful out of the places.
const PATIENCE: usize = 6;

/// The most bytes that are passed in one step. Behind a certificate there may be something to copy.
const LONGEST_STEP: usize = 32;

/// Writes texts with one dictionary, whose places it knows.
pub(crate) struct Encoder {
    dictionary: Places,
    recent: Places,
}

/// Where texts with some hash stand.
struct Places {
    /// Counted from `first`. What is below it is forgotten.
    places: Box<[u32]>,
    first: u32,
    /// Where the next text may be counted from.
    end: u32,
}

/// The text that is being written, after its head, and what was written of it.
struct Writing<'a> {
    dictionary: &'a [u8],
    text: &'a [u8],
    /// Where the next copy from the dictionary would go on.
    next: usize,
    /// Up to here the text is written.
    done: usize,
    written: &'a mut Vec<u8>,
}

/// A copy that could be written.
#[derive(Clone, Copy)]
struct Found {
    /// In the dictionary, or in the text.
    from: usize,
    length: usize,
    in_dictionary: bool,
}

impl Encoder {
    pub(crate) fn new(dictionary: &Dictionary) -> Self {
        let mut places = Places::new(DICTIONARY_PLACES);
        let texts = dictionary.texts();
        for at in 0..texts.len() {
            if let Some(word) = word(texts, at) {
                places.remember(hash(word), at);
            }
        }
        Self {
            dictionary: places,
            recent: Places::new(RECENT_PLACES),
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
        let place = self.dictionary.get(hash(u64::from_le_bytes(*end)))?;
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
        self.recent.forget(text.len());
        // Every second place is enough: a copy is extended to the front, too.
        for at in (0..head).step_by(2) {
            if let Some(word) = word(text, at) {
                self.recent.remember(hash(word), at);
            }
        }
        let mut writing = Writing {
            dictionary: dictionary.texts(),
            text,
            next: 0,
            done: head,
            written,
        };
        let mut at = head;
        while let Some(word) = word(text, at) {
            let found = writing
                .follow(word, at)
                .or_else(|| self.look_up(&writing, word, at));
            at = match found {
                Some(found) => writing.copy(at, found),
                None => at + (1 + (at - writing.done) / PATIENCE).min(LONGEST_STEP),
            };
        }
        writing.finish();
    }

    /// The longer of the two copies that the hash of the next bytes leads to.
    fn look_up(&mut self, writing: &Writing<'_>, word: u64, at: usize) -> Option<Found> {
        let hash = hash(word);
        let known = self.dictionary.get(hash);
        let known = known.and_then(|from| Found::new(writing.dictionary, from, writing, word, at));
        let recent = self.recent.get(hash);
        let recent = recent.filter(|from| at - from <= usize::from(u16::MAX));
        let recent = recent.and_then(|from| Found::new(writing.text, from, writing, word, at));
        self.recent.remember(hash, at);
        match (known, recent) {
            (Some(known), Some(recent)) if known.length < recent.length => Some(recent.recent()),
            (None, recent) => recent.map(Found::recent),
            (known, _) => known,
        }
    }
}

impl Places {
    fn new(places: usize) -> Self {
        Self {
            places: vec![0; places].into_boxed_slice(),
            first: 1,
            end: 1,
        }
    }

    /// Forgets everything, for a text of this length. Clearing the places each time would take a tenth of
    /// the instructions of writing a text.
    fn forget(&mut self, length: usize) {
        let length = u32::try_from(length).unwrap_or(u32::MAX);
        self.first = self.end;
        self.end = self.first.checked_add(length).unwrap_or_else(|| {
            self.places.fill(0);
            self.first = 1;
            length.saturating_add(1)
        });
    }

    fn remember(&mut self, hash: usize, at: usize) {
        let at = u32::try_from(at).ok();
        let at = at.and_then(|at| self.first.checked_add(at));
        let mask = self.places.len() - 1;
        if let (Some(at), Some(place)) = (at, self.places.get_mut(hash & mask)) {
            *place = at;
        }
    }

    fn get(&self, hash: usize) -> Option<usize> {
        let place = self.places.get(hash & (self.places.len() - 1))?;
        Some(place.checked_sub(self.first)? as usize)
    }
}

impl Found {
    /// The copy from `from` in `source`, if it begins with this word.
    fn new(
        source: &[u8],
        from: usize,
        writing: &Writing<'_>,
        first: u64,
        at: usize,
    ) -> Option<Self> {
        if word(source, from)? != first {
            return None;
        }
        Some(Self {
            from,
            length: HASHED + common(source, from + HASHED, writing.text, at + HASHED),
            in_dictionary: true,
        })
    }

    const fn recent(self) -> Self {
        Self {
            in_dictionary: false,
            ..self
        }
    }
}

impl Writing<'_> {
    /// A copy that goes on in the example that was copied last: at the same distance, or from the
    /// next quote there if a string ends here.
    fn follow(&self, first: u64, at: usize) -> Option<Found> {
        let same = self.next + (at - self.done);
        let found = self.copied(first, same, at);
        if found.is_some() || first as u8 != b'"' {
            return found;
        }
        let near = self.dictionary.get(self.next..)?;
        let near = near.get(..NEAR).unwrap_or(near);
        let quote = memchr::memchr(b'"', near)?;
        self.copied(first, self.next + quote, at)
    }

    /// The copy from this place of the dictionary, if it is long enough.
    fn copied(&self, first: u64, from: usize, at: usize) -> Option<Found> {
        let differ = word(self.dictionary, from)? ^ first;
        let length = match differ.trailing_zeros() as usize / 8 {
            HASHED => HASHED + common(self.dictionary, from + HASHED, self.text, at + HASHED),
            length => length,
        };
        (length >= SHORTEST).then_some(Found {
            from,
            length,
            in_dictionary: true,
        })
    }

    /// Writes the literals up to the copy, and the copy. Returns the position after it.
    fn copy(&mut self, mut at: usize, found: Found) -> usize {
        let Found {
            mut from,
            mut length,
            in_dictionary,
        } = found;
        let source = if in_dictionary {
            self.dictionary
        } else {
            self.text
        };
        // Bytes before the copy may be the same, too.
        while at > self.done
            && let Some(before) = from.checked_sub(1)
            && source.get(before) == self.text.get(at - 1)
        {
            (from, at, length) = (before, at - 1, length + 1);
        }
        let literals = at - self.done;
        let next = self.next + literals;
        let by = (from as isize).wrapping_sub_unsigned(next);
        let (source, place): (_, &[u8]) = match (in_dictionary, i8::try_from(by)) {
            (true, Ok(0)) => (Source::Next, &[]),
            (true, Ok(by)) => (Source::Near, &by.to_le_bytes()),
            (true, Err(_)) => (Source::Far, &(from as u16).to_le_bytes()),
            (false, _) => (Source::Recent, &((at - from) as u16).to_le_bytes()),
        };
        self.sequence(literals, source, length - SHORTEST);
        self.written.extend_from_slice(place);
        self.done = at + length;
        self.next = if in_dictionary { from } else { next } + length;
        self.done
    }

    /// Writes what is left as literals.
    fn finish(&mut self) {
        let literals = self.text.len() - self.done;
        if literals > 0 {
            self.sequence(literals, Source::Next, 0);
        }
    }

    /// Writes a token, its varints and the literals.
    fn sequence(&mut self, literals: usize, source: Source, copied: usize) {
        let token = literals.min(MORE) << 5 | (source as usize) << 3 | copied.min(MORE);
        self.written.push(token as u8);
        self.more(literals);
        let end = self.done + literals;
        let literals = self.text.get(self.done..end);
        self.written.extend_from_slice(literals.unwrap_or_default());
        self.more(copied);
    }

    fn more(&mut self, number: usize) {
        if let Some(more) = number.checked_sub(MORE) {
            put_varint(self.written, more as u32);
        }
    }
}

/// How many bytes are the same from these two places on.
fn common(one: &[u8], from: usize, two: &[u8], at: usize) -> usize {
    let (one, two) = (one.get(from..), two.get(at..));
    let (one, two) = (one.unwrap_or_default(), two.unwrap_or_default());
    let mut length = 0;
    for (a, b) in one.as_chunks::<8>().0.iter().zip(two.as_chunks::<8>().0) {
        let differ = u64::from_le_bytes(*a) ^ u64::from_le_bytes(*b);
        if differ != 0 {
            return length + differ.trailing_zeros() as usize / 8;
        }
        length += 8;
    }
    let rest = one.iter().skip(length).zip(two.iter().skip(length));
    length + rest.take_while(|(a, b)| a == b).count()
}

/// The next eight bytes.
fn word(text: &[u8], at: usize) -> Option<u64> {
    let bytes = text.get(at..)?.first_chunk()?;
    Some(u64::from_le_bytes(*bytes))
}

const fn hash(word: u64) -> usize {
    (word.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 48) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_forgotten_even_when_their_numbers_run_out() {
        let mut places = Places::new(4);
        for length in [9, u32::MAX as usize - 20, 9, 9, usize::MAX, 9, 9] {
            places.forget(length);
            assert_eq!(places.get(2), None, "{length}");
            places.remember(2, 0);
            assert_eq!(places.get(2), Some(0));
            places.remember(2, 8);
            assert_eq!(places.get(2), Some(8));
        }
    }
}
