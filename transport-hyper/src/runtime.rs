//! Where the requests and connections of a client run.

use std::io;
use std::thread;

use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;

/// The tokio runtime of a client: that of the caller, or one of its own on a thread of its own.
pub(crate) struct Runtime {
    handle: Handle,
    /// Keeps its own runtime running. The thread ends with the client, its transports and requests.
    _own: Option<oneshot::Sender<()>>,
}

impl Runtime {
    /// The current runtime, or else a new one.
    pub(crate) fn current_or_own() -> io::Result<Self> {
        match Handle::try_current() {
            Ok(handle) => Ok(Self { handle, _own: None }),
            Err(_) => Self::own(),
        }
    }

    /// One thread is enough: the tasks that poll the transports unpack and decode bodies.
    fn own() -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        let (own, ended) = oneshot::channel();
        let thread = thread::Builder::new().name("informer-client".to_owned());
        thread.spawn(move || {
            // An error: nothing is sent, and the sender is dropped.
            let _ = runtime.block_on(ended);
            // Do not wait for a name that is still being looked up.
            runtime.shutdown_background();
        })?;
        Ok(Self {
            handle,
            _own: Some(own),
        })
    }

    pub(crate) const fn handle(&self) -> &Handle {
        &self.handle
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::pending;
    use std::sync::mpsc;

    #[test]
    fn its_own_runtime_runs_until_it_is_dropped() {
        let runtime = Runtime::current_or_own().unwrap();
        let (tell, told) = mpsc::channel();
        runtime.handle().spawn(async move {
            tell.send(thread::current().name().unwrap_or_default().to_owned())
                .unwrap();
            pending::<()>().await;
            drop(tell);
        });
        assert_eq!(told.recv().unwrap(), "informer-client");
        assert_eq!(told.try_recv(), Err(mpsc::TryRecvError::Empty));
        drop(runtime);
        // The thread drops its tasks.
        assert!(told.recv().is_err());
    }

    #[tokio::test]
    async fn the_runtime_of_the_caller_is_used_if_there_is_one() {
        let runtime = Runtime::current_or_own().unwrap();
        assert_eq!(runtime.handle.id(), Handle::current().id());
        assert!(runtime._own.is_none());
    }
}
