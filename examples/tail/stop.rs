//! When it is time to go.

use std::future::Future;
use std::io;
use std::pin::Pin;

pub(crate) type Stop = Pin<Box<dyn Future<Output = ()>>>;

/// Ready when somebody asks the program to end: with Ctrl-C, or as the system does.
#[cfg(unix)]
pub(crate) fn asked() -> io::Result<Stop> {
    use tokio::signal::unix::{SignalKind, signal};

    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    Ok(Box::pin(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    }))
}

/// Ready when somebody asks the program to end with Ctrl-C.
#[cfg(not(unix))]
pub(crate) fn asked() -> io::Result<Stop> {
    Ok(Box::pin(async {
        // Without a handler, Ctrl-C ends the program by itself.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending().await
        }
    }))
}
