//! Takes bytes in: decoder → reflector → transform → queue.

use core::fmt;

use super::{Informer, KeyOf, OnTransformError, RejectedObject};
use crate::decode::{Body, Decode};
use crate::failure::{Failure, Message};
use crate::flow::{Change, Fact, Place, Rejected};
use crate::object::Resource;
use crate::storage::Storage;
use crate::time::Instant;
use crate::transport::{ExchangeId, Request};

impl<D: Decode, S: Storage> Informer<D, S> {
    /// The answer to `exchange` has begun, if that is news.
    pub(super) fn open(&mut self, exchange: ExchangeId, now: Instant) {
        if self.decoding == Some(exchange) {
            return;
        }
        self.decoding = Some(exchange);
        self.decoder.begin(match self.reflector.request() {
            Some((_, Request::Watch { .. })) => Body::Watch,
            Some((_, Request::List { .. })) | None => Body::List,
        });
        self.last_fact = Some(now);
        let change = self.reflector.handle(exchange, Fact::Opened, now);
        self.push(change, now);
    }

    /// Decodes as long as there are bytes, the exchange is of interest and nobody asks for patience.
    pub(super) fn read(&mut self, exchange: ExchangeId, bytes: &[u8], now: Instant) -> usize {
        let mut input = bytes;
        while self.pump() {
            if !self.reflector.is_current(exchange) {
                return bytes.len();
            }
            let Some(fact) = self.decoder.decode(&mut input) else {
                return bytes.len();
            };
            let mut displaced = None;
            let change = match fact {
                // The body goes on, but we are done with it.
                Fact::Failed { failure, message } => self.reflector.give_up(failure, message, now),
                fact => {
                    self.last_fact = Some(now);
                    match &fact {
                        Fact::Rejected(rejected) => {
                            let report = RejectedObject::of(rejected, &rejected.reason);
                            if is_write(rejected) {
                                let before = self.reflector.version().unwrap_or_default();
                                self.unshown.note(report.clone(), rejected.version, before);
                            }
                            self.reports.keep(report);
                            let gone = |key: &&KeyOf<D>| {
                                matches!(rejected.place, Place::Item | Place::Upsert)
                                    && self.queue.displaces(key, rejected.uid, &self.store)
                            };
                            displaced = rejected.key.as_ref().filter(gone).cloned();
                        }
                        Fact::Bookmark { .. } | Fact::InitialEnd { .. } => {
                            self.counts.bookmarks += 1;
                            self.last_bookmark = Some(now);
                        }
                        Fact::Item(_) | Fact::Added(_) | Fact::Modified(_) | Fact::Deleted(_) => {
                            self.counts.objects += 1;
                            self.last_event = Some(now);
                        }
                        Fact::Opened
                        | Fact::PageEnd { .. }
                        | Fact::Closed
                        | Fact::Failed { .. } => {}
                    }
                    self.reflector.handle(exchange, fact, now)
                }
            };
            self.unshown
                .settle(self.reflector.version().unwrap_or_default());
            // Whatever an unreadable object is, it is not the one whose place it has taken.
            self.push(displaced.map(Change::Displaced).or(change), now);
        }
        bytes.len() - input.len()
    }

    /// Passes a change through the transform into the queue.
    pub(super) fn push(&mut self, change: Option<Change<D::Object>>, now: Instant) {
        let Some(mut change) = change else {
            return;
        };
        if let Some(transform) = &self.transform
            && let Some(object) = change.object_mut()
        {
            // Whatever the transform does to the object, this is who it was.
            let key = object.key().clone();
            if let Err(error) = transform.apply(object) {
                let Some(instead) = self.refuse(change, key, &error, now) else {
                    return;
                };
                change = instead;
            }
        }
        let mut overflowed = false;
        match &mut change {
            Change::ReplaceBegin { .. } => {
                self.unswept = false;
                self.unshown.begin_state();
            }
            Change::ReplaceUnreadable(None) => self.unswept = true,
            Change::ReplaceEnd => {
                overflowed = self.queue.has_overflowed();
                self.incomplete = overflowed;
                self.unshown.end_state();
            }
            Change::ReplaceAbandon => self.unshown.abandon_state(),
            Change::DeletedUnreadable(key) => self.unshown.resolve(key),
            change => {
                if let Some(object) = change.object_mut() {
                    self.unshown.resolve(object.key());
                }
            }
        }
        let version = self.reflector.version().unwrap_or_default();
        if self.queue.push(change, &mut self.store, version).is_err() {
            overflowed = true;
            self.incomplete = true;
        }
        if overflowed {
            self.overflow(now);
        }
    }

    /// What a change becomes whose object was refused.
    fn refuse(
        &mut self,
        mut change: Change<D::Object>,
        key: KeyOf<D>,
        error: &dyn fmt::Display,
        now: Instant,
    ) -> Option<Change<D::Object>> {
        let place = match &change {
            Change::ReplaceItem(_) => Place::Item,
            Change::Deleted(_) | Change::ReplaceRemove(_) => Place::Delete,
            _ => Place::Upsert,
        };
        let harmless = self.config.on_transform_error == OnTransformError::HarmOneObject;
        let object = change.object_mut()?;
        let refused = Rejected {
            place,
            key: Some(key.clone()),
            uid: object.uid(),
            version: object.version(),
            reason: "",
        };
        let report = RejectedObject::of(&refused, error);
        if !harmless || is_write(&refused) {
            let before = self.reflector.version().unwrap_or_default();
            self.unshown.note(report.clone(), refused.version, before);
        }
        self.reports.keep(report);
        let displaced =
            place != Place::Delete && self.queue.displaces(&key, object.uid(), &self.store);
        match change {
            Change::ReplaceItem(_) | Change::Added(_) | Change::Updated(_)
                if harmless && displaced =>
            {
                Some(Change::Displaced(key))
            }
            Change::ReplaceItem(_) if harmless => Some(Change::ReplaceUnreadable(Some(key))),
            Change::ReplaceItem(_) => {
                let message = Message::of(&format_args!("{key:?}: {error}"));
                self.reflector
                    .give_up(Failure::TransformFailed, message.as_str(), now)
            }
            // What a deletion deletes is known by its key.
            Change::Deleted(_) | Change::ReplaceRemove(_) if harmless => {
                Some(Change::DeletedUnreadable(key))
            }
            _ => None,
        }
    }

    /// There is no room for something, and nobody can wait. The full state is read again later.
    pub(super) fn overflow(&mut self, now: Instant) {
        let failure = Failure::Full;
        let limits = self.config.limits;
        let message = if limits.any() {
            Message::of(&format_args!(
                "the limit of {limits} was reached; raise it, or follow less: a namespace, a selector"
            ))
        } else {
            Message::of(&failure)
        };
        let given_up = self.reflector.give_up(failure, message.as_str(), now);
        if let Some(abandon @ Change::ReplaceAbandon) = given_up {
            self.unshown.abandon_state();
            let version = self.reflector.version().unwrap_or_default();
            // Abandoning needs no room.
            let _ = self.queue.push(abandon, &mut self.store, version);
        }
    }
}

/// Whether the store lacks a write because of this: a deletion deletes all the same, and an event that
/// we do not know says something only if it names an object.
const fn is_write<K>(rejected: &Rejected<'_, K>) -> bool {
    match rejected.place {
        Place::Item | Place::Upsert => true,
        Place::Unknown => rejected.key.is_some(),
        Place::Delete => false,
    }
}
