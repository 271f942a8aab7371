//! Parses field selectors.
//!
//! ```text
//! selector = [ term ] { "," [ term ] }
//! term     = field ( "=" | "==" | "!=" ) value
//! ```
//!
//! In a value, a backslash escapes `\`, `,` and `=`, and nothing else. The field name is everything up to
//! the first operator, including spaces and backslashes.

use alloc::string::String;
use alloc::vec::Vec;

use super::error::SelectorError;
use super::field::{FieldOperator, FieldRequirement};

/// All requirements, sorted by their text.
pub(super) fn parse(text: &str) -> Result<Vec<FieldRequirement>, SelectorError> {
    let mut terms = Vec::new();
    let mut at = 0;
    while let Some(rest) = text.get(at..) {
        let term = first_term(rest);
        if !term.is_empty() {
            terms.push((term, parse_term(term, at)?));
        }
        at += term.len() + 1;
    }
    terms.sort_by_key(|(term, _)| *term);
    let requirements = terms.into_iter().map(|(_, requirement)| requirement);
    // Like apimachinery, ignore a requirement without field and value.
    let has_text = |own: &FieldRequirement| !(own.field().is_empty() && own.value().is_empty());
    Ok(requirements.filter(has_text).collect())
}

/// The text up to the first comma that is not escaped.
fn first_term(text: &str) -> &str {
    let mut escaped = false;
    let comma = text.char_indices().find(|(_, c)| {
        let bare = !escaped;
        escaped = bare && *c == '\\';
        bare && *c == ','
    });
    let end = comma.map_or(text.len(), |(at, _)| at);
    text.get(..end).unwrap_or_default()
}

/// Parses the term that starts at this byte of the selector.
fn parse_term(term: &str, at: usize) -> Result<FieldRequirement, SelectorError> {
    let Some((left, right)) = term.split_once('=') else {
        return Err(SelectorError::Unexpected {
            found: term.into(),
            at,
            expected: "a field, `=` or `!=`, and a value",
        });
    };
    let (field, operator, value) = match left.strip_suffix('!') {
        Some(field) => (field, FieldOperator::NotEquals, right),
        None => {
            let value = right.strip_prefix('=').unwrap_or(right);
            (left, FieldOperator::Equals, value)
        }
    };
    let value = unescape(value, at + term.len() - value.len())?;
    Ok(FieldRequirement::new(field, operator, value))
}

/// Unescapes the value that starts at this byte of the selector.
fn unescape(text: &str, start: usize) -> Result<String, SelectorError> {
    let mut value = String::with_capacity(text.len());
    let mut characters = text.char_indices();
    while let Some((at, character)) = characters.next() {
        let unexpected = |found, expected| SelectorError::Unexpected {
            found,
            at: start + at,
            expected,
        };
        match character {
            '\\' => match characters.next() {
                Some((_, escaped @ ('\\' | ',' | '='))) => value.push(escaped),
                other => {
                    let found = [character].into_iter().chain(other.map(|(_, c)| c));
                    return Err(unexpected(
                        found.collect(),
                        r"`\` only before `\`, `,` and `=` in a value",
                    ));
                }
            },
            '=' => return Err(unexpected("=".into(), r"`\=` for a `=` in a value")),
            other => value.push(other),
        }
    }
    Ok(value)
}
