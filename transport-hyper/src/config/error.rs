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
    /// A file has two entries of one name.
    Duplicate {
        /// The file.
        file: PathBuf,
        /// What stands twice: `context`, `cluster` or `user`.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// No context was asked for, and the files name no `current-context`.
    NoContext {
        /// The files.
        files: Vec<PathBuf>,
        /// The contexts that there are.
        known: Vec<String>,
    },
    /// A name leads nowhere.
    Unknown {
        /// What is named: `context`, `cluster` or `user`.
        what: &'static str,
        /// The name.
        name: String,
        /// The files.
        files: Vec<PathBuf>,
        /// The names that there are.
        known: Vec<String>,
    },
    /// A field has a value that cannot be used.
    Invalid {
        /// Whose field it is, such as ``cluster `kind` in /home/me/.kube/config``.
        of: String,
        /// The field, as it is called in a kubeconfig.
        field: &'static str,
        /// What is wrong, and what would be right.
        reason: String,
    },
    /// Something that exists elsewhere but not here.
    Unsupported {
        /// Who asks for it, such as ``user `me` in /home/me/.kube/config``.
        of: String,
        /// What is asked for, and what can be used instead.
        what: &'static str,
    },
}

impl ConfigError {
    pub(crate) fn invalid(
        of: &impl fmt::Display,
        field: &'static str,
        reason: impl Into<String>,
    ) -> Self {
        Self::Invalid {
            of: of.to_string(),
            field,
            reason: reason.into(),
        }
    }

    pub(crate) fn unsupported(of: &impl fmt::Display, what: &'static str) -> Self {
        Self::Unsupported {
            of: of.to_string(),
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
            Self::Duplicate { file, what, name } => write!(
                f,
                "{} has the {what} `{name}` twice; remove or rename one of them",
                file.display()
            ),
            Self::NoContext { files, known } if known.is_empty() => write!(
                f,
                "{} has no contexts; write one into it, or name another kubeconfig",
                Files(files)
            ),
            Self::NoContext { files, known } => write!(
                f,
                "{} has no `current-context`; choose one of its contexts ({}): name it, or run \
                 `kubectl config use-context`",
                Files(files),
                Names(known)
            ),
            Self::Unknown {
                what,
                name,
                files,
                known,
            } => {
                write!(f, "there is no {what} `{name}` in {}", Files(files))?;
                if known.is_empty() {
                    return write!(f, ", which has no {what}s");
                }
                write!(f, "; there are: {}", Names(known))
            }
            Self::Invalid { of, field, reason } => write!(f, "{of}: `{field}` {reason}"),
            Self::Unsupported { of, what } => write!(f, "{of}: {what}"),
        }
    }
}

impl Error for ConfigError {}

/// The files of a kubeconfig; several are read as one.
struct Files<'a>(&'a [PathBuf]);

impl fmt::Display for Files<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, file) in self.0.iter().enumerate() {
            let plus = if i == 0 { "" } else { " + " };
            write!(f, "{plus}{}", file.display())?;
        }
        Ok(())
    }
}

/// A few names.
struct Names<'a>(&'a [String]);

impl fmt::Display for Names<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 20;
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
