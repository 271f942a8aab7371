//! Ready-made index functions: by namespace, label, owner, annotation, node or any field.
//!
//! None of them can fail: an object without the thing asked for is filed under nothing.
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

use informer_core::Resource;
use informer_core::decode::{FieldPath, Fields, Scalar};
use informer_core::indexer::{IndexFn, Subject};

use crate::key::Namespaced;
use crate::typed::TypedIndex;
use crate::value::Encode;

/// By namespace; an object without one is filed under the empty text.
#[must_use]
pub fn namespace<T: Namespaced>() -> IndexFn<T> {
    IndexFn::plain(|object: &T, file| file(object.namespace().as_bytes())).about(Subject::Namespace)
}

/// By the key as it is displayed. Ordered, it pages a store in the order of its keys.
#[must_use]
pub fn key<T: Resource<Key: ToString>>() -> IndexFn<T> {
    IndexFn::plain(|object: &T, file| file(object.key().to_string().as_bytes())).about(Subject::Key)
}

/// By the value of the label `key`.
#[must_use]
pub fn label<T: Resource>(key: impl Into<Cow<'static, str>>) -> IndexFn<T> {
    let key = key.into();
    let subject = Subject::Label(key.clone());
    let function = IndexFn::new(move |object: &T, file: &mut dyn FnMut(&[u8])| {
        object.labels(&mut |name, value| {
            if name == key {
                file(value.as_bytes());
            }
        });
    });
    function.about(subject)
}

/// By every label, as `key=value`.
#[must_use]
pub fn label_pairs<T: Resource>() -> IndexFn<T> {
    IndexFn::plain(|object: &T, file| {
        object.labels(&mut |key, value| file(format!("{key}={value}").as_bytes()));
    })
    .about(Subject::LabelPairs)
}

/// By the value of the annotation `key`.
#[must_use]
pub fn annotation<T: Fields>(key: &str) -> IndexFn<T> {
    field(FieldPath::from_members(["metadata", "annotations", key]))
}

/// By the UIDs of the owners.
#[must_use]
pub fn owner_uid<T: Fields>() -> IndexFn<T> {
    field(FieldPath::from_members(["metadata", "ownerReferences"]).each("uid"))
}

/// By the name of the node that a pod is on.
#[must_use]
pub fn node_name<T: Fields>() -> IndexFn<T> {
    field(FieldPath::from_members(["spec", "nodeName"]))
}

/// By the texts, numbers and truth values at the end of a path, all of them as texts.
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

/// By the whole numbers at the end of a path, sorted as numbers if the index is ordered. What is no
/// whole number of 64 bits is passed over.
#[must_use]
pub fn integer<T: Fields>(path: FieldPath) -> TypedIndex<T, i64> {
    TypedIndex::from_fn(IndexFn::new(
        move |object: &T, file: &mut dyn FnMut(&[u8])| {
            object.each_field(&path, &mut |scalar| {
                if let Scalar::Number(text) = scalar
                    && let Ok(number) = text.parse::<i64>()
                {
                    let mut bytes = alloc::vec::Vec::new();
                    number.encode(&mut bytes);
                    file(&bytes);
                }
            });
        },
    ))
}
