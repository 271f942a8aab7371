//! Times in objects, with microseconds.

use std::time::SystemTime;

use jiff::Timestamp;

/// A `MicroTime`, such as `2025-01-02T03:04:05.678901Z`.
pub(crate) fn micro_time(time: SystemTime) -> String {
    let time = Timestamp::try_from(time).unwrap_or(Timestamp::UNIX_EPOCH);
    format!("{time:.6}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn known_times() {
        for (micros, text) in [
            (0, "1970-01-01T00:00:00.000000Z"),
            (951_868_799_999_999, "2000-02-29T23:59:59.999999Z"),
            (1_735_786_245_678_901, "2025-01-02T02:50:45.678901Z"),
        ] {
            let time = SystemTime::UNIX_EPOCH + Duration::from_micros(micros);
            assert_eq!(micro_time(time), text);
        }
    }
}
