//! The syntax of label keys and values.

const PREFIX_RULE: &str = "the prefix before `/` must be a DNS name: at most 253 lower-case letters, \
    digits, `-` and `.`, and each part must start and end with a letter or digit";
const NAME_RULE: &str = "a key is an optional prefix and `/`, then 1 to 63 letters, digits, `-`, `_` and \
    `.` that start and end with a letter or digit";
const VALUE_RULE: &str = "a value must be empty, or up to 63 letters, digits, `-`, `_` and `.` that start \
    and end with a letter or digit";

/// Checks a label key. The error is the rule that it breaks.
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

/// Checks a label value. The error is the rule that it breaks.
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

/// Whether the text is not empty, and `such` holds for its first and last byte.
fn has_ends(text: &str, such: impl Fn(u8) -> bool) -> bool {
    match text.as_bytes() {
        [only] => such(*only),
        [first, .., last] => such(*first) && such(*last),
        [] => false,
    }
}
