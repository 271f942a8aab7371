//! Facts about objects, in the same words for every encoding.

use alloc::string::String;
use alloc::sync::Arc;
use core::fmt::{self, Write as _};

use super::Limits;
use super::excerpt::Excerpt;
use super::form::{BodyError, Form};
use crate::decoded::Object;
use crate::failure::{Failure, message};
use crate::flow::{Fact, Place, Rejected};
use crate::key::ObjectKey;
use crate::object::Resource;

/// The longest version or uid that stays in memory when it is no longer needed.
const KEPT: usize = 1024;

/// A fact of a decoder whose bodies have the form `F`.
pub(super) type FactOf<'a, F> = Fact<'a, Arc<Object<<F as Form>::Body>>>;

/// States facts, and keeps the texts of the last one.
#[derive(Clone, Debug)]
pub(super) struct Facts<F> {
    pub(super) form: F,
    pub(super) limits: Limits,
    uid: String,
    version: String,
    message: String,
}

/// Whose an object is that cannot be used, as far as that could be read.
pub(super) struct Whose<X> {
    pub(super) key: Option<ObjectKey>,
    pub(super) uid: Option<X>,
    pub(super) version: Option<X>,
}

/// What a bookmark says.
pub(super) struct Bookmark<X> {
    /// `None` if it is missing or empty.
    pub(super) version: Option<X>,
    pub(super) ends_initial_events: bool,
    pub(super) is_table: bool,
}

/// What the Status in an ERROR event says.
pub(super) struct ErrorEvent<X> {
    pub(super) failure: Failure,
    pub(super) code: u32,
    /// The message, or the reason if there is none.
    pub(super) text: Option<X>,
}

/// Why a Table of `meta.k8s.io` is no object: it has no name either, but that is not what is wrong.
pub(super) const TABLE: &str = "a Table of meta.k8s.io, not an object";

impl<F: Form> Facts<F> {
    pub(super) const fn new(form: F, limits: Limits) -> Self {
        Self {
            form,
            limits,
            uid: String::new(),
            version: String::new(),
            message: String::new(),
        }
    }

    /// The object, in the fact that `state` makes of it; or that it could not be used.
    pub(super) fn object<'a, X: fmt::Display>(
        &'a mut self,
        read: Result<Object<F::Body>, BodyError>,
        place: Place,
        state: fn(Arc<Object<F::Body>>) -> FactOf<'a, F>,
        whose: impl FnOnce() -> Whose<X>,
    ) -> FactOf<'a, F> {
        match read {
            Ok(object) => state(Arc::new(object)),
            Err(error) => self.reject(place, whose(), error),
        }
    }

    /// A bookmark, or why it could not be read.
    pub(super) fn bookmark<X: fmt::Display>(
        &mut self,
        read: Result<Bookmark<X>, impl fmt::Display>,
        whose: impl FnOnce() -> Whose<X>,
    ) -> FactOf<'_, F> {
        let reason = match read {
            Ok(bookmark) if bookmark.is_table => message("a bookmark with a Table of meta.k8s.io"),
            Ok(bookmark) => {
                let Some(version) = bookmark.version else {
                    let reason = "a bookmark without a version";
                    return self.reject(Place::Unknown, whose(), reason);
                };
                keep(&mut self.version, Some(version));
                let version = self.version.as_str();
                return if bookmark.ends_initial_events {
                    Fact::InitialEnd { version }
                } else {
                    Fact::Bookmark { version }
                };
            }
            Err(error) => message(format_args!("a bookmark: {error}")),
        };
        self.reject(Place::Unknown, whose(), reason)
    }

    /// An ERROR event. If there is no Status in it, `object` is what there is.
    pub(super) fn error_event(
        &mut self,
        status: Option<ErrorEvent<impl fmt::Display>>,
        object: &[u8],
    ) -> FactOf<'_, F> {
        let Some(status) = status else {
            let found = Excerpt(object);
            let text = format_args!("an ERROR event without a Status, it begins with: {found}");
            return self.fail(Failure::Other, text);
        };
        let failure = match status.failure {
            // `TimedOut` on an open watch means that the connection did, and that the watch may go on
            // from where it was. Here the connection is fine: it is the server that cannot go on.
            Failure::TimedOut => Failure::Unavailable,
            failure => failure,
        };
        match status.text {
            Some(text) => self.fail(failure, text),
            None => self.fail(
                failure,
                format_args!("an ERROR event with code {}", status.code),
            ),
        }
    }

    /// An object that is larger than it may be.
    pub(super) fn reject_large<X: fmt::Display>(
        &mut self,
        place: Place,
        whose: Whose<X>,
    ) -> FactOf<'_, F> {
        self.reject(place, whose, self.too_large())
    }

    /// An event of a type that we do not know.
    pub(super) fn reject_unknown<X: fmt::Display>(
        &mut self,
        event: impl fmt::Display,
        whose: Whose<X>,
    ) -> FactOf<'_, F> {
        let reason = format_args!("unknown event type `{event}`");
        self.reject(Place::Unknown, whose, reason)
    }

    pub(super) fn reject<X: fmt::Display>(
        &mut self,
        place: Place,
        whose: Whose<X>,
        reason: impl fmt::Display,
    ) -> FactOf<'_, F> {
        self.message = message(reason);
        keep(&mut self.version, whose.version);
        keep(&mut self.uid, whose.uid);
        Fact::Rejected(Rejected {
            place,
            key: whose.key,
            uid: &self.uid,
            version: &self.version,
            reason: &self.message,
        })
    }

    pub(super) fn fail(&mut self, failure: Failure, text: impl fmt::Display) -> FactOf<'_, F> {
        self.message = message(text);
        Fact::Failed {
            failure,
            message: &self.message,
        }
    }

    pub(super) fn too_large(&self) -> String {
        let longest = self.limits.object_bytes;
        message(format_args!("larger than {longest} bytes"))
    }
}

/// Whether nothing can follow a fact.
pub(super) const fn ends_body<T: Resource>(fact: &Fact<'_, T>) -> bool {
    matches!(fact, Fact::PageEnd { .. } | Fact::Failed { .. })
}

/// Replaces `kept`, and gives back the memory of a long text.
fn keep(kept: &mut String, text: Option<impl fmt::Display>) {
    kept.clear();
    kept.shrink_to(KEPT);
    if let Some(text) = text {
        // A string takes whatever is written.
        let _ = write!(kept, "{text}");
    }
}
