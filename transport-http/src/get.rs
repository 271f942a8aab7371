//! One request with its whole answer.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use informer_core::Failure;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::body::Body;
use crate::exchange::{open, within};
use crate::failed::Failed;
use crate::sender::{Question, Sender};

/// Why a request failed.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct RequestError {
    /// The kind of failure.
    pub failure: Failure,
    /// The explanation for people.
    pub message: String,
}

impl fmt::Display for RequestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { failure, message } = self;
        match failure {
            // The server's own message is just "Unauthorized", so add ours.
            Failure::Unauthorized => write!(f, "{failure} ({message})"),
            _ => f.write_str(message),
        }
    }
}

impl Error for RequestError {}

impl From<Failed> for RequestError {
    fn from(Failed { failure, message }: Failed) -> Self {
        Self { failure, message }
    }
}

/// Sends `GET path` and returns the whole body, up to `largest` bytes.
///
/// # Errors
/// The request failed, or the server did not answer with 200.
pub async fn get<S: Sender>(
    sender: &Arc<S>,
    path: &str,
    accept: &'static str,
    largest: usize,
) -> Result<Bytes, RequestError> {
    let (asked, path) = (Arc::clone(sender), path.to_owned());
    // The caller may be in another runtime, or in none.
    let task = async move {
        asked.prepare().await;
        whole(&*asked, &path, accept, largest).await
    };
    let mut running = Running(sender.runtime().spawn(task));
    match (&mut running.0).await {
        Ok(answer) => Ok(answer.map_err(|failed| sender.explain(failed))?),
        Err(_) => Err(Failed::runtime_ended().into()),
    }
}

/// A task that ends with the call that waits for it.
struct Running<T>(JoinHandle<T>);

impl<T> Drop for Running<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

async fn whole<S: Sender>(
    sender: &S,
    path: &str,
    accept: &'static str,
    largest: usize,
) -> Result<Bytes, Failed> {
    let limits = sender.limits();
    let question = Question {
        path,
        accept,
        is_watch: false,
    };
    let (answer, _) = within(limits.head_timeout, open(sender, question)).await?;
    let mut body = Body::new(answer, None);
    let reading = async {
        let mut whole = Vec::new();
        while let Some(piece) = body.next().await? {
            if whole.len() + piece.len() > largest {
                let about = format_args!("the answer to {path} is larger than {largest} bytes");
                return Err(Failed::new(Failure::Undecodable, about));
            }
            whole.extend_from_slice(&piece);
        }
        Ok(whole.into())
    };
    let read = timeout(limits.list_timeout, reading).await;
    read.unwrap_or_else(|_| Err(Failed::too_slow()))
}
