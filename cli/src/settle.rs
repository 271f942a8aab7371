//! Waits for the first state.

use informer::SharedInformer;

use crate::words;

/// Waits until the first state is known, or it is useless to wait for it. Returns why it is useless.
pub(crate) async fn settle<K: Send + Sync + 'static>(
    informer: &SharedInformer<K>,
) -> Option<String> {
    let mut status = informer.status();
    loop {
        let hopeless = words::hopeless(&status);
        if status.synced || hopeless.is_some() {
            return hopeless;
        }
        status = informer.status_change(&status).await?;
    }
}
