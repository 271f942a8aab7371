//! One request and its answer, from the credentials to the last byte.

use std::fmt;
use std::future::poll_fn;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderValue, Method, Request, StatusCode, Uri, header};
use http_body_util::Empty;
use informer_core::decode::answer::{MAX_ERROR_BODY, failure_of_answer};
use informer_core::failure::message;
use informer_core::{Encoding, Failure};
use memchr::memmem;
use tokio::task::consume_budget;
use tokio::time::timeout;

use crate::auth::Shown;
use crate::client::Inner;
use crate::gzip::Gunzip;
use crate::net::{Answer, Class, SendError, chain};
use crate::tls::Tls;

/// Must not look like a browser or curl: for those the server pretty-prints.
const USER_AGENT: &str = concat!("informer/", env!("CARGO_PKG_VERSION"));

/// How long to wait for the body of an error answer. After that, the part received so far is used.
const ERROR_BODY_TIMEOUT: Duration = Duration::from_secs(5);

/// What an HTTPS server written in Go answers to a plain HTTP request.
const TO_HTTPS: &[u8] = b"Client sent an HTTP request to an HTTPS server";

/// A failed exchange. The message is short and
/// [printable](informer_core::failure::Printable), even if parts of it come from the server.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Failed {
    pub(crate) failure: Failure,
    pub(crate) message: String,
}

impl Failed {
    pub(crate) fn new(failure: Failure, about: impl fmt::Display) -> Self {
        Self {
            failure,
            message: message(about),
        }
    }

    /// The failure of a list that takes too long.
    pub(crate) fn too_slow() -> Self {
        let about = "the list took longer than `list_timeout` allows; is the server overloaded?";
        Self::new(Failure::TimedOut, about)
    }

    /// The failure of every request after the runtime has shut down.
    pub(crate) fn runtime_ended() -> Self {
        let about = "the runtime of the client has ended; create a client in another runtime";
        Self::new(Failure::Broken, about)
    }
}

impl From<SendError> for Failed {
    fn from(error: SendError) -> Self {
        match error {
            // No request was sent, so the known state is as good as before.
            SendError::Connect(error) => Self::new(Failure::Unreachable, error.0),
            SendError::Broken(message) => Self::new(Failure::Broken, message),
        }
    }
}

/// What to request, and how.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Question<'a> {
    pub(crate) class: Class,
    /// The path below the prefix of the server, with the query.
    pub(crate) path: &'a str,
    pub(crate) accept: &'static str,
}

/// Sends `GET path` and returns the whole body, up to `largest` bytes.
pub(crate) async fn get(
    client: &Inner,
    path: &str,
    accept: &'static str,
    largest: usize,
) -> Result<Bytes, Failed> {
    let question = Question {
        class: Class::List,
        path,
        accept,
    };
    let (answer, _) = within_head_timeout(client, open(client, question)).await?;
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
    let time = client.config.settings.list_timeout;
    let read = timeout(time, reading).await;
    read.unwrap_or_else(|_| Err(Failed::too_slow()))
}

/// Runs `opening` with the timeout for the first byte of an answer.
pub(crate) async fn within_head_timeout(
    client: &Inner,
    opening: impl Future<Output = Result<(Answer, Encoding), Failed>>,
) -> Result<(Answer, Encoding), Failed> {
    let settings = &client.config.settings;
    let patience = settings.connect_timeout + settings.head_timeout;
    timeout(patience, opening).await.unwrap_or_else(|_| {
        let message = format!("the server sent no answer within {patience:?}; is it overloaded?");
        Err(Failed::new(Failure::TimedOut, message))
    })
}

