//! Which informers the hub follows.

use std::sync::{Arc, Weak};
use std::time::Duration;

use serde::Serialize;

use super::Hub;
use super::change::unix_milliseconds;
use crate::engine::Moment;
use crate::inspect::{InformerPart, Named};
use crate::ops::contents::Follow;
use crate::ops::moments::Words;

/// The informers that are followed.
#[derive(Default)]
pub(in crate::ops) struct Followed {
    informers: Vec<Following>,
    last_serial: u64,
}

struct Following {
    identity: usize,
    /// Never used again, unlike names.
    serial: u64,
    name: String,
    /// How many moments of its timeline were told.
    seen: u64,
    /// `None` when the informer has ended.
    follow: Option<Box<dyn Follow>>,
    /// Keeps the memory of the informer, so that no other one has its identity.
    _memory: Weak<dyn InformerPart>,
}

/// A moment in the feed.
#[derive(Serialize)]
struct Told<'a> {
    informer: &'a str,
    at: u64,
    #[serde(flatten)]
    words: Words,
}

impl Followed {
    /// Follows exactly these informers.
    pub(in crate::ops) fn follow(&mut self, hub: &Hub, informers: &[Named<dyn InformerPart>]) {
        let same =
            |it: &Following, other: &Named<dyn InformerPart>| it.identity == other.part.identity();
        let (mut kept, gone): (Vec<_>, Vec<_>) = std::mem::take(&mut self.informers)
            .into_iter()
            .partition(|it| informers.iter().any(|other| same(it, other)));
        for it in &mut kept {
            if let Some(found) = informers.iter().find(|other| same(it, other)) {
                it.name.clone_from(&found.name);
            }
        }
        self.informers = kept;
        for informer in informers {
            if self.informers.iter().any(|it| same(it, informer)) {
                continue;
            }
            let Some(follow) = Arc::clone(&informer.part).contents().follow() else {
                continue;
            };
            self.last_serial += 1;
            self.informers.push(Following {
                identity: informer.part.identity(),
                serial: self.last_serial,
                name: informer.name.clone(),
                seen: informer.part.timeline(u64::MAX).0,
                follow: Some(follow),
                _memory: Arc::downgrade(&informer.part),
            });
        }
        let serials = self.informers.iter().map(|it| (it.identity, it.serial));
        hub.set_serials(serials.collect());
        // Only now may their identities be used again.
        drop(gone);
    }

    /// Notes what has changed. Lets go of informers that have ended.
    pub(in crate::ops) fn pull(&mut self, hub: &Hub) {
        for Following { serial, follow, .. } in &mut self.informers {
            let mut note = |change| hub.note(*serial, change);
            if follow.as_mut().is_some_and(|it| !it.pull(&mut note)) {
                *follow = None;
            }
        }
    }

    /// Sends the moments that are new.
    pub(in crate::ops) fn tell_moments(
        &mut self,
        hub: &Hub,
        informers: &[Named<dyn InformerPart>],
    ) {
        for it in &mut self.informers {
            let part = informers
                .iter()
                .find(|other| it.identity == other.part.identity());
            let Some(part) = part else { continue };
            let (count, moments) = part.part.timeline(it.seen);
            it.seen = count;
            moments
                .iter()
                .for_each(|(age, moment)| tell(hub, &it.name, *age, moment));
        }
    }

    pub(super) fn name(&self, serial: u64) -> Option<&str> {
        let found = self.informers.iter().find(|it| it.serial == serial);
        found.map(|it| it.name.as_str())
    }
}

fn tell(hub: &Hub, informer: &str, age: Duration, moment: &Moment) {
    let told = Told {
        informer,
        at: unix_milliseconds(age),
        words: Words::of(moment),
    };
    hub.send("moment", &told);
}
