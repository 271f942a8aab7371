//! Why a configuration cannot be used.

use std::error::Error;
use std::fmt;
use std::path::PathBuf;

/// Why no usable configuration was found.
///
/// The message names the place and the remedy, and never contains a value that may be secret.
///
/// ```
/// use informer_transport_hyper::{Config, ConfigError, Environment};
///
/// let mut environment = Environment::default();
/// environment.kubeconfig = Some("/nowhere/config".into());
/// let error = Config::infer_from(&environment).unwrap_err();
/// assert!(matches!(error, ConfigError::NotFound { .. }));
/// assert_eq!(
///     error.to_string(),
///     "no configuration for a Kubernetes cluster was found (KUBECONFIG names /nowhere/config, \
///      which does not exist; not in a pod: KUBERNETES_SERVICE_HOST is not set); set KUBECONFIG \
///      or pass a kubeconfig file"
/// );
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ConfigError {
    /// No configuration exists in any of the usual places.
    NotFound {
        /// The places, each with the reason.
        tried: Vec<String>,
    },
    /// A file cannot be read.
    Unreadable {
        /// The file.
        file: PathBuf,
        /// The error of the operating system.
        reason: String,
    },
    /// The contents of a file are invalid.
    Malformed {
        /// The file.
        file: PathBuf,
        /// What is wrong, and where.
        reason: String,
    },
    /// A file has two entries of the same name.
    Duplicate {
        /// The file.
        file: PathBuf,
        /// What is defined twice: `context`, `cluster` or `user`.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// No context was given, and the files have no `current-context`.
    NoContext {
        /// The files.
        files: Vec<PathBuf>,
        /// The contexts that exist.
        known: Vec<String>,
    },
    /// A name refers to an entry that does not exist.
    Unknown {
        /// What the name refers to: `context`, `cluster` or `user`.
        what: &'static str,
        /// The name.
        name: String,
        /// The files.
        files: Vec<PathBuf>,
        /// The names that exist.
        known: Vec<String>,
    },
    /// A field is missing or has an invalid value.
    Invalid {
        /// The owner of the field, such as ``cluster `kind` in /home/me/.kube/config``.
        of: String,
        /// The field, as a kubeconfig spells it.
        field: &'static str,
        /// What is wrong, and how to fix it.
        reason: String,
    },
    /// The configuration uses a feature that this crate does not support.
    Unsupported {
        /// The entry that uses it, such as ``user `me` in /home/me/.kube/config``.
        of: String,
        /// The feature, and what to use instead.
        what: String,
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

    pub(crate) fn unsupported(of: &impl fmt::Display, what: String) -> Self {
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
                "no configuration for a Kubernetes cluster was found ({}); set KUBECONFIG or pass a \
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
                "{} defines {what} `{name}` twice; remove or rename one of them",
                file.display()
            ),
            Self::NoContext { files, known } if known.is_empty() => write!(
                f,
                "{} defines no contexts; add one, or use another kubeconfig",
                Files(files)
            ),
            Self::NoContext { files, known } => write!(
                f,
                "{} has no `current-context`; name one of its contexts ({}), or run `kubectl config \
                 use-context`",
                Files(files),
                Names(known)
            ),
            Self::Unknown {
                what,
                name,
                files,
                known,
            } => {
                write!(f, "no {what} `{name}` in {}", Files(files))?;
                if known.is_empty() {
                    return write!(f, ", which defines no {what}s");
                }
                write!(f, "; choose one of: {}", Names(known))
            }
            Self::Invalid { of, field, reason } => write!(f, "{of}: `{field}` {reason}"),
            Self::Unsupported { of, what } => write!(f, "{of}: {what}"),
        }
    }
}

impl Error for ConfigError {}

/// The files that together make one kubeconfig.
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

/// A list of names, shortened if it is long.
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
