//! Qualified names: `example.com/name`, by the rules of an API server.

/// The longest domain, and the longest name behind it.
const DOMAIN: usize = 253;
const NAME: usize = 63;

/// Checks a qualified name. Returns its domain, if it has one.
///
/// # Errors
/// What is wrong with it, for people.
pub(crate) fn domain_of(text: &str) -> Result<Option<&str>, &'static str> {
    let (domain, name) = match text.split_once('/') {
        Some((domain, name)) => (Some(domain), name),
        None => (None, text),
    };
    if !domain.is_none_or(is_domain) {
        return Err("what is before the `/` is not a domain in lower case");
    }
    if !is_name(name) {
        return Err(
            "a name has up to 63 letters, digits, `-`, `_` and `.`, and begins and ends with a letter or digit",
        );
    }
    Ok(domain)
}

/// Whether this is a domain, which is also what most objects may be called.
pub(crate) fn is_domain(text: &str) -> bool {
    let is_lower = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let is_label = |label: &str| {
        is_bounded(label, is_lower) && label.bytes().all(|byte| is_lower(byte) || byte == b'-')
    };
    text.len() <= DOMAIN && text.split('.').all(is_label)
}

fn is_name(text: &str) -> bool {
    let is_inside = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    text.len() <= NAME
        && is_bounded(text, |byte| byte.is_ascii_alphanumeric())
        && text.bytes().all(is_inside)
}

/// Whether the first and the last byte are such. There are none in an empty text.
fn is_bounded(text: &str, is_such: impl Fn(u8) -> bool) -> bool {
    let ends = [text.bytes().next(), text.bytes().next_back()];
    ends.into_iter().all(|byte| byte.is_some_and(&is_such))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_that_a_server_accepts() {
        let domain = "a".repeat(DOMAIN);
        let name = "N".repeat(NAME);
        for good in [
            "example.com/cleanup",
            "a/B",
            "1.2-3.x/a_b.c-9",
            &format!("{domain}/{name}"),
        ] {
            assert_eq!(domain_of(good).ok(), Some(good.split('/').next()), "{good}");
        }
        for bad in [
            "",
            "/",
            "example.com/",
            "/cleanup",
            "Example.com/cleanup",
            "example..com/cleanup",
            "-example.com/cleanup",
            "example.com/clean/up",
            "example.com/clean up",
            "example.com/-cleanup",
            "example.com/cleanup_",
            "example.com/clé",
            &format!("{domain}a/x"),
            &format!("example.com/{name}N"),
        ] {
            assert!(domain_of(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_domain_may_be_missing() {
        assert_eq!(domain_of("Scaler_1"), Ok(None));
        assert_eq!(domain_of("example.com/scaler"), Ok(Some("example.com")));
    }
}
