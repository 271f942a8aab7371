//! Who held a Lease, and when a replica said that it leads: the checks of elections. All times are
//! microseconds of the wall clock of this machine.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;

use crate::Outcome;

/// How far the wall clock may drift from the steady clock in a few seconds.
const DRIFT: u64 = 5_000;

/// How the names of electors of client-go begin.
pub const CLIENT_GO: &str = "client-go";

/// What a Lease said after a write.
#[derive(Clone, PartialEq, Eq, Debug)]
#[expect(clippy::exhaustive_structs, reason = "public fields are its interface")]
pub struct Held {
    /// Who held it; empty if it was given up.
    pub holder: String,
    /// When the holder renewed it, by its own words, which are older than the write.
    pub renewed: u64,
    /// For how long.
    pub lasts: u64,
    /// When a watch showed it.
    pub seen: u64,
    /// Who wrote it, by the name that the server notes (`managedFields`).
    pub writer: String,
}

/// A replica said yes. It read its clock in between.
#[derive(Clone, PartialEq, Eq, Debug)]
#[expect(clippy::exhaustive_structs, reason = "public fields are its interface")]
pub struct Said {
    /// The name of the replica.
    pub replica: String,
    /// Before it was asked.
    pub from: u64,
    /// After it had answered.
    pub to: u64,
}

impl Held {
    /// Reads a Lease that was seen at this time.
    ///
    /// # Errors
    /// It is not one that an elector has written.
    pub fn read(lease: &Value, seen: u64) -> Outcome<Self> {
        let spec = |name: &str| lease.get("spec").and_then(|spec| spec.get(name));
        let renewed = spec("renewTime").and_then(Value::as_str);
        let renewed: Timestamp = renewed.ok_or("a Lease without renewTime")?.parse()?;
        let lasts = spec("leaseDurationSeconds").and_then(Value::as_u64);
        let holder = spec("holderIdentity").and_then(Value::as_str);
        Ok(Self {
            holder: holder.unwrap_or_default().to_owned(),
            renewed: u64::try_from(renewed.as_microsecond())?,
            lasts: lasts.ok_or("a Lease without leaseDurationSeconds")? * 1_000_000,
            seen,
            writer: writer(lease),
        })
    }

    /// Whether this gives up what another one held. By their source, electors of client-go may do that: one
    /// that was stopped and continues reads the Lease, but looks at what it knew before.
    #[must_use]
    pub fn is_usurped(&self, before: &Self) -> bool {
        let is_given_up = self.holder.is_empty() && !before.holder.is_empty();
        is_given_up && self.writer.starts_with(CLIENT_GO) && self.writer != before.holder
    }
}

