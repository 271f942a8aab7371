//! Catches panics in user code.

use std::any::Any;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;

/// Calls user code and awaits its future. A panic in either becomes an error with the panic message.
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

/// The message of a panic.
pub(crate) fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("no message").to_owned()
}
