//! One HTTP request: authentication, routing, and the answer.

use std::future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, CONTENT_TYPE, USER_AGENT};
use hyper::http::request::Parts;
use hyper::{HeaderMap, Method, Request, Response};
use informer_core::{Encoding, Instant};

use super::body::{Cut, HttpBody};
use super::faults::Mishap;
use super::gzip::Gzip;
use super::response::{self, header};
use super::shared::SharedServer;
use super::stream::Stream;
use super::trouble::Trouble;
use super::{about, discovery};
use crate::answer::{Answer, AnswerBody};
use crate::request::{Accept, ApiRequest, Headers, Verb};
use crate::status::{ApiError, Reason};

/// State shared by all connections.
#[derive(Debug)]
pub(super) struct Front {
    server: SharedServer,
    token: Option<String>,
    max_body: usize,
    /// Lock order: the server first, then this.
    trouble: Mutex<Trouble>,
}

impl Front {
    pub(super) const fn new(
        server: SharedServer,
        token: Option<String>,
        max_body: usize,
        trouble: Trouble,
    ) -> Self {
        Self {
            server,
            token,
            max_body,
            trouble: Mutex::new(trouble),
        }
    }

    /// Answers a request. An error breaks the connection.
    pub(super) async fn answer(
        self: Arc<Self>,
        request: Request<Incoming>,
    ) -> Result<Response<HttpBody>, Cut> {
        let (head, body) = request.into_parts();
        let gzip = Gzip::accepted(header(&head.headers, &ACCEPT_ENCODING));
        let page = self.page(&head);
        let is_public = page.as_ref().is_some_and(|page| page.is_public);
        if !is_public && !self.is_known(&head.headers) {
            let refused = ApiError::unauthorized();
            let encoding = encoding_of_errors(&head.headers);
            return self.send(Answer::refused(&refused, encoding), gzip).await;
        }
        if let Some(page) = page {
            return Ok(response::complete(200, page.content_type, page.body, gzip));
        }
        let (answer, gzip) = match self.ask(&head, body).await {
            Ok((request, answer)) => (answer, gzip.for_request(&request.options)),
            Err(refused) => {
                let encoding = encoding_of_errors(&head.headers);
                (Answer::refused(&refused, encoding), gzip)
            }
        };
        self.count_request();
        self.send(answer, gzip).await
    }

    /// The page that the request asks for, if it is about the server and not about objects.
    fn page(&self, head: &Parts) -> Option<about::Page> {
        if !matches!(head.method, Method::GET | Method::HEAD) {
            return None;
        }
        let path = head.uri.path();
        let accept = header(&head.headers, &ACCEPT).unwrap_or_default();
        about::page(path, accept)
            .or_else(|| discovery::page(self.server.lock().registry(), path, accept))
    }

    /// Passes a request for objects to the server.
    async fn ask(&self, head: &Parts, body: Incoming) -> Result<(ApiRequest, Answer), ApiError> {
        if let Some(refusal) = self.trouble().refusal() {
            return Err(refusal);
        }
        let request = ApiRequest::parse(
            head.method.as_str(),
            head.uri.path(),
            head.uri.query().unwrap_or_default(),
            Headers {
                accept: header(&head.headers, &ACCEPT),
                content_type: header(&head.headers, &CONTENT_TYPE),
            },
        )?;
        let request = request.by_agent(header(&head.headers, &USER_AGENT).unwrap_or_default());
        let body = self.read(body).await?;
        let now = self.server.now();
        let answer = self.server.lock().handle(&request, &body, now);
        if !matches!(request.verb, Verb::Get | Verb::List | Verb::Watch) {
            self.server.wake();
        }
        Ok((request, answer))
    }

    /// Sends the server's answer.
    async fn send(self: &Arc<Self>, answer: Answer, gzip: Gzip) -> Result<Response<HttpBody>, Cut> {
        let Answer {
            status,
            content_type,
            ..
        } = answer;
        tokio::time::sleep(answer.delay).await;
        let mut response = match answer.body {
            AnswerBody::Complete(bytes) => {
                let mishap = self.trouble().mishap();
                match mishap {
                    Some(Mishap::Reset) => return Ok(response::half(status, content_type, bytes)),
                    Some(Mishap::Stall) => future::pending().await,
                    Some(Mishap::Delay(time)) => tokio::time::sleep(time).await,
                    None => {}
                }
                response::complete(status, content_type, bytes, gzip)
            }
            AnswerBody::Watch(watch) => {
                let is_compressed = gzip == Gzip::LinesToo;
                let (pieces, body) = HttpBody::pieces();
                let stream = Stream::new(Arc::clone(self), watch, pieces, is_compressed);
                tokio::spawn(stream.run());
                response::pieces(status, content_type, body, is_compressed)
            }
        };
        if let Some(seconds) = answer.retry_after {
            response::set_retry_after(&mut response, seconds);
        }
        Ok(response)
    }

    /// Reads the body of a request, up to the limit.
    async fn read(&self, body: Incoming) -> Result<Bytes, ApiError> {
        match Limited::new(body, self.max_body).collect().await {
            Ok(body) => Ok(body.to_bytes()),
            Err(error) if error.is::<LengthLimitError>() => Err(ApiError::new(
                Reason::RequestEntityTooLarge,
                format!("Request entity too large: limit is {}", self.max_body),
            )),
            Err(error) => Err(ApiError::bad_request(format!(
                "the body of the request could not be read: {error}"
            ))),
        }
    }

    fn is_known(&self, headers: &HeaderMap) -> bool {
        let given = header(headers, &AUTHORIZATION).and_then(|text| text.strip_prefix("Bearer "));
        self.token.is_none() || given.map(str::trim) == self.token.as_deref()
    }

    pub(super) const fn server(&self) -> &SharedServer {
        &self.server
    }

    pub(super) fn trouble(&self) -> MutexGuard<'_, Trouble> {
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn count_request(&self) {
        let mut server = self.server.lock();
        if self.trouble().count_request(&mut server) {
            self.server.wake();
        }
    }

    /// Runs the timed faults until none is left.
    pub(super) async fn follow_script(self: Arc<Self>) {
        let mut next = self.pass_time();
        while let Some(deadline) = next {
            let deadline = Instant::default().after(deadline);
            tokio::time::sleep_until(self.server.at(deadline)).await;
            next = self.pass_time();
        }
    }

    /// Runs the faults that are due. Returns when the next one is due.
    fn pass_time(&self) -> Option<Duration> {
        let elapsed = self.server.now().since(Instant::default());
        let mut server = self.server.lock();
        let mut trouble = self.trouble();
        if trouble.advance(elapsed, &mut server) {
            self.server.wake();
        }
        trouble.next_deadline()
    }
}

fn encoding_of_errors(headers: &HeaderMap) -> Encoding {
    Accept::parse(header(headers, &ACCEPT)).for_errors()
}
