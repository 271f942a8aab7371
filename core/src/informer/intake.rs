//! Reads bytes: decoder → reflector → queue.

use super::source::{Around, Source};
use super::{KeyOf, OnTransformError};
use crate::decode::{Body, Decode};
use crate::encoding::Encoding;
use crate::failure::{Failure, Message};
use crate::flow::{Change, Fact, Place, Rejected};
use crate::invariant::cannot_happen;
use crate::object::Resource;
use crate::queue::{PushError, TransformError};
use crate::reflector::Phase;
use crate::storage::Storage;
use crate::transport::{ExchangeId, Request};

impl<D: Decode, S: Storage> Source<D, S> {
    /// Prepares for the answer to `exchange`, unless that has been done.
    pub(super) fn open(
        &mut self,
        exchange: ExchangeId,
        encoding: Encoding,
        around: Around<'_, D, S>,
    ) {
        if self.decoding == Some(exchange) {
            return;
        }
        self.decoding = Some(exchange);
        let body = match self.reflector.request() {
            Some((_, Request::Watch { .. })) => Body::Watch,
            // There is no request if the pump has just given up the exchange.
            Some((_, Request::List { .. })) | None => Body::List,
        };
        self.decoder.begin(body, encoding);
        self.heard.last_fact = Some(around.now);
        let change = self.reflector.handle(exchange, Fact::Opened, around.now);
        self.push(change, around);
    }

    /// Decodes one fact and queues what it means. Returns false if the rest of `input` is not needed: all of
    /// it was used, or the exchange is over.
    pub(super) fn read(
        &mut self,
        exchange: ExchangeId,
        input: &mut &[u8],
        around: Around<'_, D, S>,
    ) -> bool {
        if !self.reflector.is_current(exchange) {
            return false;
        }
        let known = around.store.shown_by(self.id);
        let Some(fact) = self.decoder.decode(input) else {
            return false;
        };
        let mut displaced = None;
        let change = match fact {
            // The body goes on, but the rest is not needed.
            Fact::Failed { failure, message } => {
                self.reflector.give_up(failure, message, around.now)
            }
            fact => {
                self.heard.note(&fact, around.now);
                if let Fact::Rejected(rejected) = &fact {
                    let before = self.reflector.version();
                    self.gaps
                        .leave_out(rejected, &rejected.reason, before, false);
                    let gone = |key: &&KeyOf<D>| {
                        matches!(rejected.place, Place::Item | Place::Upsert)
                            && self.queue.displaces(key, rejected.uid, &known)
                    };
                    displaced = rejected.key.as_ref().filter(gone).cloned();
                }
                self.reflector.handle(exchange, fact, around.now)
            }
        };
        if let Some(version) = self.reflector.version() {
            self.gaps.unshown.settle(version);
        }
        // The unreadable object has another UID, so the object it replaced is gone.
        self.push(displaced.map(Change::Displaced).or(change), around);
        true
    }

    /// Puts a change into the queue.
    pub(super) fn push(&mut self, change: Option<Change<D::Object>>, around: Around<'_, D, S>) {
        let Some(mut change) = change else {
            return;
        };
        if matches!(change, Change::KindGone) && self.reflector.phase() == Phase::Stopped {
            self.ended = true;
            return;
        }
        let mut overflowed = matches!(change, Change::ReplaceEnd) && self.queue.has_overflowed();
        self.gaps.follow(&change, overflowed);
        let resolved = self.gaps.resolved_by(&mut change);
        self.bookmarked |= matches!(change, Change::Bookmark);
        let known = self.known(around);
        self.has_shown |= !matches!(change, Change::ReplaceBegin { .. } | Change::Bookmark);
        match self.queue.push(change, &known) {
            Ok(()) => {}
            Err(PushError::Full) => {
                overflowed = true;
                self.gaps.incomplete = true;
            }
            Err(PushError::Transform { change, key, error }) => {
                let instead = self.refuse(change, key, &error, around);
                return self.push(instead, around);
            }
        }
        if let Some(key) = resolved {
            self.gaps.unshown.resolve(&key);
        }
        if overflowed {
            self.overflow(around);
        }
    }

    /// Replaces a change whose object the transform refused. The new change has no object.
    fn refuse(
        &mut self,
        mut change: Change<D::Object>,
        key: KeyOf<D>,
        error: &TransformError,
        around: Around<'_, D, S>,
    ) -> Option<Change<D::Object>> {
        let place = match &change {
            Change::ReplaceItem(_) => Place::Item,
            Change::Deleted(_) | Change::ReplaceRemove(_) => Place::Delete,
            _ => Place::Upsert,
        };
        let harmless = around.config.on_transform_error == OnTransformError::HarmOneObject;
        let Some(object) = change.object_mut() else {
            return cannot_happen("a transform refused a change without an object", None);
        };
        let refused = Rejected {
            place,
            key: Some(key.clone()),
            uid: object.uid(),
            version: object.version(),
            reason: "",
        };
        let before = self.reflector.version();
        self.gaps.leave_out(&refused, error, before, !harmless);
        let known = around.store.shown_by(self.id);
        let displaced = place != Place::Delete && self.queue.displaces(&key, object.uid(), &known);
        match change {
            _ if harmless && displaced => Some(Change::Displaced(key)),
            Change::ReplaceItem(_) if harmless => Some(Change::ReplaceUnreadable(Some(key))),
            Change::ReplaceItem(_) => {
                let message = Message::of(&format_args!("{key:?}: {error}"));
                let failure = Failure::TransformFailed;
                self.reflector
                    .give_up(failure, message.as_str(), around.now)
            }
            // A deletion needs only the key.
            Change::Deleted(_) | Change::ReplaceRemove(_) if harmless => {
                Some(Change::DeletedUnreadable(key))
            }
            _ => None,
        }
    }

    /// Something has no room and cannot wait. Fails the exchange, so that there is a relist later.
    pub(super) fn overflow(&mut self, around: Around<'_, D, S>) {
        self.gaps.full_at = Some(around.store.len());
        let failure = Failure::Full;
        let limits = around.config.limits;
        let message = if limits.any() {
            Message::of(&format_args!(
                "the limit of {limits} was reached; raise it, or follow less with a namespace or a selector"
            ))
        } else {
            Message::of(&failure)
        };
        let given_up = self
            .reflector
            .give_up(failure, message.as_str(), around.now);
        if let Some(Change::ReplaceAbandon) = given_up {
            self.push(given_up, around);
        }
    }
}
