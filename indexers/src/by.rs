//! Ready-made index functions: by namespace, label, owner, annotation, node or any field.
//!
//! None of them fails: an object without the label, field or owner is simply not filed.
//!
//! ```
//! use informer_core::decode::{Lean, decode_object};
//! use informer_core::indexer::Indexer;
//! use informer_core::storage::{Heap, Seed};
//! use informer_indexers::by;
//!
//! let mut store = Indexer::<_, Heap>::new(Seed::new(1));
//! store.add_index("namespace", by::namespace())?;
//! store.add_index("app", by::label("app"))?;
//! store.add_index("node", by::node_name())?;
//! store.add_index("image", by::field("spec.containers[*].image".parse()?))?;
//!
//! let json = br#"{"metadata":{"namespace":"web","name":"a","labels":{"app":"shop"}},
//!     "spec":{"nodeName":"n1","containers":[{"image":"shop:7"},{"image":"proxy:2"}]}}"#;
//! store.put(decode_object(&mut Lean, json)?)?;
//!
//! for (index, value) in [("namespace", "web"), ("app", "shop"), ("node", "n1"), ("image", "proxy:2")] {
//!     assert_eq!(store.count(index, value)?, 1, "{index}");
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::ToString;

use informer_core::decode::{FieldPath, Fields, Scalar, known};
use informer_core::indexer::{IndexFn, Subject};
use informer_core::{Metadata, OwnerReference, Resource};

use crate::key::Namespaced;
use crate::typed::TypedIndex;
use crate::value::Encode;

/// By namespace. A cluster-scoped object is filed under the empty string.
///
/// ```
/// # use informer_core::decode::{Lean, decode_object};
/// # use informer_core::indexer::Indexer;
/// # use informer_core::storage::{Heap, Seed};
/// # use informer_indexers::by;
/// let mut store = Indexer::<_, Heap>::new(Seed::new(1));
/// store.add_index("namespace", by::namespace())?;
/// store.put(decode_object(&mut Lean, br#"{"metadata":{"namespace":"web","name":"a"}}"#)?)?;
/// store.put(decode_object(&mut Lean, br#"{"metadata":{"name":"node-1"}}"#)?)?;
/// assert_eq!(store.count("namespace", "web")?, 1);
/// assert_eq!(store.count("namespace", "")?, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn namespace<T: Namespaced>() -> IndexFn<T> {
    IndexFn::plain(|object: &T, file| file(object.namespace().as_bytes())).about(Subject::Namespace)
}

/// By key, as displayed.
///
/// An ordered index of this kind lets [`page_by_key`](crate::Query::page_by_key) page through a store in
/// key order.
///
/// ```
/// # use informer_core::decode::{Lean, decode_object};
/// # use informer_core::indexer::Indexer;
/// # use informer_core::storage::{Heap, Seed};
/// # use informer_indexers::by;
/// let mut store = Indexer::<_, Heap>::new(Seed::new(1));
/// # use informer_indexers::Query;
/// store.add_index("key", by::key().ordered())?;
/// store.put(decode_object(&mut Lean, br#"{"metadata":{"namespace":"web","name":"b"}}"#)?)?;
/// store.put(decode_object(&mut Lean, br#"{"metadata":{"namespace":"web","name":"a"}}"#)?)?;
///
/// let page = Query::new().page_by_key(&store, None, 1)?;
/// assert_eq!(page.objects[0].key().as_str(), "web/a");
/// assert_eq!(page.next.as_deref(), Some("web/a"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn key<T: Resource<Key: ToString>>() -> IndexFn<T> {
    IndexFn::plain(|object: &T, file| file(object.key().to_string().as_bytes())).about(Subject::Key)
}

/// By the value of the label `key`.
///
/// ```
/// # use informer_core::decode::{Lean, decode_object};
/// # use informer_core::indexer::Indexer;
/// # use informer_core::storage::{Heap, Seed};
/// # use informer_indexers::by;
/// let mut store = Indexer::<_, Heap>::new(Seed::new(1));
/// store.add_index("app", by::label("app"))?;
/// store.put(decode_object(&mut Lean, br#"{"metadata":{"name":"a","labels":{"app":"shop"}}}"#)?)?;
/// assert_eq!(store.count("app", "shop")?, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn label<T: Resource>(key: impl Into<Cow<'static, str>>) -> IndexFn<T> {
    let key = key.into();
    let subject = Subject::Label(key.clone());
    let function = IndexFn::new(move |object: &T, file: &mut dyn FnMut(&[u8])| {
        object.label(&key, &mut |value| file(value.as_bytes()));
    });
    function.about(subject)
}

