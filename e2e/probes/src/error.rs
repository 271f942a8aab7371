//! What can go wrong on the way.

use std::fmt;

/// Why there are no answers.
#[derive(Debug)]
#[non_exhaustive]
pub enum ProbeError {
    /// A file cannot be used.
    File {
        /// Its path.
        path: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A request got no answer.
    NoAnswer {
        /// The request.
        request: String,
        /// What went wrong.
        reason: String,
    },
    /// The server cannot be made ready for the probes.
    NotReady {
        /// What was answered instead.
        answer: String,
    },
    /// The command that makes the server forget has failed.
    Forget {
        /// How it ended.
        reason: String,
    },
}

impl ProbeError {
    pub(crate) fn file(path: impl fmt::Display, reason: impl fmt::Display) -> Self {
        Self::File {
            path: path.to_string(),
            reason: reason.to_string(),
        }
    }
}

impl fmt::Display for ProbeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { path, reason } => write!(f, "{path}: {reason}"),
            Self::NoAnswer { request, reason } => write!(f, "no answer to {request}: {reason}"),
            Self::NotReady { answer } => write!(
                f,
                "the server does not let us make what the probes need; it answers {answer}"
            ),
            Self::Forget { reason } => write!(f, "--forget: {reason}"),
        }
    }
}

impl std::error::Error for ProbeError {}
