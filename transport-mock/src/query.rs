//! Parsing of paths and queries.

/// The decoded pairs of a query.
pub(crate) fn pairs(query: &str) -> impl Iterator<Item = (String, String)> {
    query
        .split('&')
        .filter(|pair| !pair.is_empty())
        .map(|pair| {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            (percent_decoded(key, true), percent_decoded(value, true))
        })
}

/// Decodes `%41`, and in a query also `+`. Invalid codes stay as they are.
pub(crate) fn percent_decoded(text: &str, is_query: bool) -> String {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        let mut ahead = bytes.clone();
        let code = match byte {
            b'%' => ahead.next().and_then(hex).zip(ahead.next().and_then(hex)),
            _ => None,
        };
        match (byte, code) {
            (_, Some((high, low))) => {
                out.push(high * 16 + low);
                bytes = ahead;
            }
            (b'+', _) if is_query => out.push(b' '),
            _ => out.push(byte),
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

fn hex(byte: u8) -> Option<u8> {
    char::from(byte)
        .to_digit(16)
        .and_then(|digit| u8::try_from(digit).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_decoded_and_the_rest_stays() {
        assert_eq!(percent_decoded("a%3Db%2c+c", true), "a=b, c");
        assert_eq!(percent_decoded("a+b", false), "a+b");
        for text in ["%", "%4", "%zz", "100%"] {
            assert_eq!(percent_decoded(text, true), text);
        }
    }

    #[test]
    fn pairs_of_a_query() {
        let pairs: Vec<_> = pairs("watch&limit=5&&labelSelector=a%3Db").collect();
        let expected = [("watch", ""), ("limit", "5"), ("labelSelector", "a=b")];
        assert_eq!(
            pairs,
            expected.map(|(key, value)| (key.to_owned(), value.to_owned()))
        );
    }
}
