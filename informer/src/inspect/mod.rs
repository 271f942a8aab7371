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
    names: Mutex<Names>,
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
        let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        names.begin(&found);
        for part in found {
            match part {
                Part::Informer(part) => {
                    let name = names.name(Kind::Informer, part.identity(), || part.name());
                    parts
                        .informers
                        .extend(name.map(|name| Named { name, part }));
                }
                Part::Controller(part) => {
                    let name = names.name(Kind::Controller, part.identity(), || part.name());
                    let named = name.map(|name| Named { name, part });
                    parts.controllers.extend(named);
                }
                Part::Election(part) => {
                    let name = names.name(Kind::Election, part.identity(), || part.name());
                    parts
                        .elections
                        .extend(name.map(|name| Named { name, part }));
                }
                #[cfg(feature = "hyper")]
                Part::Client(part) => {
                    let name = names.name(Kind::Client, part.id(), || part.config().server_url());
                    parts.clients.extend(name.map(|name| Named { name, part }));
                }
            }
        }
        parts
    }
}

/// The kinds of parts. Each has names of its own.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    Informer,
    Controller,
    Election,
    #[cfg(feature = "hyper")]
    Client,
}

impl Part {
    fn identity(&self) -> (Kind, usize) {
        match self {
            Self::Informer(part) => (Kind::Informer, part.identity()),
            Self::Controller(part) => (Kind::Controller, part.identity()),
            Self::Election(part) => (Kind::Election, part.identity()),
            #[cfg(feature = "hyper")]
            Self::Client(part) => (Kind::Client, part.id()),
        }
    }
}

/// The names of parts. A part keeps its name for as long as it is there: otherwise the figures of one would go
/// on as those of another.
#[derive(Default)]
struct Names {
    /// The bare name and a number.
    given: HashMap<(Kind, usize), (String, usize)>,
    /// Those that have been named in this look.
    seen: HashSet<(Kind, usize)>,
}

impl Names {
    /// Begins a look. Names of parts that are gone are free again.
    fn begin(&mut self, found: &[Part]) {
        let there: HashSet<_> = found.iter().map(Part::identity).collect();
        self.given.retain(|identity, _| there.contains(identity));
        self.seen.clear();
    }

    /// The name of a part, unless it was named in this look. The second of the same name is called `name #2`.
    fn name(
        &mut self,
        kind: Kind,
        identity: usize,
        bare: impl FnOnce() -> String,
    ) -> Option<String> {
        let identity = (kind, identity);
        if !self.seen.insert(identity) {
            return None;
        }
        let bare = bare();
        let given = self.given.remove(&identity);
        let number = match given {
            Some((name, number)) if name == bare => number,
            _ => self.free_number(kind, &bare),
        };
        let name = match number {
            1 => bare.clone(),
            number => format!("{bare} #{number}"),
        };
        self.given.insert(identity, (bare, number));
        Some(name)
    }

    /// The smallest number that no part of this name has.
    fn free_number(&self, kind: Kind, bare: &str) -> usize {
        let same = self.given.iter();
        let same = same.filter(|((of, _), (name, _))| *of == kind && name == bare);
        let taken: HashSet<usize> = same.map(|(_, (_, number))| *number).collect();
        (1..).find(|number| !taken.contains(number)).unwrap_or(1)
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

    #[test]
    fn a_name_stays_with_its_part_and_is_free_afterwards() {
        let mut names = Names::default();
        let look = |names: &mut Names, there: &[usize]| -> Vec<_> {
            names.given.retain(|(_, it), _| there.contains(it));
            names.seen.clear();
            let name = |it: &usize| names.name(Kind::Informer, *it, || "pods".to_owned());
            there.iter().filter_map(name).collect()
        };
        assert_eq!(look(&mut names, &[1, 2, 1]), ["pods", "pods #2"]);
        // Another one may be found before the first.
        assert_eq!(look(&mut names, &[3, 1, 2]), ["pods #3", "pods", "pods #2"]);
        assert_eq!(look(&mut names, &[2]), ["pods #2"]);
        assert_eq!(look(&mut names, &[2, 4]), ["pods #2", "pods"]);
    }
}
