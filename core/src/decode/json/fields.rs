//! Fields by path, in JSON text.

use super::text::{JsonCursor, JsonKind, MAX_DEPTH, TextError, last_member};
use crate::decode::fields::{Scalar, Step};
use crate::invariant::cannot_happen;

/// Calls `visit` with every scalar at the end of the path. The text was checked when the body was
/// made.
pub(in crate::decode) fn each_in_text(
    json: &str,
    steps: &[Step],
    visit: &mut dyn FnMut(Scalar<'_>),
) {
    if in_text(json.as_bytes(), steps, visit).is_err() {
        cannot_happen("a body that is not valid JSON", ());
    }
}

/// Walks down one value. If a member is repeated, the last one counts.
fn in_text(
    json: &[u8],
    steps: &[Step],
    visit: &mut dyn FnMut(Scalar<'_>),
) -> Result<(), TextError> {
    let mut cursor = JsonCursor::new(json);
    let kind = cursor.kind()?;
    match (steps, kind) {
        ([], JsonKind::Null) => visit(Scalar::Null),
        ([], JsonKind::Bool) => visit(Scalar::Bool(cursor.bool()?)),
        ([], JsonKind::Number) => visit(Scalar::Number(cursor.number()?.into())),
        ([], JsonKind::String) => visit(Scalar::Text(cursor.string()?.to_cow())),
        ([Step::Member(name), steps @ ..], JsonKind::Object) => {
            if let Some(value) = last_member(json, name)? {
                in_text(value, steps, visit)?;
            }
        }
        ([Step::Each, steps @ ..], JsonKind::Array) => {
            let mut elements = cursor.enter_array(MAX_DEPTH)?;
            while elements.next(&mut cursor)? {
                in_text(cursor.skip_extent()?, steps, visit)?;
            }
        }
        _ => {}
    }
    Ok(())
}
