//! The numbers that fit an `f64`, as serde_json decides.

use crate::invariant::cannot_happen;

/// The largest power of ten that fits an `f64`.
const LARGEST: i32 = 308;

/// Whether serde_json accepts this number. Its syntax is already checked.
///
/// serde_json keeps as many digits as fit a `u64` and multiplies them by a power of ten. Near the
/// largest `f64` the result is slightly off. This function takes the same steps, so that a number
/// that is kept as text can be decoded later.
pub(super) fn is_in_range(text: &[u8]) -> bool {
    let text = text.strip_prefix(b"-").unwrap_or(text);
    let (mantissa, exponent) = split(text, |byte| matches!(byte, b'e' | b'E'));
    let (integer, fraction) = split(mantissa, |byte| byte == b'.');
    let mut significand = 0_u64;
    let kept = append(&mut significand, integer);
    let mut scale = clamped(integer.len() - kept);
    scale -= clamped(append(&mut significand, fraction));
    let (down, digits) = match exponent.split_first() {
        Some((b'-', digits)) => (true, digits),
        Some((b'+', digits)) => (false, digits),
        _ => (false, exponent),
    };
    let mut exponent = 0_u64;
    let all = append(&mut exponent, digits) == digits.len();
    let exponent = i32::try_from(exponent).ok().filter(|_| all);
    let scale = match exponent {
        _ if significand == 0 => return true,
        Some(exponent) if down => scale.saturating_sub(exponent),
        Some(exponent) => scale.saturating_add(exponent),
        None => return down,
    };
    scale <= LARGEST && (scale < 0 || (significand as f64 * power_of_ten(scale)).is_finite())
}

/// Splits at the first byte that matches.
fn split(text: &[u8], at: impl Fn(u8) -> bool) -> (&[u8], &[u8]) {
    let mut parts = text.splitn(2, |byte| at(*byte));
    let before = parts.next();
    let before = before.unwrap_or_else(|| cannot_happen("a split without parts", text));
    (before, parts.next().unwrap_or_default())
}

/// Appends digits while they fit. Returns how many did.
fn append(number: &mut u64, digits: &[u8]) -> usize {
    let fits = |digit: &&u8| {
        let digit = u64::from(digit.wrapping_sub(b'0'));
        let next = number
            .checked_mul(10)
            .and_then(|ten| ten.checked_add(digit));
        *number = next.unwrap_or(*number);
        next.is_some()
    };
    digits.iter().take_while(fits).count()
}

fn clamped(count: usize) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}

fn power_of_ten(exponent: i32) -> f64 {
    let digit = |place: i32| b'0'.saturating_add((exponent / place % 10).unsigned_abs() as u8);
    let text = [b'1', b'e', digit(100), digit(10), digit(1)];
    let text = core::str::from_utf8(&text).ok();
    let power = text.and_then(|text| text.parse().ok());
    power.unwrap_or_else(|| cannot_happen("a power of ten that is not a number", f64::INFINITY))
}
