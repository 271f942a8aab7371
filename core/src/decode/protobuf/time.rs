//! Points in time, as text.

/// The length of `2006-01-02T15:04:05Z`.
const LENGTH: usize = 20;

const DAY: u64 = 24 * 60 * 60;

/// The first second of the year 0, counted from 1970.
const FIRST: i64 = -62_167_219_200;

/// The first second of the year 10000.
const END: i64 = 253_402_300_800;

/// A point in time as JSON has it: in UTC, in seconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct TimeText([u8; LENGTH]);

impl TimeText {
    /// The text of this many seconds after the start of 1970; `None` outside of the years 0 to 9999, which
    /// the text cannot express.
    pub(super) fn new(seconds: i64) -> Option<Self> {
        if !(FIRST..END).contains(&seconds) {
            return None;
        }
        let seconds = (seconds - FIRST).cast_unsigned();
        let (year, month, day) = date((seconds / DAY) as u32);
        let time = (seconds % DAY) as u32;
        let [c, y, m, d] = digits([year / 100, year % 100, month, day]);
        let [h, i, s, _] = digits([time / 3600, time / 60 % 60, time % 60, 0]);
        Some(Self([
            c[0], c[1], y[0], y[1], b'-', m[0], m[1], b'-', d[0], d[1], b'T', h[0], h[1], b':',
            i[0], i[1], b':', s[0], s[1], b'Z',
        ]))
    }

    /// ASCII.
    pub(super) const fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

/// The two digits of each of four numbers below 100. All four are divided by ten at once, in 16 bits each.
fn digits(numbers: [u32; 4]) -> [[u8; 2]; 4] {
    const TENS: u64 = 0x000f_000f_000f_000f;
    const ZEROS: u64 = u64::from_ne_bytes([b'0'; 8]);
    let [a, b, c, d] = numbers.map(u64::from);
    let all = a | b << 16 | c << 32 | d << 48;
    // Below 100, 103 / 1024 is as good as a tenth.
    let tens = ((all * 103) >> 10) & TENS;
    let digits = (tens | (all - tens * 10) << 8) + ZEROS;
    let [a, b, c, d, e, f, g, h] = digits.to_le_bytes();
    [[a, b], [c, d], [e, f], [g, h]]
}

/// Year, month and day of the Gregorian calendar. The year is counted from March, so that the leap day
/// is its last day. All numbers are positive, which makes divisions cheap.
const fn date(days_since_year_0: u32) -> (u32, u32, u32) {
    const PER_400_YEARS: u32 = 146_097;
    const PER_4_YEARS: u32 = 1461;
    const DAYS_TO_MARCH: u32 = 60;
    // January and February of the year 0 belong to the 400 years before.
    let days = days_since_year_0 + PER_400_YEARS - DAYS_TO_MARCH;
    // A day is counted as four quarters, so that centuries and years have a whole number of them. Its last
    // quarter decides where the day belongs.
    let quarters = 4 * days + 3;
    let (century, quarters) = (quarters / PER_400_YEARS, (quarters % PER_400_YEARS) | 3);
    let (year, day) = (quarters / PER_4_YEARS, quarters % PER_4_YEARS / 4);
    // The lengths of the months repeat every five months, which have 153 days. March is month 3.
    let fifths = 5 * day + 461;
    let (month, day) = (fifths / 153, fifths % 153 / 5 + 1);
    let (month, next) = if month > 12 {
        (month - 12, 1)
    } else {
        (month, 0)
    };
    (100 * century + year + next - 400, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::String;

    fn text(seconds: i64) -> Option<String> {
        let text = TimeText::new(seconds)?;
        String::from_utf8(text.as_bytes().into()).ok()
    }

    #[test]
    fn known_times() {
        for (seconds, expected) in [
            (0, "1970-01-01T00:00:00Z"),
            (-1, "1969-12-31T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_136_214_245, "2006-01-02T15:04:05Z"),
            (1_709_251_199, "2024-02-29T23:59:59Z"),
            (4_107_542_399, "2100-02-28T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
            (FIRST, "0000-01-01T00:00:00Z"),
            (END - 1, "9999-12-31T23:59:59Z"),
        ] {
            assert_eq!(text(seconds).as_deref(), Some(expected));
        }
        for beyond in [FIRST - 1, END, i64::MIN, i64::MAX] {
            assert_eq!(text(beyond), None);
        }
    }

    #[test]
    fn every_day_of_800_years_follows_the_day_before() {
        const LENGTHS: [u32; 12] = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
        let (mut year, mut month, mut day) = (0, 1, 1);
        for days in 0..292_194 {
            assert_eq!(date(days), (year, month, day));
            let leap = month == 2 && year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
            let length = LENGTHS.iter().zip(1..).find(|(_, number)| *number == month);
            let length = length.map_or(0, |(length, _)| length + u32::from(leap));
            day += 1;
            if day > length {
                (month, day) = (month + 1, 1);
            }
            if month > 12 {
                (year, month) = (year + 1, 1);
            }
        }
    }
}