/// By every label, as `key=value`. One such index serves queries for any label.
///
/// ```
/// # use informer_core::decode::{Lean, decode_object};
/// # use informer_core::indexer::Indexer;
/// # use informer_core::storage::{Heap, Seed};
/// # use informer_indexers::by;
/// let mut store = Indexer::<_, Heap>::new(Seed::new(1));
/// store.add_index("labels", by::label_pairs())?;
/// store.put(decode_object(&mut Lean, br#"{"metadata":{"name":"a","labels":{"app":"shop","tier":"web"}}}"#)?)?;
/// assert_eq!(store.count("labels", "app=shop")?, 1);
/// assert_eq!(store.count("labels", "tier=web")?, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn label_pairs<T: Resource>() -> IndexFn<T> {
    IndexFn::plain(|object: &T, file| {
        object.labels(&mut |key, value| file(format!("{key}={value}").as_bytes()));
    })
    .about(Subject::LabelPairs)
}

/// By the value of the annotation `key`.
///
/// ```
/// # use informer_core::decode::{Lean, decode_object};
/// # use informer_core::indexer::Indexer;
/// # use informer_core::storage::{Heap, Seed};
/// # use informer_indexers::by;
/// let mut store = Indexer::<_, Heap>::new(Seed::new(1));
/// store.add_index("team", by::annotation("acme.org/team"))?;
/// store.put(decode_object(&mut Lean, br#"{"metadata":{"name":"a","annotations":{"acme.org/team":"red"}}}"#)?)?;
/// assert_eq!(store.count("team", "red")?, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn annotation<T: Metadata>(key: impl Into<Cow<'static, str>>) -> IndexFn<T> {
    let key = key.into();
    let subject = Subject::Annotation(key.clone());
    let function = IndexFn::new(move |object: &T, file: &mut dyn FnMut(&[u8])| {
        // The last one counts.
        let mut found = None;
        object.each_annotation(&mut |name, value| {
            if *name == key {
                found = Some(value.to_string());
            }
        });
        if let Some(value) = found {
            file(value.as_bytes());
        }
    });
    function.about(subject)
}

/// By the UIDs of the owner references. Use it to find the children of an object.
///
/// ```
/// # use informer_core::decode::{Lean, decode_object};
/// # use informer_core::indexer::Indexer;
/// # use informer_core::storage::{Heap, Seed};
/// # use informer_indexers::by;
/// let mut store = Indexer::<_, Heap>::new(Seed::new(1));
/// store.add_index("owner", by::owner_uid())?;
/// store.put(decode_object(&mut Lean, br#"{"metadata":{"name":"a","ownerReferences":[{"uid":"u-1"}]}}"#)?)?;
/// assert_eq!(store.count("owner", "u-1")?, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn owner_uid<T: Metadata>() -> IndexFn<T> {
    let path = "metadata.ownerReferences[*].uid";
    owners_that(|_| true).about(Subject::Field(path.into()))
}

/// By the UID of the controller: the one owner reference with `controller: true`.
///
/// ```
/// # use informer_core::decode::{Lean, decode_object};
/// # use informer_core::indexer::Indexer;
/// # use informer_core::storage::{Heap, Seed};
/// # use informer_indexers::by;
/// let mut store = Indexer::<_, Heap>::new(Seed::new(1));
/// store.add_index("controller", by::controller_uid())?;
/// let owners = r#"[{"uid":"u-1"},{"uid":"u-2","controller":true}]"#;
/// let json = format!(r#"{{"metadata":{{"name":"a","ownerReferences":{owners}}}}}"#);
/// store.put(decode_object(&mut Lean, json.as_bytes())?)?;
/// assert_eq!(store.count("controller", "u-1")?, 0);
/// assert_eq!(store.count("controller", "u-2")?, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn controller_uid<T: Metadata>() -> IndexFn<T> {
    owners_that(|owner| owner.controller).named("UID of the controller")
}

