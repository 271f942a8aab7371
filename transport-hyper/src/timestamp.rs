//! Points in time as Kubernetes writes them (RFC 3339), without a library for calendars.

use std::time::{Duration, SystemTime};

const DAY: i64 = 86_400;
/// The last second of the year 9999.
const LAST: i64 = 253_402_300_799;

/// Reads a time such as `2030-01-31T12:00:00Z`, `…00.25Z` or `…00+02:00`.
///
/// Times before 1970 become 1970: for a credential both mean that it has expired.
pub(crate) fn parse(text: &str) -> Option<SystemTime> {
    let (date, rest) = text.split_once('T')?;
    let [year, month, day] = numbers(date, '-', [4, 2, 2])?;
    let (time, offset) = match rest.strip_suffix('Z') {
        Some(time) => (time, 0),
        None => {
            let at = rest.rfind(['+', '-'])?;
            let (time, offset) = rest.split_at(at);
            let [hours, minutes] = numbers(offset.get(1..)?, ':', [2, 2])?;
            if hours > 23 || minutes > 59 {
                return None;
            }
            let seconds = hours * 3600 + minutes * 60;
            let east = offset.starts_with('+');
            (time, if east { seconds } else { -seconds })
        }
    };
    let (time, nanos) = match time.split_once('.') {
        Some((time, fraction)) => (time, nanos(fraction)?),
        None => (time, 0),
    };
    let [hour, minute, second] = numbers(time, ':', [2, 2, 2])?;
    let is_time = hour <= 23 && minute <= 59 && second <= 59;
    if !(1..=12).contains(&month) || !(1..=days_in(year, month)).contains(&day) || !is_time {
        return None;
    }
    let days = days_since_1970(year, month, day);
    let seconds = days * DAY + hour * 3600 + minute * 60 + second - offset;
    let since = Duration::new(u64::try_from(seconds).unwrap_or(0), nanos);
    SystemTime::UNIX_EPOCH.checked_add(since)
}

/// Writes a time in UTC. `None` after the year 9999, which has no such form.
pub(crate) fn utc(seconds: u64) -> Option<String> {
    let seconds = i64::try_from(seconds).ok().filter(|it| *it <= LAST)?;
    let (days, second) = (seconds / DAY, seconds % DAY);
    // Never too late, and some years too early at most.
    let mut year = 1970 + days / 366;
    while days_since_1970(year + 1, 1, 1) <= days {
        year += 1;
    }
    let mut month = 1;
    while month < 12 && days_since_1970(year, month + 1, 1) <= days {
        month += 1;
    }
    let day = days - days_since_1970(year, month, 1) + 1;
    let (hour, minute) = (second / 3600, second / 60 % 60);
    Some(format!(
        "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{:02}Z",
        second % 60
    ))
}

/// Numbers of exactly these widths.
fn numbers<const N: usize>(text: &str, between: char, widths: [usize; N]) -> Option<[i64; N]> {
    let mut parts = text.split(between);
    let mut numbers = [0; N];
    for (number, width) in numbers.iter_mut().zip(widths) {
        let part = parts.next()?;
        if part.len() != width || !part.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        *number = part.parse().ok()?;
    }
    parts.next().is_none().then_some(numbers)
}

/// The digits behind the point. Those beyond nanoseconds are left out.
fn nanos(fraction: &str) -> Option<u32> {
    if fraction.is_empty() || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let digits = fraction.get(..9).unwrap_or(fraction);
    format!("{digits:0<9}").parse().ok()
}

const fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

const fn days_in(year: i64, month: i64) -> i64 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days from the beginning of 1970; negative before it. Months count from March, so that a leap day is
/// the last of its year.
const fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    year * 365 + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + of_year
        - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unix(text: &str) -> Option<(u64, u32)> {
        let since = parse(text)?.duration_since(SystemTime::UNIX_EPOCH).ok()?;
        Some((since.as_secs(), since.subsec_nanos()))
    }

    #[test]
    fn times_are_read() {
        for (text, expected) in [
            ("1970-01-01T00:00:00Z", (0, 0)),
            ("2000-02-29T12:00:00Z", (951_825_600, 0)),
            ("2030-01-31T12:00:00Z", (1_896_091_200, 0)),
            ("2030-01-31T12:00:00.25Z", (1_896_091_200, 250_000_000)),
            (
                "2030-01-31T12:00:00.1234567899Z",
                (1_896_091_200, 123_456_789),
            ),
            ("2030-01-31T14:00:00+02:00", (1_896_091_200, 0)),
            ("2030-01-31T06:30:00-05:30", (1_896_091_200, 0)),
            ("9999-12-31T23:59:59Z", (253_402_300_799, 0)),
            ("1969-12-31T23:59:59Z", (0, 0)),
            ("0001-01-01T00:00:00Z", (0, 0)),
        ] {
            assert_eq!(unix(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for text in [
            "",
            "T",
            "soon",
            "2030-01-31",
            "2030-01-31T12:00:00",
            "2030-01-31 12:00:00Z",
            "2030-1-31T12:00:00Z",
            "2030-13-01T12:00:00Z",
            "2030-00-01T12:00:00Z",
            "2030-01-00T12:00:00Z",
            "2030-04-31T12:00:00Z",
            "2030-02-29T12:00:00Z",
            "2100-02-29T12:00:00Z",
            "2030-01-31T24:00:00Z",
            "2030-01-31T12:60:00Z",
            "2030-01-31T12:00:60Z",
            "2030-01-31T12:00Z",
            "2030-01-31T12:00:00.Z",
            "2030-01-31T12:00:00.xZ",
            "2030-01-31T12:00:00+24:00",
            "2030-01-31T12:00:00+02",
            "2030-01-31T12:00:00+",
            "+030-01-31T12:00:00Z",
            "2030-01-31T12:00:00é",
            "12030-01-31T12:00:00Z",
        ] {
            assert_eq!(unix(text), None, "{text}");
        }
    }

    #[test]
    fn every_day_of_eight_centuries_is_written_and_read_back() {
        for day in 0..365 * 830 {
            let seconds = day * 86_400 + day % 86_400;
            let text = utc(seconds).unwrap();
            assert_eq!(unix(&text), Some((seconds, 0)), "{text}");
        }
    }

    #[test]
    fn times_are_written() {
        assert_eq!(utc(951_825_600).as_deref(), Some("2000-02-29T12:00:00Z"));
        let last = Some("9999-12-31T23:59:59Z");
        assert_eq!(utc(253_402_300_799).as_deref(), last);
        assert_eq!(utc(253_402_300_800), None);
        assert_eq!(utc(u64::MAX), None);
    }
}
