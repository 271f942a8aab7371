//! Resource versions. The state machines treat them as opaque; waiting for a version compares
//! numbers.

use core::cmp::Ordering;
use core::fmt;

/// The longest resource version that is accepted, in bytes. Servers send decimal numbers of at most
/// 20 digits. A longer text is treated as missing and never sent in a request.
pub const MAX_VERSION: usize = 128;

/// Two versions cannot be compared, because one of them is not a decimal number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(clippy::exhaustive_structs, reason = "it has no fields")]
pub struct NotComparable;

impl fmt::Display for NotComparable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("resource versions can be compared only if both are decimal numbers")
    }
}

impl core::error::Error for NotComparable {}

/// Compares two resource versions as numbers of any length.
///
/// ```
/// use core::cmp::Ordering;
/// use informer_core::{NotComparable, compare_versions};
///
/// assert_eq!(compare_versions("9", "10"), Ok(Ordering::Less));
/// assert_eq!(compare_versions("9", "ten"), Err(NotComparable));
/// ```
///
/// # Errors
/// One of the versions is not a decimal number.
pub fn compare_versions(a: &str, b: &str) -> Result<Ordering, NotComparable> {
    let decimal = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !decimal(a) || !decimal(b) {
        return Err(NotComparable);
    }
    let (a, b) = (a.trim_start_matches('0'), b.trim_start_matches('0'));
    Ok(a.len().cmp(&b.len()).then_with(|| a.cmp(b)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_numbers_of_any_length() {
        let compare = compare_versions;
        assert_eq!(compare("9", "10"), Ok(Ordering::Less));
        assert_eq!(compare("0010", "10"), Ok(Ordering::Equal));
        assert_eq!(
            compare(
                "340282366920938463463374607431768211457",
                "340282366920938463463374607431768211456"
            ),
            Ok(Ordering::Greater)
        );
        for text in ["", "1a", "-1", "1.0", "٣"] {
            assert_eq!(compare(text, "1"), Err(NotComparable), "{text:?}");
            assert_eq!(compare("1", text), Err(NotComparable), "{text:?}");
        }
    }
}
