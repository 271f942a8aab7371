//! From a text to its written form.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use super::{Dictionary, MORE, SHORTEST, Source, put_varint};

/// Places are found by a hash of this many bytes. Shorter copies are found only near the last one.
const HASHED: usize = 8;

/// How many places of the text are remembered; a power of two.
const RECENT_PLACES: usize = 1 << 11;

/// How many places of the dictionary are remembered; a power of two.
const DICTIONARY_PLACES: usize = 1 << 14;

/// How far after the last copy the same text is looked for.
const NEAR: usize = 64;

/// Writes texts with one dictionary, whose places it knows.
pub(crate) struct Encoder {
    /// Where in the dictionary a text with this hash stands, plus one; 0 for none.
    dictionary: Box<[u32]>,
    /// The same for the text that is being written.
    recent: Box<[u32]>,
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
        let mut places = vec![0; DICTIONARY_PLACES].into_boxed_slice();
        for (at, window) in dictionary.texts().windows(HASHED).enumerate() {
            if let Some(place) = places.get_mut(hash(window) % DICTIONARY_PLACES) {
                *place = at as u32 + 1;
            }
        }
        Self {
            dictionary: places,
            recent: vec![0; RECENT_PLACES].into_boxed_slice(),
        }
    }

    /// Where `text` stands in the dictionary, if it is found. A short text is not looked for.
    pub(crate) fn find(&self, dictionary: &Dictionary, text: &[u8]) -> Option<usize> {
        // Names often begin in the same way, so the end is looked for.
        let end = text.last_chunk::<HASHED>()?;
        let place = self.dictionary.get(hash(end) % DICTIONARY_PLACES)?;
        let after = (*place as usize).checked_sub(1)? + HASHED;
        let start = after.checked_sub(text.len())?;
        (dictionary.texts().get(start..after)? == text).then_some(start)
    }

    /// Appends the written form of `text` after its first `head` bytes, which the reader has.
    pub(crate) fn encode(
        &mut self,
        dictionary: &Dictionary,
        text: &[u8],
        head: usize,
        written: &mut Vec<u8>,
    ) {
        self.recent.fill(0);
        for at in 0..head {
            self.remember(text, at);
        }
        let mut writing = Writing {
            dictionary: dictionary.texts(),
            text,
            next: 0,
            done: head,
            written,
        };
        let mut at = head;
        while at + SHORTEST <= text.len() {
            let found = writing.follow(at).or_else(|| self.look_up(&writing, at));
            self.remember(text, at);
            match found {
                Some(found) => at = writing.copy(at, found),
                None => at += 1,
            }
        }
        writing.finish();
    }

    fn remember(&mut self, text: &[u8], at: usize) {
        if let Some(window) = text.get(at..at + HASHED)
            && let Some(place) = self.recent.get_mut(hash(window) % RECENT_PLACES)
        {
            *place = at as u32 + 1;
        }
    }

    /// The longer of the two copies that the hash of the next bytes leads to.
    fn look_up(&self, writing: &Writing<'_>, at: usize) -> Option<Found> {
        let window = writing.text.get(at..at + HASHED)?;
        let hash = hash(window);
        let place = |places: &[u32]| {
            let place = *places.get(hash % places.len())?;
            (place as usize).checked_sub(1)
        };
        let recent = place(&self.recent).filter(|from| at - from <= usize::from(u16::MAX));
        let recent = recent.map(|from| Found {
            from,
            length: common(writing.text, from, writing.text, at),
            in_dictionary: false,
        });
        let known = place(&self.dictionary).map(|from| Found {
            from,
            length: common(writing.dictionary, from, writing.text, at),
            in_dictionary: true,
        });
        let longest = recent.into_iter().chain(known);
        longest
            .max_by_key(|found| found.length)
            .filter(|found| found.length >= HASHED)
    }
}

impl Writing<'_> {
    /// A copy that goes on in the example that was copied last: at the same distance, or from the
    /// next quote there if a string ends here.
    fn follow(&self, at: usize) -> Option<Found> {
        let same = self.next + (at - self.done);
        let found = self.in_dictionary(same, at);
        if found.is_some() || self.text.get(at) != Some(&b'"') {
            return found;
        }
        let near = self.dictionary.get(self.next..)?;
        let near = near.get(..NEAR).unwrap_or(near);
        self.in_dictionary(self.next + memchr::memchr(b'"', near)?, at)
    }

    fn in_dictionary(&self, from: usize, at: usize) -> Option<Found> {
        let length = common(self.dictionary, from, self.text, at);
        (length >= SHORTEST).then_some(Found {
            from,
            length,
            in_dictionary: true,
        })
    }

    /// Writes the literals up to the copy, and the copy. Returns the position after it.
    fn copy(&mut self, at: usize, found: Found) -> usize {
        let Found {
            mut from,
            mut length,
            in_dictionary,
        } = found;
        // Bytes before the copy may be the same, too.
        let source = if in_dictionary {
            self.dictionary
        } else {
            self.text
        };
        let mut at = at;
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
        self.written
            .extend_from_slice(self.text.get(self.done..end).unwrap_or_default());
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

fn hash(window: &[u8]) -> usize {
    let word = window
        .first_chunk()
        .map_or(0, |word| u64::from_le_bytes(*word));
    (word.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 48) as usize
}
