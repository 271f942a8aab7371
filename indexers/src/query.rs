//! Questions to a store, and which index answers them.

use alloc::boxed::Box;
use alloc::format;
use alloc::vec::Vec;
use core::fmt;
use core::ops::Bound;

use informer_core::Resource;
use informer_core::decode::{FieldPath, Fields, ParseFieldPathError};
use informer_core::indexer::{Filed, IndexFn, IndexId, Subject, View};
use informer_core::storage::Storage;

use crate::key::Namespaced;
use crate::selector::{
    FieldOperator, FieldRequirement, FieldSelector, LabelOperator, LabelRequirement, LabelSelector,
};

/// Which objects are wanted: those for which everything holds that is said here. By default all.
///
/// ```
/// use informer_core::Object;
/// use informer_core::decode::form::LeanBody;
/// use informer_indexers::Query;
///
/// let app = "app=shop".parse()?;
/// let node = "spec.nodeName=n1".parse()?;
/// let query: Query<'_, Object<LeanBody>> =
///     Query::new().namespace("web").labels(&app).fields(&node)?;
/// # let _ = query;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Query<'q, T> {
    namespace: Option<(&'q str, NamespaceOf<T>)>,
    labels: Option<&'q LabelSelector>,
    fields: Vec<FieldCondition<'q, T>>,
}

// What a bound on `T` gives is kept as a function, so that only the question that needs it asks for it.
type NamespaceOf<T> = fn(&T) -> &str;

struct FieldCondition<'q, T> {
    path: FieldPath,
    requirement: &'q FieldRequirement,
    holds: fn(&T, &FieldPath, &FieldRequirement) -> bool,
}

impl<'q, T> Query<'q, T> {
    /// All objects.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            namespace: None,
            labels: None,
            fields: Vec::new(),
        }
    }

    /// Only objects in this namespace.
    #[must_use]
    pub fn namespace(self, namespace: &'q str) -> Self
    where
        T: Namespaced,
    {
        Self {
            namespace: Some((namespace, T::namespace)),
            ..self
        }
    }

    /// Only objects with such labels.
    #[must_use]
    pub fn labels(self, selector: &'q LabelSelector) -> Self {
        Self {
            labels: Some(selector),
            ..self
        }
    }

    /// Only objects with such fields. As on the server, an absent field is the empty text; of a field
    /// with several values the first one counts.
    ///
    /// # Errors
    /// A field of the selector is not a path.
    pub fn fields(self, selector: &'q FieldSelector) -> Result<Self, ParseFieldPathError>
    where
        T: Fields,
    {
        let holds = |object: &T, path: &FieldPath, requirement: &FieldRequirement| {
            let mut accepted = None;
            object.each_field(path, &mut |scalar| {
                if accepted.is_none() {
                    accepted = scalar.as_text().map(|text| requirement.accepts(text));
                }
            });
            accepted.unwrap_or_else(|| requirement.accepts(""))
        };
        let conditions = selector.requirements().iter().map(|requirement| {
            Ok(FieldCondition {
                path: requirement.field().parse()?,
                requirement,
                holds,
            })
        });
        Ok(Self {
            fields: conditions.collect::<Result<_, _>>()?,
            ..self
        })
    }

    /// Whether an object is wanted.
    #[must_use]
    pub fn matches(&self, object: &T) -> bool
    where
        T: Resource,
    {
        self.namespace
            .is_none_or(|(namespace, of)| of(object) == namespace)
            && self.labels.is_none_or(|labels| labels.matches(object))
            && self
                .fields
                .iter()
                .all(|field| (field.holds)(object, &field.path, field.requirement))
    }

    /// The cheapest way to the objects that are wanted.
    pub(crate) fn access<S: Storage>(&self, view: &View<T, S>) -> Access
    where
        T: Resource + Clone,
    {
        // A selector without requirements selects everything; one that has none at all, nothing.
        let labels = match self.labels.map(LabelSelector::requirements) {
            Some(None) => return Access::Nothing,
            Some(Some(requirements)) => requirements,
            None => &[],
        };
        let mut best = (view.len(), Access::Scan);
        for (id, _, function) in view.indices() {
            for access in self.ways(id, function, labels) {
                let candidates = access.candidates(view);
                if candidates < best.0 {
                    best = (candidates, access);
                }
            }
        }
        best.1
    }

    /// The ways that one index offers.
    fn ways(&self, id: IndexId, function: &IndexFn<T>, labels: &[LabelRequirement]) -> Vec<Access> {
        let one_of = |values: Vec<Box<[u8]>>| Access::Values { id, values };
        match function.subject() {
            Subject::Namespace => {
                let namespace = self.namespace.map(|(namespace, _)| namespace);
                let fields = self.equal_fields("metadata.namespace");
                let namespaces = namespace.into_iter().chain(fields);
                namespaces
                    .map(|value| one_of(Vec::from([bytes(value)])))
                    .collect()
            }
            Subject::Label(key) => {
                let mine = labels.iter().filter(|requirement| requirement.key() == key);
                mine.filter_map(|requirement| match requirement.operator() {
                    LabelOperator::In | LabelOperator::Equals | LabelOperator::DoubleEquals => {
                        Some(one_of(requirement.values().map(bytes).collect()))
                    }
                    LabelOperator::Exists => Some(Access::Whole { id }),
                    _ => None,
                })
                .collect()
            }
            Subject::LabelPairs => {
                let ways = labels.iter().filter_map(|requirement| {
                    let key = requirement.key();
                    match requirement.operator() {
                        LabelOperator::In | LabelOperator::Equals | LabelOperator::DoubleEquals => {
                            let pairs = requirement.values().map(|value| format!("{key}={value}"));
                            Some(one_of(pairs.map(|pair| bytes(&pair)).collect()))
                        }
                        LabelOperator::Exists if function.is_ordered() => {
                            // `>` is the character behind `=`.
                            let from = Bound::Included(format!("{key}=").into_bytes());
                            let to = Bound::Excluded(format!("{key}>").into_bytes());
                            Some(Access::Range { id, from, to })
                        }
                        _ => None,
                    }
                });
                ways.collect()
            }
            Subject::Field(path) => {
                let values = self.equal_fields(path);
                values
                    .map(|value| one_of(Vec::from([bytes(value)])))
                    .collect()
            }
            _ => Vec::new(),
        }
    }

    /// The texts that a field must be equal to. An absent field equals the empty text, and is in no
    /// index, so that one does not count.
    fn equal_fields(&self, path: &str) -> impl Iterator<Item = &'q str> {
        let conditions = self.fields.iter().map(|field| field.requirement);
        conditions.filter_map(move |requirement| {
            let mine = requirement.field().trim_start_matches('.') == path
                && requirement.operator() == FieldOperator::Equals
                && !requirement.value().is_empty();
            mine.then(|| requirement.value())
        })
    }
}

