//! What is done about panics of code that is not ours.

use std::any::Any;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;

/// One call of the user's. A panic is caught, be it in the call or while it waits, and becomes its text.
pub(crate) async fn caught<F: Future>(call: impl FnOnce() -> F) -> Result<F::Output, String> {
    let future = catch_unwind(AssertUnwindSafe(call));
    let mut future = pin!(future.map_err(|panic| panic_text(&*panic))?);
    poll_fn(
        |cx| match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx))) {
            Ok(polled) => polled.map(Ok),
            Err(panic) => Poll::Ready(Err(panic_text(&*panic))),
        },
    )
    .await
}

/// What somebody said when they panicked.
pub(crate) fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("without a text").to_owned()
}
