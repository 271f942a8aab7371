//! Default settings for all informers of a factory.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use informer_core::indexer::StoreLimits;
use informer_core::queue::TransformError;
use informer_core::transport::Target;
use informer_core::{Labels, Object, ObjectKey};

/// Default settings for all informers of a factory.
#[derive(Default)]
pub(crate) struct Defaults {
    pub(crate) namespace: Option<String>,
    pub(crate) resync: Option<Duration>,
    pub(crate) limits: StoreLimits,
    pub(crate) keep_managed_fields: bool,
    pub(crate) tweak: Option<Arc<Tweak>>,
    pub(crate) transform: Option<Arc<TransformAny>>,
}

pub(crate) type Tweak = dyn Fn(&mut Target) + Send + Sync;
type TransformAny = dyn Fn(Meta<'_>) -> Result<(), TransformError> + Send + Sync;

/// The part of an object that every kind has, for
/// [`SharedInformerFactory::transform`](crate::SharedInformerFactory::transform).
pub struct Meta<'a> {
    pub(crate) object: &'a mut dyn AnyObject,
}

impl Meta<'_> {
    /// Namespace and name.
    #[must_use]
    pub fn key(&self) -> &ObjectKey {
        self.object.key()
    }

    /// The labels that indices and queries use.
    #[must_use]
    pub fn labels(&self) -> Labels<'_> {
        self.object.labels()
    }

    /// Replaces the labels that indices and queries use. The body keeps its labels.
    pub fn set_labels<'l>(&mut self, labels: impl IntoIterator<Item = (&'l str, &'l str)>) {
        self.object.set_labels(&mut labels.into_iter());
    }
}

impl fmt::Debug for Meta<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Meta")
            .field("key", self.key())
            .field("labels", &self.labels())
            .finish()
    }
}

/// An object with a body of any type.
pub(crate) trait AnyObject {
    fn key(&self) -> &ObjectKey;
    fn labels(&self) -> Labels<'_>;
    fn set_labels(&mut self, labels: &mut dyn Iterator<Item = (&str, &str)>);
}

impl<K> AnyObject for Object<K> {
    fn key(&self) -> &ObjectKey {
        self.key()
    }

    fn labels(&self) -> Labels<'_> {
        self.labels()
    }

    fn set_labels(&mut self, labels: &mut dyn Iterator<Item = (&str, &str)>) {
        // The object was just decoded, so it is not shared.
        if let Some(mut object) = self.get_mut() {
            object.set_labels(labels);
        }
    }
}