/// By the UIDs of these owners. A reference without a UID refers to nobody.
fn owners_that<T: Metadata>(wanted: fn(&OwnerReference<'_>) -> bool) -> IndexFn<T> {
    IndexFn::new(move |object: &T, file: &mut dyn FnMut(&[u8])| {
        object.each_owner(&mut |owner| {
            if wanted(&owner) && !owner.uid.is_empty() {
                file(owner.uid.as_bytes());
            }
        });
    })
}

/// By the node of a pod (`spec.nodeName`). A pod without a node is not filed.
///
/// ```
/// # use informer_core::decode::{Lean, decode_object};
/// # use informer_core::indexer::Indexer;
/// # use informer_core::storage::{Heap, Seed};
/// # use informer_indexers::by;
/// let mut store = Indexer::<_, Heap>::new(Seed::new(1));
/// store.add_index("node", by::node_name())?;
/// store.put(decode_object(&mut Lean, br#"{"metadata":{"name":"a"},"spec":{"nodeName":"n1"}}"#)?)?;
/// store.put(decode_object(&mut Lean, br#"{"metadata":{"name":"pending"},"spec":{}}"#)?)?;
/// assert_eq!(store.count("node", "n1")?, 1);
/// assert_eq!(store.count("node", "")?, 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn node_name<T: Fields>() -> IndexFn<T> {
    field(known::POD_NODE_NAME.into())
}

/// By the strings, numbers and booleans at a path, all as text.
///
/// A path with `[*]` files an object under several values.
///
/// ```
/// # use informer_core::decode::{Lean, decode_object};
/// # use informer_core::indexer::Indexer;
/// # use informer_core::storage::{Heap, Seed};
/// # use informer_indexers::by;
/// let mut store = Indexer::<_, Heap>::new(Seed::new(1));
/// store.add_index("image", by::field("spec.containers[*].image".parse()?))?;
/// store.put(decode_object(&mut Lean, br#"{"metadata":{"name":"a"},"spec":{"containers":[{"image":"shop:7"},{"image":"proxy:2"}]}}"#)?)?;
/// assert_eq!(store.count("image", "shop:7")?, 1);
/// assert_eq!(store.count("image", "proxy:2")?, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn field<T: Fields>(path: FieldPath) -> IndexFn<T> {
    let subject = Subject::Field(path.as_str().trim_start_matches('.').to_string().into());
    let function = IndexFn::new(move |object: &T, file: &mut dyn FnMut(&[u8])| {
        object.each_field(&path, &mut |scalar| {
            if let Some(text) = scalar.as_text() {
                file(text.as_bytes());
            }
        });
    });
    function.about(subject)
}

/// By the integers at a path. An ordered index sorts them as numbers.
///
/// Values that are not 64-bit integers are ignored.
///
/// ```
/// # use informer_core::decode::{Lean, decode_object};
/// # use informer_core::indexer::Indexer;
/// # use informer_core::storage::{Heap, Seed};
/// # use informer_indexers::by;
/// let mut store = Indexer::<_, Heap>::new(Seed::new(1));
/// let priority = by::integer("spec.priority".parse()?).ordered();
/// let priority = priority.add_to(&mut store, "priority")?;
/// for (name, value) in [("a", "9"), ("b", "10"), ("c", "1.5")] {
///     let json = format!(r#"{{"metadata":{{"name":"{name}"}},"spec":{{"priority":{value}}}}}"#);
///     store.put(decode_object(&mut Lean, json.as_bytes())?)?;
/// }
/// assert_eq!(priority.values(&store)?.collect::<Vec<_>>(), [9, 10]);
/// assert_eq!(priority.range(&store, 10..)?.objects().count(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn integer<T: Fields>(path: FieldPath) -> TypedIndex<T, i64> {
    let name = format!("integers of {}", path.as_str().trim_start_matches('.'));
    let function = IndexFn::new(move |object: &T, file: &mut dyn FnMut(&[u8])| {
        object.each_field(&path, &mut |scalar| {
            if let Scalar::Number(text) = scalar
                && let Ok(number) = text.parse::<i64>()
            {
                let mut bytes = alloc::vec::Vec::new();
                number.encode(&mut bytes);
                file(&bytes);
            }
        });
    });
    TypedIndex::from_fn(function.named(name))
}
