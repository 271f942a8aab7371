//! One request and its answer.

use std::time::{Duration, SystemTime};

use http::{StatusCode, Uri, header};
use informer_core::decode::answer::{MAX_ERROR_BODY, failure_of_answer};
use informer_core::{Encoding, Encodings, Failure};
use memchr::memmem;
use tokio::time::timeout;

use crate::body::Body;
use crate::failed::Failed;
use crate::retry_after::asked_wait;
use crate::sender::{Answer, Question, Sender};

/// How long to wait for the body of an error answer. After that, the part received so far is used.
const ERROR_BODY_TIMEOUT: Duration = Duration::from_secs(5);

/// What an HTTPS server written in Go answers to a plain HTTP request.
const TO_HTTPS: &[u8] = b"Client sent an HTTP request to an HTTPS server";

/// Runs `opening` with the timeout for the first byte of an answer.
pub(crate) async fn within<A>(
    patience: Duration,
    opening: impl Future<Output = Result<A, Failed>>,
) -> Result<A, Failed> {
    timeout(patience, opening).await.unwrap_or_else(|_| {
        let message = format!("the server sent no answer within {patience:?}; is it overloaded?");
        Err(Failed::new(Failure::TimedOut, message))
    })
}

/// Sends a request and returns a successful answer with the encoding of its body, one of those that the
/// request accepts.
pub(crate) async fn open<S: Sender>(
    sender: &S,
    question: Question<'_>,
    accepted: Encodings,
) -> Result<(S::Answer, Encoding), Failed> {
    let answer = sender.send(question).await?;
    match answer.head().status {
        StatusCode::OK => encoding(&answer, accepted).map(|encoding| (answer, encoding)),
        status if status.is_redirection() => Err(redirected(&answer)),
        status => {
            let refusal = Refusal::read(answer).await;
            Err(sender.explain_answer(status, refusal.failure()))
        }
    }
}

/// How many characters of a header to quote: few enough to leave room for the remedy.
const QUOTED: usize = 60;

/// The encoding of a successful answer. Fails for other content, such as a login page.
pub(crate) fn encoding(answer: &impl Answer, accepted: Encodings) -> Result<Encoding, Failed> {
    let text = answer.head().headers.get(header::CONTENT_TYPE);
    let text = text.map(|value| String::from_utf8_lossy(value.as_bytes()));
    accepted
        .of_answer(text.as_deref())
        .map_err(|error| Failed::new(Failure::Undecodable, error))
}

/// The failure for a redirect, which is never followed: the credentials are not for that host.
pub(crate) fn redirected(answer: &impl Answer) -> Failed {
    let to = answer.head().headers.get(header::LOCATION);
    let to = to.and_then(|to| to.to_str().ok()?.parse::<Uri>().ok());
    let to = to.as_ref().and_then(Uri::authority);
    let to = to.map_or_else(
        || "another path".to_owned(),
        |host| format!("`{:.QUOTED$}`", host.host()),
    );
    let status = answer.head().status.as_u16();
    Failed::new(
        Failure::Other,
        format!(
            "the server redirects to {to} (HTTP {status}): redirects are not followed, to protect the \
             credentials; name the right server"
        ),
    )
}

/// An answer that is not a success.
pub(crate) struct Refusal {
    pub(crate) code: u16,
    pub(crate) retry_after: Option<Duration>,
    /// What was read of its body.
    pub(crate) body: Vec<u8>,
}

impl Refusal {
    pub(crate) async fn read(answer: impl Answer) -> Self {
        let code = answer.head().status.as_u16();
        let retry_after = asked_wait(&answer.head().headers, SystemTime::now());
        let mut body = Body::new(answer, None);
        let mut said = Vec::new();
        let read = async {
            while said.len() < MAX_ERROR_BODY
                && let Ok(Some(piece)) = body.next().await
            {
                said.extend_from_slice(&piece);
            }
        };
        // If the body stalls or breaks, the status code must do.
        let _ = timeout(ERROR_BODY_TIMEOUT, read).await;
        said.truncate(MAX_ERROR_BODY);
        Self {
            code,
            retry_after,
            body: said,
        }
    }

    /// The failure that it describes.
    pub(crate) fn failure(&self) -> Failed {
        if self.code == 400 && memmem::find(&self.body, TO_HTTPS).is_some() {
            let about = "the server requires TLS, but the request was plain HTTP; begin its address with https://";
            return Failed::new(Failure::Unreachable, about);
        }
        let (failure, message) = failure_of_answer(self.code, &self.body, self.retry_after);
        Failed::new(failure, message)
    }
}
