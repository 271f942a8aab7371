//! Parses label selectors.
//!
//! ```text
//! selector    = [ requirement { "," requirement } ]
//! requirement = key | "!" key
//!             | key ( "=" | "==" | "!=" | ">" | "<" ) [ value ]
//!             | key ( "in" | "notin" ) "(" [ value ] { "," [ value ] } ")"
//! ```

use alloc::vec;
use alloc::vec::Vec;

use super::error::SelectorError;
use super::label_requirement::{LabelOperator, LabelRequirement};

/// All requirements, in text order.
pub(super) fn parse(text: &str) -> Result<Vec<LabelRequirement>, SelectorError> {
    let mut tokens = Tokens { text, at: 0 };
    let mut requirements = Vec::new();
    if tokens.peek().is_end() {
        return Ok(requirements);
    }
    loop {
        requirements.push(parse_requirement(&mut tokens)?);
        let token = tokens.next();
        match token.text {
            "" => return Ok(requirements),
            "," => {}
            _ => return Err(token.unexpected("`,` or the end")),
        }
    }
}

fn parse_requirement(tokens: &mut Tokens<'_>) -> Result<LabelRequirement, SelectorError> {
    let first = tokens.next();
    let negated = first.text == "!";
    let key = if negated { tokens.next() } else { first };
    if !key.is_word() {
        let expected = if negated { "a key" } else { "a key or `!`" };
        return Err(key.unexpected(expected));
    }
    let (operator, values) = if negated {
        (LabelOperator::DoesNotExist, Vec::new())
    } else {
        parse_restriction(tokens)?
    };
    LabelRequirement::new(key.text, operator, values)
}

const AFTER_KEY: &str = "`in`, `notin`, `=`, `==`, `!=`, `>`, `<`, `,` or the end";

/// Parses what follows a key.
fn parse_restriction<'a>(
    tokens: &mut Tokens<'a>,
) -> Result<(LabelOperator, Vec<&'a str>), SelectorError> {
    let token = tokens.peek();
    let operator = match token.text {
        "" | "," => return Ok((LabelOperator::Exists, Vec::new())),
        "in" => LabelOperator::In,
        "notin" => LabelOperator::NotIn,
        "=" => LabelOperator::Equals,
        "==" => LabelOperator::DoubleEquals,
        "!=" => LabelOperator::NotEquals,
        ">" => LabelOperator::GreaterThan,
        "<" => LabelOperator::LessThan,
        _ => return Err(token.unexpected(AFTER_KEY)),
    };
    tokens.next();
    let values = match operator {
        LabelOperator::In | LabelOperator::NotIn => parse_list(tokens)?,
        _ => vec![parse_value(tokens)?],
    };
    Ok((operator, values))
}

fn parse_value<'a>(tokens: &mut Tokens<'a>) -> Result<&'a str, SelectorError> {
    let value = tokens.next_value();
    let behind = tokens.peek();
    if value.is_empty() && !matches!(behind.text, "" | ",") {
        return Err(behind.unexpected("a value, `,` or the end"));
    }
    Ok(value)
}

fn parse_list<'a>(tokens: &mut Tokens<'a>) -> Result<Vec<&'a str>, SelectorError> {
    let opening = tokens.next();
    if opening.text != "(" {
        return Err(opening.unexpected("`(`"));
    }
    let mut values = Vec::new();
    loop {
        let value = tokens.next_value();
        values.push(value);
        let token = tokens.next();
        match token.text {
            "," => {}
            ")" => return Ok(values),
            _ if value.is_empty() => return Err(token.unexpected("a value, `,` or `)`")),
            _ => return Err(token.unexpected("`,` or `)`")),
        }
    }
}

/// A symbol or a word. Words contain no symbols, so the first byte tells them apart.
#[derive(Clone, Copy)]
struct Token<'a> {
    /// Empty at the end.
    text: &'a str,
    at: usize,
}

impl Token<'_> {
    const fn is_end(self) -> bool {
        self.text.is_empty()
    }

    fn is_word(self) -> bool {
        self.text
            .bytes()
            .next()
            .is_some_and(|byte| !is_symbol(byte))
    }

    fn unexpected(self, expected: &'static str) -> SelectorError {
        SelectorError::Unexpected {
            found: self.text.into(),
            at: self.at,
            expected,
        }
    }
}

#[derive(Clone, Copy)]
struct Tokens<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Tokens<'a> {
    fn next(&mut self) -> Token<'a> {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let rest = rest.trim_start_matches(|c: char| u8::try_from(c).is_ok_and(is_white));
        let at = self.text.len() - rest.len();
        let length = match rest.as_bytes() {
            [b'=' | b'!', b'=', ..] => 2,
            [first, ..] if is_symbol(*first) => 1,
            bytes => bytes
                .iter()
                .position(|byte| *byte == 0 || is_symbol(*byte) || is_white(*byte))
                .unwrap_or(bytes.len()),
        };
        let (text, behind) = rest.split_at_checked(length).unwrap_or_default();
        self.at = at + length;
        // As in apimachinery, a NUL where a token should start ends the text (the token is empty, and
        // parsing stops there). A NUL right after a token only separates.
        if behind.starts_with('\0') {
            self.at += 1;
        }
        Token { text, at }
    }

    fn peek(&self) -> Token<'a> {
        let mut ahead = *self;
        ahead.next()
    }

    /// The next word, or the empty value if there is none.
    fn next_value(&mut self) -> &'a str {
        let token = self.peek();
        if token.is_word() {
            self.next().text
        } else {
            ""
        }
    }
}

const fn is_white(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}

const fn is_symbol(byte: u8) -> bool {
    matches!(byte, b'=' | b'!' | b'(' | b')' | b',' | b'>' | b'<')
}
