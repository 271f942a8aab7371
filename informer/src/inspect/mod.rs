//! Informers, controllers, elections and clients of any type, as metrics and the operations port see them.
//!
//! Nothing here keeps what it looks at alive. What has ended and was dropped is no longer there at the next
//! look.

// An informer of any kind.
mod informer;

// Controllers and elections.
mod workers;

// A client of an API server.
#[cfg(feature = "hyper")]
mod client;

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::{Arc, PoisonError};

pub(crate) use informer::InformerPart;
pub(crate) use workers::{ControllerPart, ElectionPart};

#[cfg(feature = "hyper")]
use crate::connect::Client;
use crate::sync::Mutex;

/// What can be looked at: informers, factories with all their informers, controllers with theirs, elections,
/// clients.
///
/// Looking does not keep it alive: what has ended and was dropped disappears from metrics and pages.
pub trait Inspect: sealed::Sealed {
    /// What metrics and the operations port keep of it.
    #[doc(hidden)]
    fn inspected(&self) -> Inspected;
}

pub(crate) mod sealed {
    /// Only this crate can show what is inside.
    #[expect(unnameable_types, reason = "so that nobody else implements it")]
    pub trait Sealed {}
}

/// What is kept of something that can be looked at.
pub struct Inspected(Box<Look>);

/// Adds the parts that there are at the moment. Returns whether there may be some later.
type Look = dyn Fn(&mut Vec<Part>) -> bool + Send + Sync;

impl Inspected {
    /// `look` adds the parts that there are at the moment, and returns whether there may be some later.
    pub(crate) fn new(look: impl Fn(&mut Vec<Part>) -> bool + Send + Sync + 'static) -> Self {
        Self(Box::new(look))
    }

    pub(crate) fn look(&self, parts: &mut Vec<Part>) -> bool {
        (self.0)(parts)
    }

    /// Shows one part for as long as it is there.
    pub(crate) fn one(part: impl Fn() -> Option<Part> + Send + Sync + 'static) -> Self {
        Self::new(move |parts| {
            let part = part();
            let is_there = part.is_some();
            parts.extend(part);
            is_there
        })
    }
}

impl fmt::Debug for Inspected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inspected").finish_non_exhaustive()
    }
}

/// One thing to look at.
pub(crate) enum Part {
    Informer(Arc<dyn InformerPart>),
    Controller(Arc<dyn ControllerPart>),
    Election(Arc<dyn ElectionPart>),
    #[cfg(feature = "hyper")]
    Client(Arc<Client>),
}

/// All that was added and is still there, in the order in which it was added.
#[derive(Default)]
pub(crate) struct Inventory {
    added: Mutex<Vec<Inspected>>,
}

/// What there is at one moment. Nothing is there twice, however often it was added.
#[derive(Default)]
pub(crate) struct Parts {
    pub(crate) informers: Vec<Named<dyn InformerPart>>,
    pub(crate) controllers: Vec<Named<dyn ControllerPart>>,
    pub(crate) elections: Vec<Named<dyn ElectionPart>>,
    #[cfg(feature = "hyper")]
    pub(crate) clients: Vec<Named<Client>>,
}

/// A part with a name that no other part of its kind has.
pub(crate) struct Named<P: ?Sized> {
    pub(crate) name: String,
    pub(crate) part: Arc<P>,
}

impl Inventory {
    pub(crate) fn add(&self, what: &(impl Inspect + ?Sized)) {
        let mut added = self.added.lock().unwrap_or_else(PoisonError::into_inner);
        added.push(what.inspected());
    }

    pub(crate) fn parts(&self) -> Parts {
        let mut found = Vec::new();
        {
            let mut added = self.added.lock().unwrap_or_else(PoisonError::into_inner);
            added.retain(|it| it.look(&mut found));
        }
        let mut parts = Parts::default();
        let [mut informers, mut controllers, mut elections] = <[Names; 3]>::default();
        #[cfg(feature = "hyper")]
        let mut clients = Names::default();
        for part in found {
            match part {
                Part::Informer(part) => {
                    let name = informers.name(part.identity(), || part.name());
                    parts
                        .informers
                        .extend(name.map(|name| Named { name, part }));
                }
                Part::Controller(part) => {
                    let name = controllers.name(part.identity(), || part.name());
                    let named = name.map(|name| Named { name, part });
                    parts.controllers.extend(named);
                }
                Part::Election(part) => {
                    let name = elections.name(part.identity(), || part.name());
                    parts
                        .elections
                        .extend(name.map(|name| Named { name, part }));
                }
                #[cfg(feature = "hyper")]
                Part::Client(part) => {
                    let name = clients.name(part.id(), || part.config().server_url());
                    parts.clients.extend(name.map(|name| Named { name, part }));
                }
            }
        }
        parts
    }
}

/// The names that parts of a kind have so far.
#[derive(Default)]
struct Names {
    seen: HashSet<usize>,
    of: HashMap<String, usize>,
}

impl Names {
    /// The name of a part, unless it has one already. The second of the same name is called `name #2`.
    fn name(&mut self, identity: usize, bare: impl FnOnce() -> String) -> Option<String> {
        if !self.seen.insert(identity) {
            return None;
        }
        let bare = bare();
        let same = self.of.entry(bare.clone()).or_default();
        *same += 1;
        Some(match same {
            1 => bare,
            number => format!("{bare} #{number}"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_will_not_come_back_is_forgotten() {
        let inventory = Inventory::default();
        let known = || {
            inventory
                .added
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
        };
        known().extend([Inspected::one(|| None), Inspected::new(|_| true)]);
        assert_eq!(inventory.parts().informers.len(), 0);
        assert_eq!(known().len(), 1);
    }
}
