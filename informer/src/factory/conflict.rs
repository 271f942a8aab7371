//! Requests that contradict a running informer.

use std::fmt;

/// A factory has an informer for the requested objects, but its settings contradict the request.
///
/// The message says what differs and what to do. See
/// [`SharedInformerFactory::informer`](crate::SharedInformerFactory::informer) for the rules.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct NotShared {
    /// The resource, namespace and selectors that the informer follows.
    pub name: String,
    /// What differs. There is at least one entry.
    pub conflicts: Vec<SettingConflict>,
}

/// A setting in which a request differs from a running informer.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct SettingConflict {
    /// The setting.
    pub setting: Setting,
    /// How it differs.
    pub contrast: Contrast,
}

/// A setting that all users of a shared informer have in common.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Setting {
    /// The function that makes the form: see [`InformerBuilder::of`](crate::InformerBuilder::of).
    Form,
    /// [`InformerBuilder::transform`](crate::InformerBuilder::transform).
    Transform,
    /// [`InformerBuilder::on_failure`](crate::InformerBuilder::on_failure).
    OnFailure,
    /// [`InformerBuilder::on_rejected`](crate::InformerBuilder::on_rejected).
    OnRejected,
    /// [`InformerBuilder::resync`](crate::InformerBuilder::resync).
    Resync,
    /// [`InformerBuilder::queue`](crate::InformerBuilder::queue).
    Queue,
    /// [`InformerBuilder::page_size`](crate::InformerBuilder::page_size).
    PageSize,
    /// [`InformerBuilder::max_objects`](crate::InformerBuilder::max_objects).
    MaxObjects,
    /// [`InformerBuilder::max_bytes`](crate::InformerBuilder::max_bytes).
    MaxBytes,
    /// [`InformerBuilder::backlog`](crate::InformerBuilder::backlog).
    Backlog,
    /// Anything else in [`InformerBuilder::preset`](crate::InformerBuilder::preset).
    Preset,
    /// The index with this name.
    Index(String),
}

/// How a setting differs.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Contrast {
    /// It has different values, here as text.
    Values {
        /// The value of the running informer.
        running: String,
        /// The value of the request.
        requested: String,
    },
    /// These fields have different values.
    Fields(Vec<&'static str>),
    /// The running informer has such a function, but the request has none.
    OnlyRunning,
    /// The request has such a function, but the running informer has none.
    OnlyRequested,
    /// They have different functions.
    OtherFunction,
    /// One of the functions captures something and has no name, so it cannot be told whether they are the
    /// same.
    Captures,
    /// The request asks for an ordered index, but that of the running informer is not.
    NotOrdered,
}

impl fmt::Display for NotShared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "cannot share the informer for {}: the request contradicts the settings it was built with: ",
            self.name
        )?;
        for conflict in &self.conflicts {
            write!(f, "{conflict}; ")?;
        }
        f.write_str(
            "use the same settings in all requests or set them on the factory, \
             or build an informer of your own with `InformerBuilder::build`",
        )
    }
}

impl std::error::Error for NotShared {}

impl fmt::Display for SettingConflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { setting, contrast } = self;
        match contrast {
            Contrast::Values { running, requested } => {
                write!(f, "{setting} is {running} there and {requested} here")
            }
            Contrast::Fields(fields) => {
                write!(f, "{setting} differs in `{}`", fields.join("`, `"))
            }
            Contrast::OnlyRunning => write!(f, "{setting} is set there, but not here"),
            Contrast::OnlyRequested => write!(f, "{setting} is set here, but not there"),
            Contrast::OtherFunction => {
                write!(f, "{setting} has another function here than there")?;
                match setting {
                    Setting::Index(_) => f.write_str(": choose another name for one of them"),
                    _ => Ok(()),
                }
            }
            Contrast::Captures => write!(
                f,
                "{setting} is a closure that captures variables, so nobody can tell whether it is the same \
                 here and there: capture nothing, or name it with `{}`",
                setting.naming()
            ),
            Contrast::NotOrdered => write!(
                f,
                "{setting} is not ordered there, but here: choose another name, or call `ordered` \
                 everywhere"
            ),
        }
    }
}

impl Setting {
    /// What gives its function a name.
    const fn naming(&self) -> &'static str {
        match self {
            Self::Form => "InformerBuilder::of_named",
            Self::OnFailure => "on_failure_named",
            Self::OnRejected => "on_rejected_named",
            Self::Index(_) => "IndexFn::named",
            _ => "transform_named",
        }
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            Self::Form => "the form",
            Self::Transform => "`transform`",
            Self::OnFailure => "`on_failure`",
            Self::OnRejected => "`on_rejected`",
            Self::Resync => "`resync`",
            Self::Queue => "`queue`",
            Self::PageSize => "`page_size`",
            Self::MaxObjects => "`max_objects`",
            Self::MaxBytes => "`max_bytes`",
            Self::Backlog => "`backlog`",
            Self::Preset => "`preset`",
            Self::Index(name) => return write!(f, "the index {name:?}"),
        };
        f.write_str(name)
    }
}
