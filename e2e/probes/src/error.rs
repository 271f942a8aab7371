//! Errors.

use std::fmt;

/// Why there are no answers.
#[derive(Debug)]
#[non_exhaustive]
pub enum ProbeError {
    /// A file cannot be used.
    File {
        /// Its path.
        path: String,
        /// The problem.
        reason: String,
    },
    /// A request got no answer.
    NoAnswer {
        /// The request.
        request: String,
        /// The problem.
        reason: String,
    },
    /// The server refuses to create what the probes need.
    NotReady {
        /// The server's answer.
        answer: String,
    },
    /// The command that makes the server forget its history has failed.
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
                "the server refuses to create what the probes need: {answer}"
            ),
            Self::Forget { reason } => write!(f, "--forget: {reason}"),
        }
    }
}

impl std::error::Error for ProbeError {}
