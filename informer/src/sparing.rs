//! Not a line of the log for each of a thousand things.

use std::time::Duration;

use informer_core::Instant;

/// So many lines about the same thing are said in a minute.
const LINES: u32 = 10;
const MINUTE: Duration = Duration::from_secs(60);

/// Lines about the same thing. The first ones of a minute are said; how many were not is told with the
/// next one that is. Nothing is lost by that: there are counters and hooks.
#[derive(Default, Debug)]
pub(crate) struct Sparing {
    /// When the first line of this minute was said, and how many were said since.
    began: Option<Instant>,
    said: u32,
    unsaid: u64,
}

/// A line may be said.
#[derive(PartialEq, Eq, Debug)]
pub(crate) struct Say {
    /// How many were not said since the one before, if any.
    pub(crate) not_logged: Option<u64>,
}

impl Sparing {
    /// Whether one more line may be said. If not, it is counted.
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
    fn a_minute_begins_with_a_line_and_not_with_silence() {
        let mut sparing = Sparing::default();
        let at = |seconds: u64| Instant::from_micros(seconds * 1_000_000);
        let mut said = |seconds| (0..20).filter_map(|_| sparing.say(at(seconds))).count();
        assert_eq!(said(5), 10);
        assert_eq!(said(64), 0);
        assert_eq!(said(65), 10);
        // A clock that goes back does not begin a minute.
        assert_eq!(said(3), 0);
        assert_eq!(said(1_000), 10);
        let say = sparing.say(at(2_000));
        let not_logged = Some(10);
        assert_eq!(say, Some(Say { not_logged }));
        let not_logged = None;
        assert_eq!(sparing.say(at(2_000)), Some(Say { not_logged }));
    }
}
