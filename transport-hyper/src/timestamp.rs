//! Points in time as Kubernetes writes them (RFC 3339).

use std::time::{Duration, SystemTime};

use jiff::fmt::temporal::Pieces;
use jiff::{SignedDuration, Timestamp, civil};

const DAY: i32 = 86_400;

/// Reads a time such as `2030-01-31T12:00:00Z`, `…00.25Z` or `…00+02:00`.
///
/// Times before 1970 become 1970: for a credential both mean that it has expired. The last day of the
/// year 9999, which often means "never", is beyond a [`Timestamp`], so this one counts from 1970 itself.
pub(crate) fn parse(text: &str) -> Option<SystemTime> {
    let pieces = Pieces::parse(text).ok().filter(|_| is_rfc_3339(text))?;
    let offset = pieces.to_numeric_offset()?.seconds();
    if offset.abs() >= DAY {
        return None;
    }
    let epoch = civil::date(1970, 1, 1).at(0, 0, 0, 0);
    let local = pieces
        .date()
        .to_datetime(pieces.time()?)
        .duration_since(epoch);
    let since = local - SignedDuration::from_secs(offset.into());
    SystemTime::UNIX_EPOCH.checked_add(Duration::try_from(since).unwrap_or_default())
}

/// Whether the digits are where RFC 3339 has them. `Pieces` also reads other forms, and leap seconds, which
/// kubectl refuses.
fn is_rfc_3339(text: &str) -> bool {
    let shape = text.replace(|c: char| c.is_ascii_digit(), "0");
    let Some(rest) = shape.strip_prefix("0000-00-00T00:00:00") else {
        return false;
    };
    let fraction = rest.strip_prefix('.');
    let zone = fraction.map_or(rest, |digits| digits.trim_start_matches('0'));
    matches!(zone, "Z" | "+00:00" | "-00:00") && !text.contains(":60")
}

/// Writes a time in UTC. `None` if it has no such form, as after the year 9999.
pub(crate) fn utc(seconds: u64) -> Option<String> {
    let timestamp = Timestamp::from_second(i64::try_from(seconds).ok()?);
    Some(timestamp.ok()?.to_string())
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
                "2030-01-31T12:00:00.123456789Z",
                (1_896_091_200, 123_456_789),
            ),
            ("2030-01-31T14:00:00+02:00", (1_896_091_200, 0)),
            ("2030-01-31T06:30:00-05:30", (1_896_091_200, 0)),
            ("9999-12-31T23:59:59Z", (253_402_300_799, 0)),
            ("9999-12-31T23:59:59-12:00", (253_402_343_999, 0)),
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
            "2030-01-31t12:00:00z",
            "20300131T120000Z",
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
            "2030-01-31T12:00:00Z[UTC]",
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
    fn times_are_written() {
        assert_eq!(utc(951_825_600).as_deref(), Some("2000-02-29T12:00:00Z"));
        assert_eq!(utc(253_402_300_800), None);
        assert_eq!(utc(u64::MAX), None);
    }
}
