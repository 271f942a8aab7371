//! Scripts of faults over HTTP.

use std::error::Error;
use std::fmt;
use std::str::{FromStr, SplitWhitespace};
use std::time::Duration;

use crate::status::Reason;

/// A script of faults over HTTP, one per line. `#` begins a comment.
///
/// ```text
/// after 3 requests  refuse 2 429      # requests 4 and 5 are answered with 429
/// after 10 events   reset             # the next event or body is sent by half, then the connection breaks
/// after 20 events   stall             # the next event or body never comes; the connection stays
/// after 30 events   delay 250ms       # the next event or body comes late
/// at 5s             expire            # no watch can be opened from an older version
/// at 6s             compact           # no older version can be listed
/// at 7s             restart           # all watches are cut, and the changes up to here are forgotten
/// at 8s             drop-bookmarks    # from now on, that of the end of a streamed list included
/// ```
///
/// Only requests for objects count, discovery does not. Events of all watches count. Times begin at
/// the start of the server.
///
/// ```
/// use informer_transport_mock::http::faults::FaultScript;
///
/// assert!("after 3 requests refuse 2 429".parse::<FaultScript>().is_ok());
///
/// let error = "at 5s restart\nat noon reset".parse::<FaultScript>().unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "line 2: \"noon\" is not a time: write it as 250ms or 5s"
/// );
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FaultScript(pub(super) Vec<Fault>);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Fault {
    pub(super) when: When,
    pub(super) what: What,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum When {
    At(Duration),
    AfterRequests(u64),
    AfterEvents(u64),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum What {
    Refuse { times: u32, reason: Reason },
    Spoil(Mishap),
    Expire,
    Compact,
    Restart,
    DropBookmarks,
}

/// What happens to the next event or body.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Mishap {
    Reset,
    Stall,
    Delay(Duration),
}

/// A fault script that cannot be parsed: the line, the word, and what should be there.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct FaultScriptError {
    /// The line, from 1.
    pub line: usize,
    /// The unexpected word; empty if the line ends too early.
    pub word: String,
    expected: &'static str,
}

impl fmt::Display for FaultScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            line,
            word,
            expected,
        } = self;
        match word.as_str() {
            "" => write!(f, "line {line}: it ends too early: {}", remedy(expected)),
            _ => write!(f, "line {line}: {word:?} {expected}"),
        }
    }
}

impl Error for FaultScriptError {}

impl FromStr for FaultScript {
    type Err = FaultScriptError;

    fn from_str(text: &str) -> Result<Self, FaultScriptError> {
        let mut faults = Vec::new();
        for (n, line) in text.lines().enumerate() {
            let rule = line.split('#').next().unwrap_or_default();
            if !rule.trim().is_empty() {
                let mut words = Words(rule.split_whitespace());
                let fault =
                    words
                        .fault()
                        .map_err(|Unread { word, expected }| FaultScriptError {
                            line: n + 1,
                            word,
                            expected,
                        })?;
                faults.push(fault);
            }
        }
        Ok(Self(faults))
    }
}

/// What to write instead: the part of `expected` after the complaint.
fn remedy(expected: &str) -> &str {
    expected
        .split_once(": ")
        .map_or(expected, |(_, remedy)| remedy)
}

/// The remaining words of a line.
struct Words<'a>(SplitWhitespace<'a>);

/// A word that cannot be parsed, and why.
struct Unread {
    word: String,
    expected: &'static str,
}

const WHEN: &str = "is not a trigger: begin with `at TIME`, `after N requests` or `after N events`";
const WHAT: &str =
    "is not a fault: use refuse, reset, stall, delay, expire, compact, restart or drop-bookmarks";
const TIME: &str = "is not a time: write it as 250ms or 5s";
const NUMBER: &str = "is not a number: write it in digits";
const COUNTED: &str = "cannot be counted: use requests or events";
const CODE: &str =
    "is not a supported code: use 400, 401, 403, 404, 409, 410, 422, 429, 500, 503 or 504";
const NOTHING: &str = "is not expected: end the line before it";

