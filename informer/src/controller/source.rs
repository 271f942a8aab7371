//! What a controller follows: informers that enqueue keys.

use std::any::Any;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use informer_core::ObjectKey;
use informer_core::transport::{Caller, Target, Transport};

use super::Queue;
use crate::builder::InformerBuilder;
use crate::connect::{Calls, Connect, ConnectError};
use crate::error::{BuildError, NotReached, NotSynced, StartError};
use crate::handler::Handler;
#[cfg(feature = "metrics")]
use crate::inspect::{Inspect, Inspected};
use crate::registration::Registration;
use crate::runtime::Runtime;
use crate::shared::SharedInformer;
use crate::written::Written;

/// A client of any type.
#[derive(Clone)]
pub(crate) struct AnyClient {
    connect: Arc<AnyConnect>,
    caller: Result<Arc<dyn Caller>, ConnectError>,
}

type AnyTransport = Box<dyn Transport + Send + Unpin>;
type AnyConnect = dyn Fn(&Target) -> Result<AnyTransport, ConnectError> + Send + Sync;

impl AnyClient {
    pub(crate) fn new(client: &(impl Connect + Calls + Clone + Send + Sync + 'static)) -> Self {
        let caller = client.caller();
        let client = client.clone();
        let connect = move |target: &Target| {
            let transport = client.connect(target)?;
            Ok(Box::new(transport) as AnyTransport)
        };
        Self {
            connect: Arc::new(connect),
            caller,
        }
    }
}

impl Connect for AnyClient {
    type Transport = AnyTransport;

    fn connect(&self, target: &Target) -> Result<AnyTransport, ConnectError> {
        (self.connect)(target)
    }
}

impl Calls for AnyClient {
    fn caller(&self) -> Result<Arc<dyn Caller>, ConnectError> {
        self.caller.clone()
    }
}

/// Starts an informer.
pub(super) type Start = Box<dyn FnOnce(&Ground<'_>) -> Result<Box<dyn Source>, BuildError> + Send>;

/// What an informer of a controller needs.
pub(super) struct Ground<'a> {
    pub(super) client: &'a AnyClient,
    pub(super) runtime: &'a Arc<dyn Runtime>,
    pub(super) queue: &'a Queue<ObjectKey>,
}

/// A started informer, whatever it keeps.
pub(super) trait Source: Send + Sync {
    /// Waits until all its initial keys are queued.
    fn synced(
        &self,
        timeout: Duration,
    ) -> Pin<Box<dyn Future<Output = Result<(), NotSynced>> + Send + '_>>;

    /// Fails if it has ended.
    fn check(&self) -> Result<(), StartError>;

    fn stop(&self);

    /// Waits until it has stopped.
    fn join(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>>;

    /// The [`SharedInformer`].
    fn informer(&self) -> &dyn Any;

    #[cfg(feature = "metrics")]
    fn inspected(&self) -> Inspected;

    /// Waits until its cache shows what was written, if it follows such objects.
    fn shows<'a>(
        &'a self,
        written: Written<'a>,
        timeout: Duration,
    ) -> Pin<Box<dyn Future<Output = Result<(), NotReached>> + Send + 'a>>;
}

struct Started<B: Send + Sync + 'static> {
    informer: SharedInformer<B>,
    registration: Registration<B>,
}

/// Builds and starts an informer with a handler.
pub(super) fn start<B, H>(
    builder: InformerBuilder<B>,
    handler: impl FnOnce(Queue<ObjectKey>) -> H + Send + 'static,
) -> Start
where
    B: Send + Sync + 'static,
    H: Handler<B>,
{
    Box::new(move |ground| {
        let informer = builder.build_on(ground.client, Arc::clone(ground.runtime))?;
        let registration = informer.on(handler(ground.queue.clone()))?;
        informer.start()?;
        Ok(Box::new(Started {
            informer,
            registration,
        }))
    })
}

impl<B: Send + Sync + 'static> Source for Started<B> {
    fn synced(
        &self,
        timeout: Duration,
    ) -> Pin<Box<dyn Future<Output = Result<(), NotSynced>> + Send + '_>> {
        Box::pin(self.registration.synced(timeout))
    }

    fn check(&self) -> Result<(), StartError> {
        self.informer.start()
    }

    #[cfg(feature = "metrics")]
    fn inspected(&self) -> Inspected {
        Inspect::inspected(&self.informer)
    }

    fn stop(&self) {
        self.informer.stop();
    }

    fn join(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(self.informer.join())
    }

    fn informer(&self) -> &dyn Any {
        &self.informer
    }

    fn shows<'a>(
        &'a self,
        written: Written<'a>,
        timeout: Duration,
    ) -> Pin<Box<dyn Future<Output = Result<(), NotReached>> + Send + 'a>> {
        Box::pin(self.informer.shows(written, timeout))
    }
}

/// The informer that keeps bodies of this type, if there is one.
pub(super) fn find<B: Send + Sync + 'static>(
    sources: &[Box<dyn Source>],
) -> Option<&SharedInformer<B>> {
    let mut informers = sources.iter().map(|source| source.informer());
    informers.find_map(|informer| informer.downcast_ref())
}
