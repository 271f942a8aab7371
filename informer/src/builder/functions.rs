//! Settings that are functions: the transform and the hooks.

use std::sync::Arc;

use informer_core::informer::RejectedObject;
use informer_core::queue::TransformError;
use informer_core::reflector::LastFailure;
use informer_core::{Object, ObjectKey};

use super::{Function, FunctionId, InformerBuilder};

impl<K: Send + Sync + 'static> InformerBuilder<K> {
    /// Changes every object before it goes into the cache, for example to drop fields you do not need. The
    /// function must not change the key, must not panic, and may only read the cache of the informer. It
    /// sees an object before it is packed.
    ///
    /// An object for which it returns an error is rejected. A second call replaces the first transform.
    #[must_use]
    pub fn transform(
        mut self,
        transform: impl Fn(&mut Object<K>) -> Result<(), TransformError> + Send + Sync + 'static,
    ) -> Self {
        let id = FunctionId::of(&transform);
        self.transform = Some(Function::new(Arc::new(transform), id));
        self
    }

    /// Sets a [transform](Self::transform) with a name. A
    /// [factory](crate::SharedInformerFactory::informer) needs it to tell closures from each other that
    /// capture something. You promise that all transforms of this name do the same.
    #[must_use]
    pub fn transform_named(
        self,
        name: &str,
        transform: impl Fn(&mut Object<K>) -> Result<(), TransformError> + Send + Sync + 'static,
    ) -> Self {
        let mut builder = self.transform(transform);
        builder.transform = builder.transform.map(|it| it.named(name));
        builder
    }

    /// Sets a hook for every failed request, stream or answer. It should return quickly.
    #[must_use]
    pub fn on_failure(
        mut self,
        hook: impl Fn(&LastFailure<String>) + Send + Sync + 'static,
    ) -> Self {
        let id = FunctionId::of(&hook);
        self.hooks.on_failure = Some(Function::new(Arc::new(hook), id));
        self
    }

    /// Sets a hook as [`on_failure`](Self::on_failure) does, with a name: see
    /// [`transform_named`](Self::transform_named).
    #[must_use]
    pub fn on_failure_named(
        self,
        name: &str,
        hook: impl Fn(&LastFailure<String>) + Send + Sync + 'static,
    ) -> Self {
        let mut builder = self.on_failure(hook);
        builder.hooks.on_failure = builder.hooks.on_failure.map(|it| it.named(name));
        builder
    }

    /// Sets a hook for every object that was rejected because it could not be used. It should return
    /// quickly.
    #[must_use]
    pub fn on_rejected(
        mut self,
        hook: impl Fn(&RejectedObject<ObjectKey, String>) + Send + Sync + 'static,
    ) -> Self {
        let id = FunctionId::of(&hook);
        self.hooks.on_rejected = Some(Function::new(Arc::new(hook), id));
        self
    }

    /// Sets a hook as [`on_rejected`](Self::on_rejected) does, with a name: see
    /// [`transform_named`](Self::transform_named).
    #[must_use]
    pub fn on_rejected_named(
        self,
        name: &str,
        hook: impl Fn(&RejectedObject<ObjectKey, String>) + Send + Sync + 'static,
    ) -> Self {
        let mut builder = self.on_rejected(hook);
        builder.hooks.on_rejected = builder.hooks.on_rejected.map(|it| it.named(name));
        builder
    }
}
