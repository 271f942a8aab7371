//! How a request is sent: credentials, headers, and the connection.

use std::task::{Context, Poll};

use bytes::Bytes;
use http::response::Parts;
use http::{HeaderValue, Request, StatusCode, Uri, header};
use http_body_util::Full;
use informer_core::Failure;
use informer_transport_http::{Budget, Failed, Limits, Purpose, Question, Sender};
use tokio::runtime::Handle;

use crate::auth::Shown;
use crate::client::Inner;
use crate::net::{Answer, Class, SendError};
use crate::tls::Tls;

/// Must not look like a browser or curl: for those the server pretty-prints.
const USER_AGENT: &str = concat!("informer/", env!("CARGO_PKG_VERSION"));

impl From<SendError> for Failed {
    fn from(error: SendError) -> Self {
        match error {
            // No request was sent, so the known state is as good as before.
            SendError::Connect(error) => Self::new(Failure::Unreachable, error.0),
            SendError::Broken(message) => Self::new(Failure::Broken, message),
        }
    }
}

impl informer_transport_http::Answer for Answer {
    fn head(&self) -> &Parts {
        &self.head
    }

    fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Failed>>> {
        let failed = |error: hyper::Error| Failed::broken_off(&error);
        let chunk = self.poll_chunk(cx);
        chunk.map(|chunk| Some(chunk?.map_err(failed)))
    }

    fn rest(&mut self) {
        self.rest();
    }

    fn hurry(&mut self) {
        self.hurry();
    }
}

impl Sender for Inner {
    type Answer = Answer;

    async fn send(&self, question: Question<'_>) -> Result<Answer, Failed> {
        let (shown, tls) = show(self, None).await?;
        let answer = send(self, question, &shown, tls.as_ref()).await?;
        if answer.head.status != StatusCode::UNAUTHORIZED {
            return Ok(answer);
        }
        // Renewing credentials is our job: if there are newer ones, try once more.
        let (newer, newer_tls) = show(self, Some(&shown)).await?;
        let generation = |tls: &Option<Tls>| tls.as_ref().map(|tls| tls.generation);
        if newer.is_same(&shown) && generation(&newer_tls) == generation(&tls) {
            return Ok(answer);
        }
        drop(answer);
        send(self, question, &newer, newer_tls.as_ref()).await
    }

    async fn prepare(&self) {
        self.credentials.prepare().await;
    }

    /// Adds the reason to an `Unauthorized` failure if we withheld the credentials.
    fn explain(&self, mut failed: Failed) -> Failed {
        if let Some(why) = self.credentials.withheld()
            && failed.failure == Failure::Unauthorized
        {
            failed.message = format!("{}; {why}", failed.message);
        }
        failed
    }

    /// A proxy that forwards requests answers, too.
    fn explain_answer(&self, status: StatusCode, failed: Failed) -> Failed {
        match self.config.forwarder() {
            Some(proxy) if status == StatusCode::PROXY_AUTHENTICATION_REQUIRED => {
                Failed::new(Failure::Unreachable, proxy.wants_credentials())
            }
            Some(proxy) if status.is_server_error() => {
                // It may be the answer of either.
                let (whom, message) = (proxy.authority(), failed.message);
                let message = format_args!("through the proxy {whom}: {message}");
                Failed::new(failed.failure, message)
            }
            _ => failed,
        }
    }

    fn limits(&self) -> Limits {
        let settings = &self.config.settings;
        Limits {
            head_timeout: settings.connect_timeout + settings.head_timeout,
            list_timeout: settings.list_timeout,
            max_list_bytes: settings.max_list_bytes,
        }
    }

    fn budget(&self) -> &Budget {
        &self.budget
    }

    fn runtime(&self) -> &Handle {
        self.runtime.handle()
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
    let accept = HeaderValue::from_str(question.accept).map_err(|error| {
        let message = format!("`{}` cannot be a header: {error}", question.accept);
        Failed::new(Failure::Invalid, message)
    })?;
    let class = match question.purpose {
        Purpose::List => Class::List,
        Purpose::Watch | Purpose::Single => Class::Watch,
    };
    let mut request = Request::new(Full::new(question.body.clone()));
    *request.method_mut() = question.http_method();
    *request.uri_mut() = uri;
    let headers = request.headers_mut();
    headers.extend(client.credentials.impersonation().clone());
    headers.insert(header::ACCEPT, accept);
    headers.insert(header::USER_AGENT, HeaderValue::from_static(USER_AGENT));
    if !question.content_type.is_empty() {
        let content_type = HeaderValue::from_static(question.content_type);
        headers.insert(header::CONTENT_TYPE, content_type);
    }
    if client.config.compression {
        headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static("gzip"));
    }
    shown.add_to(headers)?;
    Ok(client.pool.send(class, request, tls).await?)
}
