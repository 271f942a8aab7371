//! From the written form to the text.

use alloc::vec::Vec;

use super::{MORE, SHORTEST, Source, take_varint};

/// Restores a text of `length` bytes; `None` if this is not what an
/// [`Encoder`](super::Encoder) wrote with this dictionary and head.
pub(crate) fn decode(
    written: &[u8],
    dictionary: &[u8],
    head: &[u8],
    length: usize,
) -> Option<Vec<u8>> {
    let (text, rest) = decode_start(written, dictionary, head, length)?;
    (text.len() == length && rest.is_empty()).then_some(text)
}

/// Restores at least the first `enough` bytes of a text. Returns them and what is left of the written form.
pub(crate) fn decode_start<'a>(
    mut written: &'a [u8],
    dictionary: &[u8],
    head: &[u8],
    enough: usize,
) -> Option<(Vec<u8>, &'a [u8])> {
    let mut text = Vec::with_capacity(enough);
    let mut next = 0;
    while text.len() < enough {
        let token = usize::from(*written.split_off_first()?);
        let literals = count(token >> 5, &mut written)?;
        text.extend_from_slice(written.split_off(..literals)?);
        next += literals;
        if text.len() >= enough {
            break;
        }
        let source = *Source::ALL.get(token >> 3 & 3)?;
        let copied = SHORTEST + count(token & 7, &mut written)?;
        if source == Source::Recent {
            let distance = usize::from(place(&mut written)?);
            copy_recent(&mut text, head, distance, copied)?;
            next += copied;
            continue;
        }
        let from = match source {
            Source::Near => {
                let by = i8::from_le_bytes([*written.split_off_first()?]);
                next.checked_add_signed(isize::from(by))?
            }
            Source::Far => usize::from(place(&mut written)?),
            _ => next,
        };
        next = from.checked_add(copied)?;
        text.extend_from_slice(dictionary.get(from..next)?);
    }
    Some((text, written))
}

fn count(bits: usize, written: &mut &[u8]) -> Option<usize> {
    if bits < MORE {
        return Some(bits);
    }
    Some(MORE + take_varint(written)? as usize)
}

fn place(written: &mut &[u8]) -> Option<u16> {
    let bytes = written.split_off(..2)?;
    Some(u16::from_le_bytes(bytes.try_into().ok()?))
}

/// Copies from the head and the text so far, as if they were one. The copy may reach into itself.
fn copy_recent(text: &mut Vec<u8>, head: &[u8], distance: usize, copied: usize) -> Option<()> {
    let mut left = copied;
    if let Some(in_head) = distance.checked_sub(text.len())
        && in_head > 0
    {
        let start = head.len().checked_sub(in_head)?;
        let part = head.get(start..)?;
        let part = part.get(..left).unwrap_or(part);
        text.extend_from_slice(part);
        left -= part.len();
    }
    while left > 0 {
        let start = text.len().checked_sub(distance).filter(|_| distance > 0)?;
        let end = text.len().min(start + left);
        text.extend_from_within(start..end);
        left -= end - start;
    }
    Some(())
}
