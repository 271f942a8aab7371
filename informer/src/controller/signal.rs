//! The signals that end a program.

use tokio::signal;

/// Ready when the program gets SIGTERM, or Ctrl-C. A signal that cannot be listened to never comes; this is
/// logged.
pub(super) async fn shutdown() {
    let interrupt = async {
        if let Err(error) = signal::ctrl_c().await {
            unheard(&error).await;
        }
    };
    #[cfg(unix)]
    let terminate = async {
        match signal::unix::signal(signal::unix::SignalKind::terminate()) {
            Ok(mut signal) => {
                signal.recv().await;
            }
            Err(error) => unheard(&error).await,
        }
    };
    #[cfg(not(unix))]
    let terminate = std::future::pending();
    super::race::unless(terminate, interrupt).await;
    tracing::info!("a signal asks to shut down");
}

async fn unheard(error: &std::io::Error) {
    tracing::error!(%error, "a signal to shut down cannot be listened to");
    std::future::pending().await
}
