//! Hooks of the user: called for every failure and every rejected object.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use informer_core::ObjectKey;
use informer_core::informer::RejectedObject;
use informer_core::reflector::LastFailure;

use crate::builder::Function;
use crate::panics::panic_text;

/// An event for the hooks.
pub(crate) enum Report {
    Failed(LastFailure<String>),
    Rejected(RejectedObject<ObjectKey, String>),
}

pub(crate) type FailureHook = dyn Fn(&LastFailure<String>) + Send + Sync;
pub(crate) type RejectedHook = dyn Fn(&RejectedObject<ObjectKey, String>) + Send + Sync;

/// Hooks of the user for failures and rejected objects.
#[derive(Clone, Default)]
pub(crate) struct Hooks {
    pub(crate) on_failure: Option<Function<FailureHook>>,
    pub(crate) on_rejected: Option<Function<RejectedHook>>,
}

impl Hooks {
    /// Calls the hooks. Catches panics and passes their messages to `panicked`.
    pub(crate) fn call(&self, reports: Vec<Report>, mut panicked: impl FnMut(String)) {
        for report in reports {
            let called = catch_unwind(AssertUnwindSafe(|| match (report, self) {
                (
                    Report::Failed(failure),
                    Self {
                        on_failure: Some(hook),
                        ..
                    },
                ) => (hook.call)(&failure),
                (
                    Report::Rejected(object),
                    Self {
                        on_rejected: Some(hook),
                        ..
                    },
                ) => (hook.call)(&object),
                _ => {}
            }));
            if let Err(panic) = called {
                panicked(panic_text(&*panic));
            }
        }
    }
}

impl fmt::Debug for Hooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hooks")
            .field("on_failure", &self.on_failure.is_some())
            .field("on_rejected", &self.on_rejected.is_some())
            .finish()
    }
}
