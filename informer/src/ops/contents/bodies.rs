//! Access to the bodies of objects, where the program allows it.

use std::any::type_name;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use informer_core::Object;
use informer_core::decode::{FieldPath, Fields, ParseFieldPathError, ToJson};
use informer_indexers::Query;
use informer_indexers::selector::FieldSelector;
use informer_indexers::shared::Snapshot;
use serde_json::value::RawValue;

use super::{Contents, Reading};
use crate::informer::Informer;
use crate::inspect::{Inspect, sealed::Sealed};
use crate::panics::panic_text;
use crate::shared::SharedInformer;

/// An informer whose objects can be shown whole: see
/// [`OpsBuilder::add_with_bodies`](crate::ops::OpsBuilder::add_with_bodies).
///
/// Objects that keep their text can, and typed objects whose type implements `serde::Serialize`.
pub trait WithBodies: Inspect + Sealed {
    /// What the port keeps of it.
    #[doc(hidden)]
    fn opener(&self) -> Opener;
}

impl<K: Send + Sync + 'static> WithBodies for SharedInformer<K>
where
    Object<K>: ToJson + Fields,
{
    fn opener(&self) -> Opener {
        let engine = Arc::downgrade(self.engine());
        let identity = engine.as_ptr().addr();
        let open = move || {
            let engine = engine.upgrade()?;
            let reading = Reading::open(engine, Opened::new());
            Some(Arc::new(reading) as Arc<dyn Contents>)
        };
        Opener {
            identity,
            open: Box::new(open),
        }
    }
}

impl<K: Send + Sync + 'static> WithBodies for Informer<K>
where
    Object<K>: ToJson + Fields,
{
    fn opener(&self) -> Opener {
        self.shared().opener()
    }
}

/// Opens the contents of an informer with their bodies. Does not keep the informer alive, but its memory, so
/// that no other informer has its identity.
pub struct Opener {
    pub(in crate::ops) identity: usize,
    pub(in crate::ops) open: Box<dyn Fn() -> Option<Arc<dyn Contents>> + Send + Sync>,
}

impl fmt::Debug for Opener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Opener").finish_non_exhaustive()
    }
}

/// How to read bodies of the type `K`. Stored functions replace bounds on `K`, so that informers without them
/// can be looked at, too.
pub(super) struct Opened<K> {
    json: fn(&Object<K>) -> Result<Box<RawValue>, String>,
    fields: WithFields<K>,
    knows: fn(&Object<K>, &FieldPath) -> bool,
}

type WithFields<K> = for<'q> fn(
    Query<'q, Object<K>>,
    &'q FieldSelector,
) -> Result<Query<'q, Object<K>>, ParseFieldPathError>;

impl<K> Clone for Opened<K> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K> Copy for Opened<K> {}

impl<K> Opened<K> {
    fn new() -> Self
    where
        Object<K>: ToJson + Fields,
    {
        Self {
            json: |object| {
                let text = object.to_json().map_err(|error| format!("{error}."))?;
                let checked = RawValue::from_string(text.into_owned());
                checked.map_err(|error| format!("The object is not JSON: {error}."))
            },
            fields: |query, selector| query.fields(selector),
            knows: Fields::knows_field,
        }
    }

    /// The JSON of an object. The type of a typed object is user code, which may panic.
    pub(super) fn json(&self, object: &Object<K>) -> Result<Box<RawValue>, String> {
        catch_unwind(AssertUnwindSafe(|| (self.json)(object))).unwrap_or_else(|panic| {
            let panic = panic_text(&*panic);
            Err(format!(
                "Its type panicked when it was serialized: {panic}."
            ))
        })
    }

    /// Refuses fields that the objects cannot tell, because otherwise they would look like fields without a value.
    pub(super) fn with_fields<'q>(
        &self,
        query: Query<'q, Object<K>>,
        selector: &'q FieldSelector,
        snapshot: &Snapshot<Object<K>>,
    ) -> Result<Query<'q, Object<K>>, String> {
        let about = |error| format!("The field selector: {error}.");
        for requirement in selector.requirements() {
            let path = requirement.field().parse().map_err(about)?;
            if !snapshot.iter().all(|object| (self.knows)(object, &path)) {
                return Err(format!(
                    "Objects are kept in protobuf, where {path} has no name. Select by a field of the metadata or by an index."
                ));
            }
        }
        (self.fields)(query, selector).map_err(about)
    }
}

/// The form of the bodies, or their type.
pub(super) fn form_name<K>() -> String {
    let name = type_name::<K>();
    let text = name.split_once("TextBody<").map(|(_, form)| form);
    let form = text.and_then(|form| form.split([',', '>']).next());
    match form.and_then(|form| form.rsplit("::").next()) {
        Some("Lean") => "lean".to_owned(),
        Some("Packed") => "packed".to_owned(),
        Some("MetadataOnly") => "metadata".to_owned(),
        _ if name == type_name::<serde_json::Value>() => "dynamic".to_owned(),
        _ => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LeanBody, MetadataBody, PackedBody};

    #[test]
    fn forms_have_short_names_and_types_their_own() {
        assert_eq!(form_name::<LeanBody>(), "lean");
        assert_eq!(form_name::<PackedBody<Vec<String>>>(), "packed");
        assert_eq!(form_name::<MetadataBody>(), "metadata");
        assert_eq!(form_name::<serde_json::Value>(), "dynamic");
        assert_eq!(form_name::<String>(), "alloc::string::String");
    }
}