/// The manager that wrote `renewTime`.
fn writer(lease: &Value) -> String {
    let managers = lease.pointer("/metadata/managedFields");
    let managers = managers.and_then(Value::as_array).into_iter().flatten();
    let mut owners = managers.filter(|one| one.pointer("/fieldsV1/f:spec/f:renewTime").is_some());
    let name = owners.next().and_then(|one| one.get("manager"));
    name.and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// How often one gave up what another one held.
#[must_use]
pub fn usurped(history: &[Held]) -> usize {
    let pairs = history.iter().zip(history.iter().skip(1));
    pairs
        .filter(|(before, next)| next.is_usurped(before))
        .count()
}

/// How often another one began.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "public fields are its interface")]
pub struct Turns {
    /// How often.
    pub changes: usize,
    /// How early client-go began at most, because it compares whole seconds: it does not notice a renewal in
    /// the same second as the one before.
    pub early: Duration,
}

/// Checks that the time of each holder had ended before the next one began.
///
/// # Errors
/// One was too early.
pub fn in_turn(history: &[Held]) -> Outcome<Turns> {
    let mut turns = Turns::default();
    for (at, next) in history.iter().enumerate().skip(1) {
        let (past, _) = history.split_at(at);
        let Some(before) = past.last() else { continue };
        if next.holder == before.holder || next.holder.is_empty() {
            continue;
        }
        turns.changes += 1;
        if before.holder.is_empty() {
            continue;
        }
        let end = before.renewed + before.lasts;
        let noticed = match next.holder.starts_with(CLIENT_GO) {
            true => noticed_by_client_go(past, before),
            false => before.renewed,
        };
        if next.renewed < noticed + before.lasts {
            let early = Duration::from_micros(end - next.renewed);
            return Err(format!("{next:?} began {early:?} before the end of {before:?}").into());
        }
        let early = Duration::from_micros(end.saturating_sub(next.renewed));
        turns.early = turns.early.max(early);
    }
    Ok(turns)
}

/// When the last renewal was made that an elector of client-go can tell from the one before it.
fn noticed_by_client_go(past: &[Held], last: &Held) -> u64 {
    let is_same = |held: &&Held| {
        held.holder == last.holder && held.renewed / 1_000_000 == last.renewed / 1_000_000
    };
    let same = past.iter().rev().take_while(is_same);
    same.map(|held| held.renewed).min().unwrap_or(last.renewed)
}

/// Checks what a replica said against the history: it held the Lease, had renewed it within the deadline, and
/// nobody else had it since, unless it was [usurped](Held::is_usurped): it learns of that with its next renewal,
/// and until then its deadline counts. Returns how long after the renewal that was.
///
/// # Errors
/// It should have said no.
pub fn rightly(said: &Said, history: &[Held], deadline: Duration) -> Outcome<Duration> {
    let is_own = |held: &Held| held.holder == said.replica && held.renewed <= said.to;
    let own = history.iter().rposition(is_own);
    let own = own.ok_or_else(|| format!("{said:?}, but it never held the Lease"))?;
    let (until, after) = history.split_at(own + 1);
    let renewed = until.last().map_or(0, |held| held.renewed);
    let since = Duration::from_micros(said.from.saturating_sub(renewed));
    if since >= deadline + Duration::from_micros(DRIFT) {
        return Err(format!("{said:?}, {since:?} after its last renewal").into());
    }
    let last = after.iter().position(|held| held.holder != said.replica);
    let is_usurped = last.is_some_and(|at| {
        let before = history.get(own + at);
        before
            .zip(after.get(at))
            .is_some_and(|(before, next)| next.is_usurped(before))
    });
    let other = last.and_then(|at| after.get(at)).filter(|_| !is_usurped);
    if let Some(other) = other.filter(|held| held.seen <= said.from) {
        return Err(format!("{said:?}, but before that came {other:?}").into());
    }
    Ok(since)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const SECOND: u64 = 1_000_000;
    const DEADLINE: Duration = Duration::from_secs(3);

    fn held(holder: &str, renewed: u64) -> Held {
        let lasts = if holder.is_empty() { 1 } else { 4 };
        Held {
            holder: holder.to_owned(),
            renewed: renewed * SECOND,
            lasts: lasts * SECOND,
            seen: renewed * SECOND + 10,
            writer: holder.to_owned(),
        }
    }

    fn said(replica: &str, at: u64) -> Said {
        Said {
            replica: replica.to_owned(),
            from: at * SECOND,
            to: at * SECOND + 5,
        }
    }

    #[test]
    fn leases_are_read() -> Outcome {
        let lease = json!({"spec": {
            "holderIdentity": "a", "leaseDurationSeconds": 4, "renewTime": "1970-01-01T00:00:02.000001Z",
        }, "metadata": {"managedFields": [
            {"manager": "kubectl", "fieldsV1": {"f:metadata": {}}},
            {"manager": "client-go-7", "fieldsV1": {"f:spec": {"f:renewTime": {}}}},
        ]}});
        let read = Held::read(&lease, 7)?;
        assert_eq!(read.renewed, 2 * SECOND + 1);
        assert_eq!((read.lasts, read.seen), (4 * SECOND, 7));
        assert_eq!(read.writer, "client-go-7");
        assert!(Held::read(&json!({"spec": {}}), 7).is_err());
        Ok(())
    }

    #[test]
    fn a_holder_that_begins_early_is_found() {
        let good = [
            held("a", 0),
            held("a", 2),
            held("b", 6),
            held("", 7),
            held("a", 7),
        ];
        assert_eq!(in_turn(&good).ok().map(|turns| turns.changes), Some(2));
        assert!(in_turn(&[held("a", 0), held("a", 2), held("b", 5)]).is_err());
    }

    #[test]
    fn client_go_compares_whole_seconds() {
        let late = Held {
            renewed: 2 * SECOND + 600_000,
            ..held("a", 2)
        };
        let history = |next: Held| [held("a", 1), held("a", 2), late.clone(), next];
        let turns = in_turn(&history(held("client-go-2", 6))).ok();
        let early = Duration::from_millis(600);
        assert_eq!(turns, Some(Turns { changes: 1, early }));
        // Not by more, and nobody else.
        assert!(in_turn(&history(held("client-go-2", 5))).is_err());
        assert!(in_turn(&history(held("b", 6))).is_err());
    }

    #[test]
    fn a_replica_that_says_yes_wrongly_is_found() {
        let history = [held("a", 0), held("a", 2), held("", 3), held("b", 4)];
        assert!(rightly(&said("a", 1), &history, DEADLINE).is_ok());
        assert!(rightly(&said("b", 6), &history, DEADLINE).is_ok());
        // After the deadline, after the release, after another one, and never.
        assert!(rightly(&said("b", 8), &history, DEADLINE).is_err());
        assert!(rightly(&said("a", 4), &history, DEADLINE).is_err());
        assert!(rightly(&said("a", 5), &history, DEADLINE).is_err());
        assert!(rightly(&said("c", 1), &history, DEADLINE).is_err());
    }

    #[test]
    fn what_client_go_gives_up_for_another_is_not_held_against_it() {
        let by = |writer: &str| Held {
            writer: writer.to_owned(),
            ..held("", 3)
        };
        let history = |release: Held| [held("a", 2), release, held("b", 3)];
        let usurper = history(by("client-go-2"));
        assert_eq!(usurped(&usurper), 1);
        assert!(rightly(&said("a", 4), &usurper, DEADLINE).is_ok());
        assert!(rightly(&said("a", 6), &usurper, DEADLINE).is_err());
        // One's own release, of either kind.
        let own = history(by("informer"));
        assert_eq!(usurped(&own), 0);
        assert!(rightly(&said("a", 4), &own, DEADLINE).is_err());
        let own = [held("client-go-2", 2), by("client-go-2")];
        assert_eq!(usurped(&own), 0);
    }
}
