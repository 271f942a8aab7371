//! One request and its answer, from the credentials to the last byte.

use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderValue, Method, Request, StatusCode, Uri, header};
use http_body_util::Empty;
use informer_core::decode::answer::{MAX_ERROR_BODY, failure_of_answer};
use informer_core::failure::message;
use informer_core::{Encoding, Failure};
use memchr::memmem;
use tokio::time::{Instant, timeout};

use crate::auth::Shown;
use crate::client::Inner;
use crate::config::Settings;
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
    let mut body = Body::new(answer, Some(Limits::of(&client.config.settings)));
    let mut whole = Vec::new();
    while let Some(piece) = body.next().await? {
        if whole.len() + piece.len() > largest {
            let about = format_args!("the answer to {path} is larger than {largest} bytes");
            return Err(Failed::new(Failure::Undecodable, about));
        }
        whole.extend_from_slice(&piece);
    }
    Ok(whole.into())
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

/// How much time and how many bytes a list may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// The time spent waiting for bytes or decompressing them. The time that the reader takes does not
    /// count.
    time: Duration,
    /// The bytes after decompression. Time alone is no limit when bytes arrive faster than they are
    /// read: a few MB of gzip could last for hours.
    bytes: u64,
}

impl Limits {
    pub(crate) const fn of(settings: &Settings) -> Self {
        Self {
            time: settings.list_timeout,
            bytes: settings.max_list_bytes,
        }
    }

    /// What is left after a piece of `bytes` bytes that took `time`.
    fn less(self, bytes: usize, time: Duration) -> Option<Self> {
        Some(Self {
            time: self.time.saturating_sub(time),
            bytes: self.bytes.checked_sub(bytes.try_into().ok()?)?,
        })
    }
}

/// The decompressed body of an answer.
pub(crate) struct Body {
    answer: Answer,
    gunzip: Option<Gunzip>,
    /// The rest of the limits, for a list.
    left: Option<Limits>,
}

impl Body {
    /// The body of `answer`. A watch has no limits.
    pub(crate) fn new(answer: Answer, limits: Option<Limits>) -> Self {
        let encoding = answer.head.headers.get(header::CONTENT_ENCODING);
        let is_gzip = encoding.is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"gzip"));
        Self {
            answer,
            gunzip: is_gzip.then(Gunzip::new),
            left: limits,
        }
    }

    /// The next piece; `None` at the end.
    pub(crate) async fn next(&mut self) -> Result<Option<Bytes>, Failed> {
        let Some(left) = self.left else {
            return self.piece().await;
        };
        let too_slow = || {
            let about =
                "the list took longer than `list_timeout` allows; is the server overloaded?";
            Failed::new(Failure::TimedOut, about)
        };
        // A piece that is ready never times out, so check the sum first.
        if left.time.is_zero() {
            return Err(too_slow());
        }
        let since = Instant::now();
        let piece = timeout(left.time, self.piece()).await;
        let piece = piece.map_err(|_| too_slow())??;
        let bytes = piece.as_ref().map_or(0, Bytes::len);
        self.left = left.less(bytes, since.elapsed());
        match self.left {
            Some(_) => Ok(piece),
            None => Err(Failed::new(
                Failure::Undecodable,
                "the decompressed list is larger than `max_list_bytes` allows; raise the limit if \
                 the list is really that large",
            )),
        }
    }

    async fn piece(&mut self) -> Result<Option<Bytes>, Failed> {
        let unreadable = |error: std::io::Error| {
            let about = format_args!("the gzip data of the answer is corrupt: {error}");
            Failed::new(Failure::Undecodable, about)
        };
        loop {
            if let Some(gunzip) = &mut self.gunzip
                && let Some(piece) = gunzip.next().map_err(unreadable)?
            {
                return Ok(Some(piece));
            }
            match (self.chunk().await?, &mut self.gunzip) {
                (Some(chunk), None) => return Ok(Some(chunk)),
                (Some(chunk), Some(gunzip)) => gunzip.feed(chunk),
                (None, None) => return Ok(None),
                (None, Some(gunzip)) => {
                    gunzip.end().map_err(|_| {
                        let about = "the answer ended in the middle of its gzip data";
                        Failed::new(Failure::Broken, about)
                    })?;
                    return Ok(None);
                }
            }
        }
    }

    async fn chunk(&mut self) -> Result<Option<Bytes>, Failed> {
        self.answer.chunk().await.transpose().map_err(|error| {
            let why = chain(&error);
            let about = format_args!("the answer broke off: {why}");
            Failed::new(Failure::Broken, about)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_apply_to_all_pieces_together() {
        const SECOND: Duration = Duration::from_secs(1);
        let mut left = Limits::of(&Settings {
            list_timeout: 10 * SECOND,
            max_list_bytes: 100,
            ..Settings::new()
        });
        for _ in 0..10 {
            assert!(!left.time.is_zero());
            left = left.less(10, SECOND).unwrap();
        }
        assert!(left.time.is_zero());
        assert!(left.less(0, SECOND).is_some());
        assert!(left.less(1, SECOND).is_none());
    }
}
