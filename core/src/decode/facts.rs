//! Facts and messages, the same for every encoding.

use alloc::string::String;
use alloc::sync::Arc;
use core::fmt::{self, Write as _};

use super::Limits;
use super::excerpt::Excerpt;
use super::form::{BodyError, Form};
use crate::decoded::{Aside, Draft, Object};
use crate::failure::{Failure, message};
use crate::flow::{Fact, Place, Rejected};
use crate::key::ObjectKey;
use crate::object::Resource;

/// The longest version or uid whose memory is kept for the next one.
const KEPT: usize = 1024;

/// A fact of a decoder with the form `F`.
pub(super) type FactOf<'a, F> = Fact<'a, Object<<F as Form>::Body>>;

/// What the objects of the form `F` share.
pub(super) type AsideOf<F> = Option<Arc<Aside<<F as Form>::Body>>>;

/// Makes facts and holds the texts of the last one.
#[derive(Clone, Debug)]
pub(super) struct Facts<F: Form> {
    pub(super) form: F,
    pub(super) aside: AsideOf<F>,
    pub(super) limits: Limits,
    uid: String,
    version: String,
    message: String,
    pub(super) draft: Draft,
}

/// The identity of an object that cannot be used, as far as it is readable.
pub(super) struct Whose<X> {
    pub(super) key: Option<ObjectKey>,
    pub(super) uid: Option<X>,
    pub(super) version: Option<X>,
}

/// The contents of a bookmark.
pub(super) struct Bookmark<X> {
    /// `None` if it is missing or empty.
    pub(super) version: Option<X>,
    pub(super) ends_initial_events: bool,
    pub(super) is_table: bool,
}

/// The Status in an ERROR event.
pub(super) struct ErrorEvent<X> {
    pub(super) failure: Failure,
    pub(super) code: u32,
    /// The message, or the reason if there is no message.
    pub(super) text: Option<X>,
}

/// Why a Table of `meta.k8s.io` is rejected. It has no name either, but that would mislead.
pub(super) const TABLE: &str = "a Table of meta.k8s.io, not an object";

impl<F: Form> Facts<F> {
    pub(super) fn new(form: F, limits: Limits) -> Self {
        Self {
            aside: Aside::shared(form.body_annotations()),
            form,
            limits,
            uid: String::new(),
            version: String::new(),
            message: String::new(),
            draft: Draft::new(),
        }
    }

    /// The fact that `state` makes of an object, or a rejected object.
    pub(super) fn object<'a, X: fmt::Display>(
        &'a mut self,
        read: Result<Object<F::Body>, BodyError>,
        place: Place,
        state: fn(Object<F::Body>) -> FactOf<'a, F>,
        whose: impl FnOnce() -> Whose<X>,
    ) -> FactOf<'a, F> {
        match read {
            Ok(object) => state(object),
            Err(error) => self.reject(place, whose(), error),
        }
    }

    /// A bookmark, or a rejected object.
    pub(super) fn bookmark<X: fmt::Display>(
        &mut self,
        read: Result<Bookmark<X>, impl fmt::Display>,
        whose: impl FnOnce() -> Whose<X>,
    ) -> FactOf<'_, F> {
        let reason = match read {
            Ok(bookmark) if bookmark.is_table => message("a bookmark with a Table of meta.k8s.io"),
            Ok(Bookmark { version: None, .. }) => message("a bookmark without a version"),
            Ok(bookmark) => {
                keep(&mut self.version, bookmark.version);
                let version = self.version.as_str();
                return if bookmark.ends_initial_events {
                    Fact::InitialEnd { version }
                } else {
                    Fact::Bookmark { version }
                };
            }
            Err(error) => message(format_args!("cannot read a bookmark: {error}")),
        };
        self.reject(Place::Unknown, whose(), reason)
    }

    /// An ERROR event. Without a Status, the message quotes `object`.
    pub(super) fn error_event(
        &mut self,
        status: Option<ErrorEvent<impl fmt::Display>>,
        object: &[u8],
    ) -> FactOf<'_, F> {
        let Some(status) = status else {
            let found = Excerpt(object);
            let text = format_args!("an ERROR event has no Status; it starts with: {found}");
            return self.fail(Failure::Other, text);
        };
        let failure = match status.failure {
            // `TimedOut` on an open watch means that the connection timed out, and that the watch
            // may continue where it was. Here the connection works, and the server cannot continue.
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

    /// Rejects an object beyond the limit.
    pub(super) fn reject_large<X: fmt::Display>(
        &mut self,
        place: Place,
        whose: Whose<X>,
    ) -> FactOf<'_, F> {
        self.reject(place, whose, self.too_large())
    }

    /// Rejects an event of unknown type.
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

/// Whether nothing can follow this fact.
pub(super) const fn ends_body<T: Resource>(fact: &Fact<'_, T>) -> bool {
    matches!(fact, Fact::PageEnd { .. } | Fact::Failed { .. })
}

/// Replaces `kept`, and releases the memory of a long text.
fn keep(kept: &mut String, text: Option<impl fmt::Display>) {
    kept.clear();
    kept.shrink_to(KEPT);
    if let Some(text) = text {
        // Writing to a string cannot fail.
        let _ = write!(kept, "{text}");
    }
}
