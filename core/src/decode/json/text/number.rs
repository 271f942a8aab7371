//! Which numbers an `f64` can hold, judged as serde_json does.

/// The largest power of ten that is an `f64`.
const LARGEST: i32 = 308;

/// Whether serde_json takes this number, which is one by its syntax.
///
/// serde_json keeps as many digits as a `u64` holds and multiplies by a power of ten. At the edge of
/// what an `f64` can hold, that is a little more or less than the number itself, so its steps are
/// followed here: what is accepted and kept as text must not be refused when it is decoded.
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

/// What stands before and behind the first byte of a kind.
fn split(text: &[u8], at: impl Fn(u8) -> bool) -> (&[u8], &[u8]) {
    let end = text.iter().position(|byte| at(*byte)).unwrap_or(text.len());
    let (before, behind) = text.split_at_checked(end).unwrap_or((text, &[]));
    (before, behind.get(1..).unwrap_or_default())
}

/// Appends digits as long as they fit; says how many did.
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
    let text = core::str::from_utf8(&text).unwrap_or_default();
    text.parse().unwrap_or(f64::INFINITY)
}
