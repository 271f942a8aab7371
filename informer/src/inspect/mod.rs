//! Informers, controllers and elections of any type, as metrics and the operations port see them.
//!
//! Nothing here keeps what it looks at alive. What has ended and was dropped is no longer there at the next
//! look.

// An informer of any kind.
mod informer;

// Controllers and elections.
mod workers;

use std::fmt;
use std::sync::{Arc, PoisonError};

pub(crate) use informer::InformerPart;
pub(crate) use workers::{ControllerPart, ElectionPart};

use crate::sync::Mutex;

/// What can be looked at: informers, factories with all their informers, controllers with theirs, elections.
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

/// Adds the parts that there are at the moment.
type Look = dyn Fn(&mut Vec<Part>) + Send + Sync;

impl Inspected {
    /// `look` adds the parts that there are at the moment.
    pub(crate) fn new(look: impl Fn(&mut Vec<Part>) + Send + Sync + 'static) -> Self {
        Self(Box::new(look))
    }

    pub(crate) fn look(&self, parts: &mut Vec<Part>) {
        (self.0)(parts);
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
}

/// All that was added, in the order in which it was added.
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
            let added = self.added.lock().unwrap_or_else(PoisonError::into_inner);
            added.iter().for_each(|it| it.look(&mut found));
        }
        let mut parts = Parts::default();
        for part in found {
            match part {
                Part::Informer(part) => {
                    name(
                        &mut parts.informers,
                        part,
                        |it| it.identity(),
                        |it| it.name(),
                    );
                }
                Part::Controller(part) => {
                    name(
                        &mut parts.controllers,
                        part,
                        |it| it.identity(),
                        |it| it.name(),
                    );
                }
                Part::Election(part) => {
                    name(
                        &mut parts.elections,
                        part,
                        |it| it.identity(),
                        |it| it.name(),
                    );
                }
            }
        }
        parts
    }
}

/// Adds a part, unless it is there already. The second of the same name is called `name #2`.
fn name<P: ?Sized>(
    parts: &mut Vec<Named<P>>,
    part: Arc<P>,
    identity: impl Fn(&P) -> usize,
    name: impl Fn(&P) -> String,
) {
    if parts.iter().any(|it| identity(&it.part) == identity(&part)) {
        return;
    }
    let bare = name(&part);
    let same = parts.iter().filter(|it| name(&it.part) == bare).count();
    let name = match same {
        0 => bare,
        same => format!("{bare} #{}", same + 1),
    };
    parts.push(Named { name, part });
}
