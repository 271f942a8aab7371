//! How the keys and values of labels may look.

const PREFIX_RULE: &str = "before the `/` stands a DNS name of at most 253 lower case letters, digits, \
    `-` and `.`, each of its parts with a letter or digit at both ends";
const NAME_RULE: &str = "a name is 1 to 63 letters, digits, `-`, `_` and `.`, with a letter or digit \
    at both ends, and before it may stand a prefix and one `/`";
const VALUE_RULE: &str = "a value is empty, or up to 63 letters, digits, `-`, `_` and `.`, with a \
    letter or digit at both ends";

/// The rule that a key breaks, if it breaks one.
pub(super) fn check_key(key: &str) -> Result<(), &'static str> {
    let name = match key.split_once('/') {
        Some((prefix, _)) if !is_dns_subdomain(prefix) => return Err(PREFIX_RULE),
        Some((_, name)) => name,
        None => key,
    };
    if is_name(name) {
        Ok(())
    } else {
        Err(NAME_RULE)
    }
}

/// The rule that a value breaks, if it breaks one.
pub(super) fn check_value(value: &str) -> Result<(), &'static str> {
    if value.is_empty() || is_name(value) {
        Ok(())
    } else {
        Err(VALUE_RULE)
    }
}

fn is_name(text: &str) -> bool {
    text.len() <= 63
        && has_ends(text, |byte| byte.is_ascii_alphanumeric())
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
}

fn is_dns_subdomain(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let is_part =
        |part: &str| has_ends(part, plain) && part.bytes().all(|byte| plain(byte) || byte == b'-');
    text.len() <= 253 && text.split('.').all(is_part)
}

/// Whether there is a first and a last byte, and both are such.
fn has_ends(text: &str, such: impl Fn(u8) -> bool) -> bool {
    match text.as_bytes() {
        [only] => such(*only),
        [first, .., last] => such(*first) && such(*last),
        [] => false,
    }
}
