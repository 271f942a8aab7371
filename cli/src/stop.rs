//! Signals that end the program.

use std::future::Future;
use std::io;
use std::pin::Pin;

pub(crate) type Stop = Pin<Box<dyn Future<Output = ()>>>;

/// Ready on Ctrl-C or SIGTERM.
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

/// Ready on Ctrl-C.
#[cfg(not(unix))]
pub(crate) fn asked() -> io::Result<Stop> {
    Ok(Box::pin(async {
        // If the handler cannot be installed, Ctrl-C ends the program anyway.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending().await
        }
    }))
}
