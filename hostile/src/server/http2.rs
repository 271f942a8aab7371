//! Correct HTTP/2; only the answers are wrong.

use std::convert::Infallible;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::header::ACCEPT;
use http::{HeaderName, HeaderValue, Request, Response, StatusCode};
use http_body::{Body, Frame};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::{Duration, Sleep, sleep};

use super::Scene;
use super::reply::{Reply, Step, Steps};

/// Answers all requests of a connection.
pub(crate) async fn serve(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    scene: &Arc<Scene>,
) -> io::Result<()> {
    let service = service_fn(|request: Request<Incoming>| {
        let target = request.uri().path_and_query();
        let target = target.map(|target| target.as_str()).unwrap_or_default();
        let accept = request.headers().get(ACCEPT);
        let accept = accept.and_then(|accept| accept.to_str().ok());
        let reply = scene.answer(&scene.asked(target, accept.unwrap_or_default()));
        async move { Ok::<_, Infallible>(response(reply)) }
    });
    hyper::server::conn::http2::Builder::new(TokioExecutor::new())
        .serve_connection(TokioIo::new(stream), service)
        .await
        .map_err(io::Error::other)
}

fn response(reply: Reply) -> Response<Script> {
    let mut response = Response::new(Script {
        steps: reply.steps,
        pause: None,
    });
    *response.status_mut() = StatusCode::from_u16(reply.status).unwrap_or_default();
    for (name, value) in reply.headers {
        if let Ok(value) = HeaderValue::from_str(&value) {
            let headers = response.headers_mut();
            headers.append(HeaderName::from_static(name), value);
        }
    }
    response
}

/// The body of an answer.
struct Script {
    steps: Steps,
    pause: Option<Pin<Box<Sleep>>>,
}

impl Body for Script {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        loop {
            if let Some(pause) = &mut self.pause {
                ready!(pause.as_mut().poll(cx));
                self.pause = None;
            }
            match self.steps.next() {
                None => return Poll::Ready(None),
                Some(Step::Pause(time)) => self.pause = Some(Box::pin(sleep(time))),
                Some(Step::Say(text)) => {
                    if text.len() > 16 << 10 {
                        self.pause = Some(Box::pin(sleep(Duration::from_millis(1))));
                    }
                    return Poll::Ready(Some(Ok(Frame::data(text))));
                }
            }
        }
    }
}
