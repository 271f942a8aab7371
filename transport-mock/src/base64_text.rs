//! Bytes as text: URL-safe base64 in page tokens, the standard one in objects.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Encodes as URL-safe base64 without padding.
pub(crate) fn encoded(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len() * 4 / 3 + 3);
    for chunk in bytes.chunks(3) {
        let mut word = [0; 4];
        for (slot, byte) in word.iter_mut().skip(1).zip(chunk) {
            *slot = *byte;
        }
        let word = u32::from_be_bytes(word);
        for n in 0..=chunk.len() {
            let digit = (word >> (18 - 6 * n)) & 63;
            out.extend(ALPHABET.get(digit as usize).map(|c| char::from(*c)));
        }
    }
    out
}

/// Decodes URL-safe base64 without padding, or returns the position of the first invalid letter.
pub(crate) fn decoded(text: &str) -> Result<Vec<u8>, usize> {
    let mut out = Vec::with_capacity(text.len() * 3 / 4);
    let (mut word, mut bits) = (0_u32, 0);
    for (at, letter) in text.bytes().enumerate() {
        let digit = ALPHABET
            .iter()
            .position(|known| *known == letter)
            .ok_or(at)?;
        word = (word << 6) | u32::try_from(digit).map_err(|_| at)?;
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            out.push((word >> bits) as u8);
            word &= (1 << bits) - 1;
        }
    }
    // A single letter cannot encode a byte.
    if bits == 6 { Err(text.len()) } else { Ok(out) }
}

/// Decodes standard base64, as in the data of a Secret; `None` for anything else.
pub(crate) fn standard_decoded(text: &str) -> Option<Vec<u8>> {
    let padding = text.len() - text.trim_end_matches('=').len();
    let is_whole = text.len().is_multiple_of(4) && padding <= 2;
    if !is_whole || text.contains(['-', '_']) {
        return None;
    }
    let text = text
        .trim_end_matches('=')
        .replace('+', "-")
        .replace('/', "_");
    decoded(&text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_round_trips_for_every_length() {
        for len in 0..70_u8 {
            let bytes: Vec<u8> = (0..len).map(|n| n.wrapping_mul(37)).collect();
            assert_eq!(decoded(&encoded(&bytes)), Ok(bytes));
        }
    }

    #[test]
    fn the_standard_alphabet_has_padding() {
        for (text, bytes) in [
            ("", Some(&b""[..])),
            ("+/8=", Some(b"\xfb\xff")),
            ("YQ==", Some(b"a")),
            ("YWJj", Some(b"abc")),
            ("YQ", None),
            ("Y===", None),
            ("-_8=", None),
            ("YW=j", None),
        ] {
            assert_eq!(standard_decoded(text).as_deref(), bytes, "{text}");
        }
    }
}
