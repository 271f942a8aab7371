//! How long a server asks to wait, in the header `Retry-After`.

use std::time::{Duration, SystemTime};

use http::{HeaderMap, header};
use jiff::Timestamp;
use jiff::fmt::rfc2822;

/// The wait that an answer asks for: a number of seconds, or a date. It may be centuries; the reflector
/// waits for five minutes at most.
///
/// A date is compared with the server's own clock, if the answer has it: the clock here may differ.
pub(crate) fn asked_wait(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name| headers.get(name)?.to_str().ok().map(str::trim);
    let asked = text(header::RETRY_AFTER)?;
    if let Ok(seconds) = asked.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let then = date(asked)?;
    let now = match text(header::DATE).and_then(date) {
        Some(date) => date,
        None => Timestamp::try_from(now).ok()?,
    };
    Some(Duration::try_from(then.duration_since(now)).unwrap_or_default())
}

/// An HTTP date. The two forms that have been obsolete since 1996 are not read.
fn date(text: &str) -> Option<Timestamp> {
    static PARSER: rfc2822::DateTimeParser = rfc2822::DateTimeParser::new();
    let is_http = text.ends_with(" GMT");
    PARSER.parse_timestamp(text).ok().filter(|_| is_http)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The wait in seconds, at noon of 2030-01-01.
    fn wait(asked: &str, date: Option<&str>) -> Option<u64> {
        let mut headers = HeaderMap::new();
        headers.insert(header::RETRY_AFTER, asked.parse().unwrap());
        if let Some(date) = date {
            headers.insert(header::DATE, date.parse().unwrap());
        }
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_893_499_200);
        asked_wait(&headers, now).map(|wait| wait.as_secs())
    }

    #[test]
    fn seconds() {
        assert_eq!(wait("0", None), Some(0));
        assert_eq!(wait(" 120 ", None), Some(120));
        assert_eq!(wait("18446744073709551615", None), Some(u64::MAX));
        for text in ["", "-1", "1.5", "1e9", "soon", "18446744073709551616"] {
            assert_eq!(wait(text, None), None, "{text}");
        }
        assert_eq!(asked_wait(&HeaderMap::new(), SystemTime::now()), None);
    }

    #[test]
    fn dates() {
        const SOON: &str = "Tue, 01 Jan 2030 12:00:30 GMT";
        assert_eq!(wait(SOON, None), Some(30));
        // The past means now.
        assert_eq!(wait("Mon, 31 Dec 2029 23:59:59 GMT", None), Some(0));
        // The clock of the server is ten seconds ahead.
        let date = Some("Tue, 01 Jan 2030 12:00:10 GMT");
        assert_eq!(wait(SOON, date), Some(20));
        assert_eq!(wait(SOON, Some("who knows")), Some(30));
        for text in [
            "Tue, 01 Jan 2030 12:00:30",
            "Tue, 01 Jan 2030 12:00:30 +0200",
            "Wed, 01 Jan 2030 12:00:30 GMT",
            "Tue, 32 Jan 2030 12:00:30 GMT",
            "Tuesday, 01-Jan-30 12:00:30 GMT",
            "2030-01-01T12:00:30Z",
        ] {
            assert_eq!(wait(text, None), None, "{text}");
        }
    }
}
