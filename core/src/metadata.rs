//! What an object says about its owners and annotations.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::sync::Arc;

/// Gives access to the owner references and annotations of an object, for index functions.
///
/// Every [`Object`](crate::Object) implements it, whatever its body is. Implement it for your own type to
/// use `by::owner_uid` and `by::annotation` with your own objects.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no owner references and annotations that can be read",
    note = "every `informer_core::Object` has them; implement `Metadata` for objects of your own"
)]
pub trait Metadata {
    /// Calls `visit` with every owner reference.
    fn each_owner(&self, visit: &mut dyn FnMut(OwnerReference<'_>));

    /// Calls `visit` with every annotation. If a key is repeated, the last value counts.
    fn each_annotation(&self, visit: &mut dyn FnMut(&str, &str));
}

/// One of `metadata.ownerReferences`: an object that this one belongs to.
///
/// ```
/// use informer_core::OwnerReference;
///
/// let owner = OwnerReference::new("apps/v1", "ReplicaSet", "shop", "u-1").controlling();
/// assert_eq!((owner.group(), &*owner.kind), ("apps", "ReplicaSet"));
/// assert!(owner.controller);
/// assert_eq!(OwnerReference::new("v1", "Node", "node-1", "u-2").group(), "");
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct OwnerReference<'a> {
    /// The group and version, such as `apps/v1`; only a version for the core group.
    pub api_version: Cow<'a, str>,
    /// The kind.
    pub kind: Cow<'a, str>,
    /// The name. The owner is in the namespace of this object, or has none.
    pub name: Cow<'a, str>,
    /// The uid.
    pub uid: Cow<'a, str>,
    /// Whether it is the controller of this object. At most one owner is.
    pub controller: bool,
}

impl<'a> OwnerReference<'a> {
    /// A reference to an owner that is not the controller.
    pub fn new(
        api_version: impl Into<Cow<'a, str>>,
        kind: impl Into<Cow<'a, str>>,
        name: impl Into<Cow<'a, str>>,
        uid: impl Into<Cow<'a, str>>,
    ) -> Self {
        Self {
            api_version: api_version.into(),
            kind: kind.into(),
            name: name.into(),
            uid: uid.into(),
            controller: false,
        }
    }

    /// The same owner, as the controller.
    #[must_use]
    pub fn controlling(self) -> Self {
        Self {
            controller: true,
            ..self
        }
    }

    /// The group of its kind; empty for the core group.
    #[must_use]
    pub fn group(&self) -> &str {
        let parts = self.api_version.split_once('/');
        parts.map_or("", |(group, _)| group)
    }

    /// The same reference, with texts of its own.
    #[must_use]
    pub fn into_owned(self) -> OwnerReference<'static> {
        let owned = |text: Cow<'_, str>| Cow::<'static, str>::Owned(String::from(text));
        OwnerReference {
            api_version: owned(self.api_version),
            kind: owned(self.kind),
            name: owned(self.name),
            uid: owned(self.uid),
            controller: self.controller,
        }
    }
}

macro_rules! metadata_through_pointer {
    ($($pointer:ty),*) => {$(
        impl<M: Metadata + ?Sized> Metadata for $pointer {
            fn each_owner(&self, visit: &mut dyn FnMut(OwnerReference<'_>)) {
                (**self).each_owner(visit);
            }

            fn each_annotation(&self, visit: &mut dyn FnMut(&str, &str)) {
                (**self).each_annotation(visit);
            }
        }
    )*};
}

metadata_through_pointer!(&M, Box<M>, Rc<M>, Arc<M>);
