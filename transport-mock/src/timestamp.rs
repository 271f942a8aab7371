//! Wall-clock time in objects.

use core::fmt;
use core::time::Duration;

/// Seconds since 1970 without leap seconds, as in `creationTimestamp`.
///
/// ```
/// use informer_transport_mock::Timestamp;
///
/// assert_eq!(Timestamp::from_unix(1_735_689_600).to_string(), "2025-01-01T00:00:00Z");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Timestamp(u64);

const DAY: u64 = 86_400;

impl Timestamp {
    /// The time `seconds` after the beginning of 1970.
    #[must_use]
    pub const fn from_unix(seconds: u64) -> Self {
        Self(seconds)
    }

    /// Seconds since the beginning of 1970.
    #[must_use]
    pub const fn as_unix(self) -> u64 {
        self.0
    }

    /// The time `duration` later, in whole seconds.
    #[must_use]
    pub const fn after(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(duration.as_secs()))
    }

    /// Parses the format that [`Display`](fmt::Display) writes; `None` for anything else.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (date, time) = text.strip_suffix('Z')?.split_once('T')?;
        let mut date = date.splitn(3, '-').map(str::parse::<u64>);
        let mut time = time.splitn(3, ':').map(str::parse::<u64>);
        let (year, month, day) = (date.next()?.ok()?, date.next()?.ok()?, date.next()?.ok()?);
        let (hour, minute, second) = (time.next()?.ok()?, time.next()?.ok()?, time.next()?.ok()?);
        if !(1970..=9999).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day)
        {
            return None;
        }
        let days = days_before_year(year) + days_before_month(year, month) + day - 1;
        Some(Self(days * DAY + hour * 3600 + minute * 60 + second))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (mut days, seconds) = (self.0 / DAY, self.0 % DAY);
        // The first guess is never too late and at most two steps too early.
        let mut year = 1970 + days / 366;
        while days_before_year(year + 1) <= days {
            year += 1;
        }
        days -= days_before_year(year);
        let month = (2..=12)
            .rev()
            .find(|month| days_before_month(year, *month) <= days)
            .unwrap_or(1);
        let day = days - days_before_month(year, month) + 1;
        let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        write!(
            f,
            "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z"
        )
    }
}

/// Days from the beginning of 1970 to the beginning of `year`.
const fn days_before_year(year: u64) -> u64 {
    let leaps = (year - 1) / 4 - (year - 1) / 100 + (year - 1) / 400;
    (year - 1970) * 365 + leaps - 477
}

const fn is_leap(year: u64) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
}

/// Days from the beginning of `year` to the beginning of its `month`.
const fn days_before_month(year: u64, month: u64) -> u64 {
    let days = match month {
        1 => 0,
        2 => 31,
        3 => 59,
        4 => 90,
        5 => 120,
        6 => 151,
        7 => 181,
        8 => 212,
        9 => 243,
        10 => 273,
        11 => 304,
        _ => 334,
    };
    days + (month > 2 && is_leap(year)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_dates() {
        for (unix, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (951_868_799, "2000-02-29T23:59:59Z"),
            (951_868_800, "2000-03-01T00:00:00Z"),
            (1_709_164_800, "2024-02-29T00:00:00Z"),
            (1_735_689_599, "2024-12-31T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(Timestamp::from_unix(unix).to_string(), text);
            assert_eq!(Timestamp::parse(text), Some(Timestamp::from_unix(unix)));
        }
    }

    #[test]
    fn every_day_of_a_century_is_read_back() {
        for day in 0..36_525 {
            let time = Timestamp::from_unix(day * DAY + 3_723);
            assert_eq!(Timestamp::parse(&time.to_string()), Some(time));
        }
    }

    #[test]
    fn other_texts_are_refused() {
        for text in [
            "",
            "2025-01-01",
            "2025-01-01T00:00:00",
            "2025-13-01T00:00:00Z",
            "x",
        ] {
            assert_eq!(Timestamp::parse(text), None);
        }
    }
}