/// Sends a request and returns a successful answer with the encoding of its body.
pub(crate) async fn open(
    client: &Inner,
    question: Question<'_>,
) -> Result<(Answer, Encoding), Failed> {
    let (mut shown, mut tls) = show(client, None).await?;
    let mut answer = send(client, question, &shown, tls.as_ref()).await?;
    if answer.head.status == StatusCode::UNAUTHORIZED {
        // Renewing credentials is our job: if there are newer ones, try once more.
        let (newer, newer_tls) = show(client, Some(&shown)).await?;
        let generation = |tls: &Option<Tls>| tls.as_ref().map(|tls| tls.generation);
        if !newer.is_same(&shown) || generation(&newer_tls) != generation(&tls) {
            (shown, tls) = (newer, newer_tls);
            answer = send(client, question, &shown, tls.as_ref()).await?;
        }
    }
    match answer.head.status {
        StatusCode::OK => encoding(&answer).map(|encoding| (answer, encoding)),
        status if status.is_redirection() => Err(redirected(&answer)),
        _ => Err(refusal(answer).await),
    }
}

/// The credentials for the request and for the connection.
async fn show(client: &Inner, refused: Option<&Shown>) -> Result<(Shown, Option<Tls>), Failed> {
    let shown = match refused {
        None => client.credentials.current().await,
        Some(refused) => client.credentials.after_refusal(refused).await,
    };
    let shown = shown?;
    let exec = shown.exec.as_deref();
    let tls = client.tls.as_ref().map(|source| source.current(exec));
    let tls = tls
        .transpose()
        .map_err(|error| Failed::new(Failure::Credentials, error.0))?;
    Ok((shown, tls))
}

async fn send(
    client: &Inner,
    question: Question<'_>,
    shown: &Shown,
    tls: Option<&Tls>,
) -> Result<Answer, Failed> {
    let server = &client.config.server;
    let uri = Uri::builder()
        .scheme(if server.tls { "https" } else { "http" })
        .authority(server.authority())
        .path_and_query(format!("{}{}", server.prefix, question.path))
        .build()
        .map_err(|error| {
            let message = format!("`{}` is not a path: {error}", question.path);
            Failed::new(Failure::Invalid, message)
        })?;
    let mut request = Request::new(Empty::<Bytes>::new());
    *request.method_mut() = Method::GET;
    *request.uri_mut() = uri;
    let headers = request.headers_mut();
    headers.extend(client.credentials.impersonation().clone());
    headers.insert(header::ACCEPT, HeaderValue::from_static(question.accept));
    headers.insert(header::USER_AGENT, HeaderValue::from_static(USER_AGENT));
    if client.config.compression {
        headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static("gzip"));
    }
    shown.add_to(headers)?;
    Ok(client.pool.send(question.class, request, tls).await?)
}

/// How many characters of a header to quote: few enough to leave room for the remedy.
const QUOTED: usize = 60;

/// The encoding of a successful answer. Fails for other content, such as a login page.
fn encoding(answer: &Answer) -> Result<Encoding, Failed> {
    let text = answer.head.headers.get(header::CONTENT_TYPE);
    let text = text.map(|value| String::from_utf8_lossy(value.as_bytes()));
    Encoding::from_content_type(text.as_deref())
        .map_err(|error| Failed::new(Failure::Undecodable, error))
}

/// The failure for a redirect, which is never followed: the credentials are not for that host.
fn redirected(answer: &Answer) -> Failed {
    let to = answer.head.headers.get(header::LOCATION);
    let to = to.and_then(|to| to.to_str().ok()?.parse::<Uri>().ok());
    let to = to.as_ref().and_then(Uri::authority);
    let to = to.map_or_else(
        || "another path".to_owned(),
        |host| format!("`{:.QUOTED$}`", host.host()),
    );
    let status = answer.head.status.as_u16();
    Failed::new(
        Failure::Other,
        format!(
            "the server redirects to {to} (HTTP {status}): redirects are not followed, to protect the \
             credentials; name the right server"
        ),
    )
}

