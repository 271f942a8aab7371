//! A rate limit for log lines.

use std::time::Duration;

use informer_core::Instant;

/// How many lines about the same thing are logged per minute.
const LINES: u32 = 10;
const MINUTE: Duration = Duration::from_secs(60);

/// Limits log lines about the same thing. The first lines of each minute are logged, and the next logged
/// line says how many were skipped. Counters and hooks still see every event.
#[derive(Default, Debug)]
pub(crate) struct Sparing {
    /// When the first line of this minute was logged.
    began: Option<Instant>,
    said: u32,
    unsaid: u64,
}

/// Permission to log a line.
#[derive(PartialEq, Eq, Debug)]
pub(crate) struct Say {
    /// How many lines were skipped since the previous one, if any.
    pub(crate) not_logged: Option<u64>,
}

impl Sparing {
    /// Whether to log one more line. Counts the line as skipped if not.
    pub(crate) fn say(&mut self, now: Instant) -> Option<Say> {
        let began = *self.began.get_or_insert(now);
        if now.since(began) >= MINUTE {
            self.began = Some(now);
            self.said = 0;
        }
        if self.said == LINES {
            self.unsaid += 1;
            return None;
        }
        self.said += 1;
        let unsaid = std::mem::take(&mut self.unsaid);
        Some(Say {
            not_logged: (unsaid > 0).then_some(unsaid),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_minute_starts_with_its_first_line() {
        let mut sparing = Sparing::default();
        let at = |seconds: u64| Instant::from_micros(seconds * 1_000_000);
        let mut said = |seconds| (0..20).filter_map(|_| sparing.say(at(seconds))).count();
        assert_eq!(said(5), 10);
        assert_eq!(said(64), 0);
        assert_eq!(said(65), 10);
        // A clock that goes back does not start a new minute.
        assert_eq!(said(3), 0);
        assert_eq!(said(1_000), 10);
        let say = sparing.say(at(2_000));
        let not_logged = Some(10);
        assert_eq!(say, Some(Say { not_logged }));
        let not_logged = None;
        assert_eq!(sparing.say(at(2_000)), Some(Say { not_logged }));
    }
}
