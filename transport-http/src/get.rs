//! One request with its whole answer.

use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use informer_core::{Encodings, Failure};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::body::Body;
use crate::exchange::{open, within};
use crate::failed::Failed;
use crate::sender::{Answer, Purpose, Question, Sender};

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
    let answer = in_its_runtime(sender, async move {
        let question = Question::get(&path, accept, Purpose::Single);
        let opening = open(&*asked, question, Encodings::Json);
        let (answer, _) = within(asked.limits().head_timeout, opening).await?;
        whole(answer, &path, largest, asked.limits().list_timeout).await
    });
    Ok(answer.await?.into())
}

/// Runs a request in the runtime of its sender, because the caller may be in another one, or in none.
pub(crate) async fn in_its_runtime<S: Sender, A: Send + 'static>(
    sender: &Arc<S>,
    request: impl Future<Output = Result<A, Failed>> + Send + 'static,
) -> Result<A, Failed> {
    let asked = Arc::clone(sender);
    let task = async move {
        asked.prepare().await;
        request.await
    };
    let mut running = Running(sender.runtime().spawn(task));
    match (&mut running.0).await {
        Ok(answer) => answer.map_err(|failed| sender.explain(failed)),
        Err(_) => Err(Failed::runtime_ended()),
    }
}

/// A task that ends with the call that waits for it.
struct Running<T>(JoinHandle<T>);

impl<T> Drop for Running<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// The whole body of an answer, up to `largest` bytes, within a time.
pub(crate) async fn whole(
    answer: impl Answer,
    path: &str,
    largest: usize,
    patience: Duration,
) -> Result<Vec<u8>, Failed> {
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
        Ok(whole)
    };
    timeout(patience, reading).await.unwrap_or_else(|_| {
        let about = format_args!(
            "the answer to {path} took longer than {patience:?}; is the server overloaded?"
        );
        Err(Failed::new(Failure::TimedOut, about))
    })
}