/// A way to some objects among which are all that are wanted, each once.
pub(crate) enum Access {
    Nothing,
    Scan,
    Values {
        id: IndexId,
        values: Vec<Box<[u8]>>,
    },
    Range {
        id: IndexId,
        from: Bound<Vec<u8>>,
        to: Bound<Vec<u8>>,
    },
    Whole {
        id: IndexId,
    },
}

impl Access {
    /// How many objects it leads to.
    pub(crate) fn candidates<T: Resource + Clone, S: Storage>(&self, view: &View<T, S>) -> usize {
        let filed = |(_, objects): (_, Filed<'_, T, S>)| objects.len();
        match self {
            Self::Nothing => 0,
            Self::Scan => view.len(),
            Self::Values { id, values } => values
                .iter()
                .map(|value| view.count(*id, value).unwrap_or(0))
                .sum(),
            Self::Range { id, from, to } => view
                .range(*id, (as_slice(from), as_slice(to)))
                .map_or(0, |range| range.rows().map(filed).sum()),
            Self::Whole { id } => view
                .table(*id)
                .map_or(0, |table| table.rows().map(filed).sum()),
        }
    }

    /// The objects it leads to.
    pub(crate) fn objects<'a, T: Resource + Clone, S: Storage>(
        self,
        view: &'a View<T, S>,
    ) -> Box<dyn Iterator<Item = &'a T> + 'a> {
        // The index was found in this very view.
        match self {
            Self::Nothing => Box::new(core::iter::empty()),
            Self::Scan => Box::new(view.iter()),
            Self::Values { id, values } => Box::new(
                values
                    .into_iter()
                    .filter_map(move |value| view.by_index(id, value).ok())
                    .flatten(),
            ),
            Self::Range { id, from, to } => {
                let range = view.range(id, (as_slice(&from), as_slice(&to)));
                Box::new(range.into_iter().flat_map(|range| range.objects()))
            }
            Self::Whole { id } => {
                let table = view.table(id);
                Box::new(table.into_iter().flat_map(|table| table.objects()))
            }
        }
    }

    /// The same for people.
    pub(crate) fn plan<'a, T: Resource + Clone, S: Storage>(
        &self,
        view: &'a View<T, S>,
    ) -> Plan<'a> {
        let id = match self {
            Self::Nothing => return Plan::Nothing,
            Self::Scan => {
                return Plan::Scan {
                    objects: view.len(),
                };
            }
            Self::Values { id, .. } | Self::Range { id, .. } | Self::Whole { id } => *id,
        };
        let mut names = view.indices();
        let name = names.find_map(|(it, name, _)| (it == id).then_some(name));
        Plan::Index {
            name: name.unwrap_or_default(),
            candidates: self.candidates(view),
        }
    }
}

/// How a query is answered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Plan<'a> {
    /// Nothing can match.
    Nothing,
    /// Every object is looked at.
    Scan {
        /// So many there are.
        objects: usize,
    },
    /// What an index gives is looked at.
    Index {
        /// The name of the index.
        name: &'a str,
        /// How many objects it gives.
        candidates: usize,
    },
}

impl fmt::Display for Plan<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => f.write_str("nothing can match"),
            Self::Scan { objects: 1 } => f.write_str("scan of the only object"),
            Self::Scan { objects } => write!(f, "scan of all {objects} objects"),
            Self::Index { name, candidates } => {
                let ending = if *candidates == 1 { "" } else { "s" };
                write!(f, "{candidates} candidate{ending} from the index {name:?}")
            }
        }
    }
}

fn bytes(text: &str) -> Box<[u8]> {
    text.as_bytes().into()
}

fn as_slice(bound: &Bound<Vec<u8>>) -> Bound<&[u8]> {
    bound.as_ref().map(Vec::as_slice)
}

impl<T> Default for Query<'_, T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> fmt::Debug for Query<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fields = self.fields.iter().map(|field| field.requirement);
        f.debug_struct("Query")
            .field("namespace", &self.namespace.map(|(namespace, _)| namespace))
            .field("labels", &self.labels)
            .field("fields", &fields.collect::<Vec<_>>())
            .finish()
    }
}
