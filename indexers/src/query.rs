//! Queries, and which index answers them.

use alloc::boxed::Box;
use alloc::format;
use alloc::vec::Vec;
use core::fmt;
use core::ops::Bound;

use informer_core::Resource;
use informer_core::decode::{FieldPath, Fields, ParseFieldPathError};
use informer_core::indexer::{ByIndex, IndexFn, IndexId, Subject, View};
use informer_core::storage::Storage;

use crate::key::Namespaced;
use crate::selector::{
    FieldOperator, FieldRequirement, FieldSelector, LabelOperator, LabelRequirement, LabelSelector,
};

/// Selects objects by namespace, labels and fields. All conditions must hold; without any, every object
/// matches.
///
/// [`select`](Self::select) reads a store or snapshot, and [`matches`](Self::matches) checks a single
/// object.
///
/// ```
/// use informer_core::decode::{Lean, decode_object};
/// use informer_indexers::Query;
///
/// let app = "app=shop".parse()?;
/// let node = "spec.nodeName=n1".parse()?;
/// let query = Query::new().namespace("web").labels(&app).fields(&node)?;
///
/// let pod = |node: &str| {
///     let json = format!(
///         r#"{{"metadata":{{"namespace":"web","name":"a","labels":{{"app":"shop"}}}},"spec":{{"nodeName":"{node}"}}}}"#
///     );
///     decode_object(&mut Lean, json.as_bytes())
/// };
/// assert!(query.matches(&pod("n1")?));
/// assert!(!query.matches(&pod("n2")?));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Query<'q, T> {
    namespace: Option<(&'q str, NamespaceOf<T>)>,
    labels: Option<&'q LabelSelector>,
    fields: Vec<FieldCondition<'q, T>>,
}

// A stored function replaces a bound on `T`, so that only the method that needs the bound has it.
type NamespaceOf<T> = fn(&T) -> &str;

struct FieldCondition<'q, T> {
    path: FieldPath,
    requirement: &'q FieldRequirement,
    holds: fn(&T, &FieldPath, &FieldRequirement) -> bool,
}

impl<'q, T> Query<'q, T> {
    /// Creates a query that matches all objects.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            namespace: None,
            labels: None,
            fields: Vec::new(),
        }
    }

    /// Restricts the query to a namespace.
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

    /// Restricts the query to objects that a label selector matches.
    #[must_use]
    pub fn labels(self, selector: &'q LabelSelector) -> Self {
        Self {
            labels: Some(selector),
            ..self
        }
    }

    /// Restricts the query to objects that a field selector matches.
    ///
    /// As on the server, an absent field counts as the empty string. If a path gives several values, the
    /// first one counts.
    ///
    /// # Errors
    /// A field name in the selector is not a valid path.
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

    /// Whether an object matches.
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

    /// The access path with the fewest candidates.
    pub(crate) fn access<S: Storage>(&self, view: &View<T, S>) -> Access
    where
        T: Resource + Clone,
    {
        // An empty list of requirements selects everything; `None` selects nothing.
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

    /// The access paths that one index offers.
    fn ways(&self, id: IndexId, function: &IndexFn<T>, labels: &[LabelRequirement]) -> Vec<Access> {
        let one_of = |values: Vec<Box<[u8]>>| Access::Values { id, values };
        let one = |value: &str| one_of(Vec::from([bytes(value)]));
        match function.subject() {
            Subject::Namespace => {
                let namespace = self.namespace.map(|(namespace, _)| namespace);
                let fields = self.equal_fields("metadata.namespace");
                namespace.into_iter().chain(fields).map(one).collect()
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
                            // `>` is the character after `=`.
                            let from = Bound::Included(format!("{key}=").into_bytes());
                            let to = Bound::Excluded(format!("{key}>").into_bytes());
                            Some(Access::Range { id, from, to })
                        }
                        _ => None,
                    }
                });
                ways.collect()
            }
            Subject::Annotation(key) => {
                let path = FieldPath::from_members(["metadata", "annotations", key]);
                self.equal_fields(path.as_str()).map(one).collect()
            }
            Subject::Field(path) => self.equal_fields(path).map(one).collect(),
            _ => Vec::new(),
        }
    }

    /// The values that a field must equal. The empty string is left out: it also matches absent fields,
    /// which are in no index.
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

/// An access path: it gives a superset of the matching objects, each object once.
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
    /// How many objects it gives.
    pub(crate) fn candidates<T: Resource + Clone, S: Storage>(&self, view: &View<T, S>) -> usize {
        let filed = |(_, objects): (_, ByIndex<'_, T, S>)| objects.len();
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

    /// The objects it gives.
    pub(crate) fn objects<'a, T: Resource + Clone, S: Storage>(
        self,
        view: &'a View<T, S>,
    ) -> Box<dyn Iterator<Item = &'a T> + 'a> {
        // The index was found in this view, so the look-ups below cannot fail.
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

    /// The plan, for people.
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

/// How a query is answered, from [`Query::plan`].
///
/// ```
/// use informer_core::decode::{Lean, decode_object};
/// use informer_core::indexer::Indexer;
/// use informer_core::storage::{Heap, Seed};
/// use informer_indexers::{Plan, Query, by};
///
/// let mut store = Indexer::<_, Heap>::new(Seed::new(1));
/// for name in ["a", "b"] {
///     let json = format!(r#"{{"metadata":{{"namespace":"{name}","name":"{name}"}}}}"#);
///     store.put(decode_object(&mut Lean, json.as_bytes())?)?;
/// }
/// let query = Query::new().namespace("a");
/// assert_eq!(query.plan(&store), Plan::Scan { objects: 2 });
///
/// store.add_index("namespace", by::namespace())?;
/// assert_eq!(query.plan(&store).to_string(), r#"1 candidate from the index "namespace""#);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Plan<'a> {
    /// Nothing can match.
    Nothing,
    /// Every object is checked.
    Scan {
        /// How many objects there are.
        objects: usize,
    },
    /// Only the candidates from an index are checked.
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

// Derived impls would require the same traits of `T`.
impl<T> Clone for Query<'_, T> {
    fn clone(&self) -> Self {
        Self {
            namespace: self.namespace,
            labels: self.labels,
            fields: self.fields.clone(),
        }
    }
}

impl<T> Clone for FieldCondition<'_, T> {
    fn clone(&self) -> Self {
        Self {
            path: self.path.clone(),
            requirement: self.requirement,
            holds: self.holds,
        }
    }
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