/// The failure that an error answer describes.
async fn refusal(answer: Answer) -> Failed {
    let code = answer.head.status.as_u16();
    let retry_after = answer.head.headers.get(header::RETRY_AFTER);
    let retry_after = retry_after
        .and_then(|value| value.to_str().ok()?.trim().parse().ok())
        .map(Duration::from_secs);
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
    if code == 400 && memmem::find(&said, TO_HTTPS).is_some() {
        let about = "the server requires TLS, but the request was plain HTTP; begin its address with https://";
        return Failed::new(Failure::Unreachable, about);
    }
    let (failure, message) = failure_of_answer(code, &said, retry_after);
    Failed::new(failure, message)
}

/// The decompressed body of an answer.
pub(crate) struct Body {
    answer: Answer,
    gunzip: Option<Gunzip>,
    /// How many bytes there may still be after decompression, if they are limited. Time alone is no limit
    /// when bytes arrive faster than they are read: a few MB of gzip could last for hours.
    left: Option<u64>,
}

impl Body {
    /// The body of `answer`, of at most `largest` bytes.
    pub(crate) fn new(answer: Answer, largest: Option<u64>) -> Self {
        let encoding = answer.head.headers.get(header::CONTENT_ENCODING);
        let is_gzip = encoding.is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"gzip"));
        Self {
            answer,
            gunzip: is_gzip.then(Gunzip::new),
            left: largest,
        }
    }

    /// Lets bytes gather for a moment before they are read: this is a full state.
    pub(crate) fn rest(&mut self) {
        self.answer.rest();
    }

    /// Reads bytes as they arrive: the state is complete.
    pub(crate) fn hurry(&mut self) {
        self.answer.hurry();
    }

    /// The next piece; `None` at the end.
    async fn next(&mut self) -> Result<Option<Bytes>, Failed> {
        // Pieces that are always ready must not keep the task from yielding to its deadline.
        consume_budget().await;
        poll_fn(|cx| self.poll_next(cx)).await
    }

    /// The same, for polling.
    pub(crate) fn poll_next(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Result<Option<Bytes>, Failed>> {
        let piece = ready!(self.poll_piece(cx))?;
        if let Some(left) = &mut self.left {
            let bytes = piece.as_ref().map_or(0, Bytes::len);
            let Some(less) = left.checked_sub(bytes as u64) else {
                return Poll::Ready(Err(Failed::new(
                    Failure::Undecodable,
                    "the decompressed list is larger than `max_list_bytes` allows; raise the limit if \
                     the list is really that large",
                )));
            };
            *left = less;
        }
        Poll::Ready(Ok(piece))
    }

    fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Bytes>, Failed>> {
        let unreadable = |error: std::io::Error| {
            let about = format_args!("the gzip data of the answer is corrupt: {error}");
            Failed::new(Failure::Undecodable, about)
        };
        loop {
            if let Some(gunzip) = &mut self.gunzip
                && let Some(piece) = gunzip.next().map_err(unreadable)?
            {
                return Poll::Ready(Ok(Some(piece)));
            }
            match (ready!(self.poll_chunk(cx))?, &mut self.gunzip) {
                (Some(chunk), None) => return Poll::Ready(Ok(Some(chunk))),
                (Some(chunk), Some(gunzip)) => gunzip.feed(chunk),
                (None, None) => return Poll::Ready(Ok(None)),
                (None, Some(gunzip)) => {
                    gunzip.end().map_err(|_| {
                        let about = "the answer ended in the middle of its gzip data";
                        Failed::new(Failure::Broken, about)
                    })?;
                    return Poll::Ready(Ok(None));
                }
            }
        }
    }

    fn poll_chunk(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Bytes>, Failed>> {
        let chunk = ready!(self.answer.poll_chunk(cx));
        Poll::Ready(chunk.transpose().map_err(|error| {
            let why = chain(&error);
            let about = format_args!("the answer broke off: {why}");
            Failed::new(Failure::Broken, about)
        }))
    }
}
