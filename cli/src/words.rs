//! What a status means, in words.

use std::time::Duration;

use informer::{Failure, LastFailure, Phase, Status};

/// The phase in one word.
pub(crate) const fn phase(status: &Status) -> &'static str {
    match status.phase {
        Phase::Idle => "idle",
        Phase::Listing { .. } => "listing",
        Phase::Streaming { .. } => "streaming",
        Phase::Watching => "watching",
        Phase::Waiting { .. } => "waiting",
        Phase::Suspended => "suspended",
        Phase::Stopped => "stopped",
    }
}

/// The last failure as text, with the message of the server or the network.
pub(crate) fn reason(status: &Status) -> String {
    let Some(LastFailure {
        failure, message, ..
    }) = &status.last_failure
    else {
        return String::new();
    };
    match failure {
        _ if message.is_empty() || message == failure.describe() => failure.to_string(),
        // The message already says why the server cannot be reached.
        Failure::Unreachable => message.clone(),
        failure => format!("{failure} ({message})"),
    }
}

/// Why waiting for the first state is useless. After the first state a program keeps trying, because
/// permissions and kinds can come back.
pub(crate) fn hopeless(status: &Status) -> Option<String> {
    match status.phase {
        Phase::Waiting {
            cause:
                Failure::Credentials
                | Failure::Unauthorized
                | Failure::Forbidden
                | Failure::NotFound
                | Failure::Invalid,
            ..
        } => Some(format!("cannot follow {}: {}", status.name, reason(status))),
        _ => None,
    }
}

/// A count with its noun: "1 object", "2 objects".
pub(crate) fn counted(count: u64, what: &str) -> String {
    match count {
        1 => format!("1 {what}"),
        count => format!("{count} {what}s"),
    }
}

/// A duration in at most four characters: "12s", "59m", "47h", "365d".
pub(crate) fn age(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..60 => format!("{seconds}s"),
        seconds @ 60..3600 => format!("{}m", seconds / 60),
        seconds @ 3600..172_800 => format!("{}h", seconds / 3600),
        seconds => format!("{}d", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_is_singular() {
        let counts = [0, 1, 2].map(|count| counted(count, "object"));
        assert_eq!(counts, ["0 objects", "1 object", "2 objects"]);
    }

    #[test]
    fn an_age_has_the_unit_that_fits() {
        let ages = [0, 59, 60, 3599, 3600, 172_799, 172_800, 31_536_000];
        assert_eq!(
            ages.map(|seconds| age(Duration::from_secs(seconds))),
            ["0s", "59s", "1m", "59m", "1h", "47h", "2d", "365d"]
        );
    }
}
