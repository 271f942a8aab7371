//! What can be wrong with a configuration.

use std::error::Error;
use std::fmt;
use std::path::PathBuf;

/// Why there is no usable configuration. Its text names the place and what mends it, and never a
/// value that may be secret.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ConfigError {
    /// There is no configuration where one is looked for.
    NotFound {
        /// Where it was looked for and why it is not there.
        tried: Vec<String>,
    },
    /// A file cannot be read.
    Unreadable {
        /// The file.
        file: PathBuf,
        /// What the system said.
        reason: String,
    },
    /// A file can be read, but it is not what it should be.
    Malformed {
        /// The file.
        file: PathBuf,
        /// What is wrong with it, and where.
        reason: String,
    },
    /// No context was asked for, and the files name no `current-context`.
    NoContext {
        /// The contexts that there are.
        known: Vec<String>,
    },
    /// A name leads nowhere.
    Unknown {
        /// What is named: `context`, `cluster` or `user`.
        what: &'static str,
        /// The name.
        name: String,
        /// The names that there are.
        known: Vec<String>,
    },
    /// A field has a value that cannot be used.
    Invalid {
        /// Whose field it is, such as ``cluster `kind` ``.
        of: String,
        /// The field, as it is called in a kubeconfig.
        field: &'static str,
        /// What is wrong, and what would be right.
        reason: String,
    },
    /// Something that exists elsewhere but not here.
    Unsupported {
        /// Who asks for it, such as ``user `me` ``.
        of: String,
        /// What is asked for, and what can be used instead.
        what: &'static str,
    },
}

impl ConfigError {
    pub(crate) fn invalid(of: &str, field: &'static str, reason: impl Into<String>) -> Self {
        Self::Invalid {
            of: of.to_owned(),
            field,
            reason: reason.into(),
        }
    }

    pub(crate) fn unsupported(of: &str, what: &'static str) -> Self {
        Self::Unsupported {
            of: of.to_owned(),
            what,
        }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFound { tried } => write!(
                f,
                "no configuration for a Kubernetes cluster was found ({}); set KUBECONFIG or name a \
                 kubeconfig file",
                tried.join("; ")
            ),
            Self::Unreadable { file, reason } => {
                write!(f, "cannot read {}: {reason}", file.display())
            }
            Self::Malformed { file, reason } => {
                write!(f, "{} is malformed: {reason}", file.display())
            }
            Self::NoContext { known } => write!(
                f,
                "the kubeconfig has no `current-context`; name a context: {}",
                Names(known)
            ),
            Self::Unknown { what, name, known } => write!(
                f,
                "there is no {what} `{name}` in the kubeconfig; there are: {}",
                Names(known)
            ),
            Self::Invalid { of, field, reason } => write!(f, "{of}: `{field}` {reason}"),
            Self::Unsupported { of, what } => write!(f, "{of}: {what}"),
        }
    }
}

impl Error for ConfigError {}

/// A few names, or that there are none.
struct Names<'a>(&'a [String]);

impl fmt::Display for Names<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 20;
        if self.0.is_empty() {
            return f.write_str("none");
        }
        for (i, name) in self.0.iter().take(SHOWN).enumerate() {
            let comma = if i == 0 { "" } else { ", " };
            write!(f, "{comma}`{name}`")?;
        }
        match self.0.len().saturating_sub(SHOWN) {
            0 => Ok(()),
            more => write!(f, " and {more} more"),
        }
    }
}