impl<'a> Words<'a> {
    fn fault(&mut self) -> Result<Fault, Unread> {
        let when = match self.next() {
            "at" => When::At(self.time()?),
            "after" => {
                let count = self.number()?;
                match self.next() {
                    "request" | "requests" => When::AfterRequests(count),
                    "event" | "events" => When::AfterEvents(count),
                    word => return Err(unread(word, COUNTED)),
                }
            }
            word => return Err(unread(word, WHEN)),
        };
        let what = match self.next() {
            "refuse" => What::Refuse {
                times: self.number()?,
                reason: self.reason()?,
            },
            "reset" => What::Spoil(Mishap::Reset),
            "stall" => What::Spoil(Mishap::Stall),
            "delay" => What::Spoil(Mishap::Delay(self.time()?)),
            "expire" => What::Expire,
            "compact" => What::Compact,
            "restart" => What::Restart,
            "drop-bookmarks" => What::DropBookmarks,
            word => return Err(unread(word, WHAT)),
        };
        match self.next() {
            "" => Ok(Fault { when, what }),
            word => Err(unread(word, NOTHING)),
        }
    }

    /// The next word; empty at the end.
    fn next(&mut self) -> &'a str {
        self.0.next().unwrap_or_default()
    }

    fn number<N: FromStr>(&mut self) -> Result<N, Unread> {
        let word = self.next();
        word.parse().map_err(|_| unread(word, NUMBER))
    }

    fn time(&mut self) -> Result<Duration, Unread> {
        let word = self.next();
        let (digits, unit): (_, fn(u64) -> Duration) = match word.strip_suffix("ms") {
            Some(digits) => (digits, Duration::from_millis),
            None => (
                word.strip_suffix('s').unwrap_or_default(),
                Duration::from_secs,
            ),
        };
        digits.parse().map(unit).map_err(|_| unread(word, TIME))
    }

    fn reason(&mut self) -> Result<Reason, Unread> {
        let word = self.next();
        Ok(match word {
            "400" => Reason::BadRequest,
            "401" => Reason::Unauthorized,
            "403" => Reason::Forbidden,
            "404" => Reason::NotFound,
            "409" => Reason::Conflict,
            "410" => Reason::Expired,
            "422" => Reason::Invalid,
            "429" => Reason::TooManyRequests,
            "500" => Reason::InternalError,
            "503" => Reason::ServiceUnavailable,
            "504" => Reason::Timeout,
            _ => return Err(unread(word, CODE)),
        })
    }
}

fn unread(word: &str, expected: &'static str) -> Unread {
    Unread {
        word: word.to_owned(),
        expected,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fault_is_read() {
        let script = "
            # nothing
            after 3 requests refuse 2 429 # twice
            after 1 event reset
            at 250ms stall
            at 5s delay 1s
            at 0s expire
            at 0s compact
            at 0s restart
            at 0s drop-bookmarks";
        let at = |seconds| When::At(Duration::from_secs(seconds));
        let expected = [
            (
                When::AfterRequests(3),
                What::Refuse {
                    times: 2,
                    reason: Reason::TooManyRequests,
                },
            ),
            (When::AfterEvents(1), What::Spoil(Mishap::Reset)),
            (
                When::At(Duration::from_millis(250)),
                What::Spoil(Mishap::Stall),
            ),
            (at(5), What::Spoil(Mishap::Delay(Duration::from_secs(1)))),
            (at(0), What::Expire),
            (at(0), What::Compact),
            (at(0), What::Restart),
            (at(0), What::DropBookmarks),
        ];
        let expected = expected.map(|(when, what)| Fault { when, what });
        assert_eq!(script.parse(), Ok(FaultScript(expected.to_vec())));
    }

    #[test]
    fn errors_name_the_word_that_is_wrong() {
        for (line, word) in [
            ("soon reset", "soon"),
            ("at", ""),
            ("at 5 reset", "5"),
            ("at 5m reset", "5m"),
            ("after x events reset", "x"),
            ("after 5 pods reset", "pods"),
            ("at 5s explode", "explode"),
            ("at 5s", ""),
            ("at 5s refuse 2", ""),
            ("at 5s refuse -1 429", "-1"),
            ("at 5s refuse 2 418", "418"),
            ("at 5s reset now", "now"),
        ] {
            let error = format!("\n{line}").parse::<FaultScript>().unwrap_err();
            assert_eq!((error.line, error.word.as_str()), (2, word), "{error}");
            assert!(error.to_string().starts_with("line 2: "), "{error}");
        }
        let error = "at 5s".parse::<FaultScript>().unwrap_err().to_string();
        assert_eq!(
            error,
            "line 1: it ends too early: use refuse, reset, stall, delay, expire, compact, restart or drop-bookmarks"
        );
    }
}
