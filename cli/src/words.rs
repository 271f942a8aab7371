//! What a status means, in words.

use informer::{Failure, LastFailure, Phase, Status};

/// The phase in one word.
pub(crate) const fn phase(status: &Status) -> &'static str {
    match status.phase {
        Phase::Idle => "idle",
        Phase::Listing { .. } => "listing",
        Phase::Streaming { .. } => "streaming",
        Phase::Watching => "watching",
        Phase::Waiting { .. } => "waiting",
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
