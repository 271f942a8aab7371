//! Calls to the server: no sockets, no threads, virtual time.

use std::future::{pending, poll_fn};
use std::time::Duration;

use informer_core::transport::{Call, Caller, Calling, Method, Reply, Unanswered};
use informer_core::{Failure, Instant};

use crate::answer::{Answer, AnswerBody};
use crate::fault::Fault;
use crate::request::{ApiRequest, Headers};
use crate::shared::MockServer;
use crate::status::{ApiError, Reason};
use crate::transport::refusal;

/// Reads and writes single objects.
///
/// The [faults](Fault) of the server strike calls, too: a connection that is refused, an answer that says
/// 429 or 500, comes late or never, or breaks off. What comes late, never or not whole was carried out.
///
/// ```
/// use std::future::Future as _;
/// use std::task::{Context, Poll, Waker};
/// use informer_core::transport::{Call, Caller, Method};
/// use informer_transport_mock::{MockServer, ServerConfig, VirtualClock};
///
/// let server = MockServer::new(ServerConfig::new(42), VirtualClock::new());
/// let body = br#"{"metadata":{"name":"web"}}"#.to_vec();
/// let call = Call::new(Method::Post, "/api/v1/namespaces/default/configmaps".into())
///     .with_body("application/json", body);
/// let mut calling = server.call(call);
/// let mut cx = Context::from_waker(Waker::noop());
/// let Poll::Ready(Ok(reply)) = calling.as_mut().poll(&mut cx) else { panic!() };
/// assert_eq!(reply.status, 201);
/// assert!(server.with(|server| server.get("configmaps", "web").is_some()));
/// ```
impl Caller for MockServer {
    fn call(&self, call: Call) -> Calling {
        let server = self.clone();
        Box::pin(async move {
            let fault = server.next_fault(&call);
            let answer = match fault {
                Some(Fault::Refuse) => {
                    let about = "connection refused";
                    return Err(Unanswered::new(Failure::Unreachable, about));
                }
                fault => match fault.and_then(|fault| refused(fault, &call)) {
                    Some(refused) => refused.into(),
                    None => server.answer(&call),
                },
            };
            let late = match fault {
                Some(Fault::Delay(by)) => by,
                _ => Duration::ZERO,
            };
            server
                .until(server.clock().now().after(answer.delay).after(late))
                .await;
            match fault {
                Some(Fault::Stall { .. }) => pending().await,
                Some(Fault::Reset { .. }) => {
                    let about = "the connection broke before the answer";
                    Err(Unanswered::new(Failure::Broken, about))
                }
                _ => Ok(reply(answer)),
            }
        })
    }
}

impl MockServer {
    /// The fault of a call, if it is one that strikes calls.
    fn next_fault(&self, call: &Call) -> Option<Fault> {
        let mut state = self.lock();
        let fault = state.plan.next().filter(|fault| {
            refused(*fault, call).is_some()
                || matches!(
                    fault,
                    Fault::Refuse | Fault::Delay(_) | Fault::Reset { .. } | Fault::Stall { .. }
                )
        })?;
        state.count(fault);
        Some(fault)
    }

    fn answer(&self, call: &Call) -> Answer {
        let (path, query) = call.path.split_once('?').unwrap_or((&call.path, ""));
        let headers = Headers {
            accept: Some("application/json"),
            content_type: Some(call.content_type).filter(|text| !text.is_empty()),
        };
        let now = self.clock().now();
        match ApiRequest::parse(call.method.as_str(), path, query, headers) {
            Ok(request) => {
                // As the HTTP clients call themselves.
                let request = request.by_agent("informer");
                self.with(|server| server.handle(&request, &call.body, now))
            }
            Err(refused) => refused.into(),
        }
    }

    async fn until(&self, due: Instant) {
        let mut timer = informer_core::Clock::timer(self.clock());
        poll_fn(|cx| timer.poll_until(due, cx)).await;
    }
}

/// The refusal that a fault sends instead of an answer.
fn refused(fault: Fault, call: &Call) -> Option<ApiError> {
    match fault {
        Fault::Conflict if call.method != Method::Get => {
            let about =
                "the object has been modified; please apply your changes to the latest version";
            Some(ApiError::new(Reason::Conflict, about))
        }
        fault => refusal(fault),
    }
}

fn reply(answer: Answer) -> Reply {
    Reply {
        status: answer.status,
        retry_after: answer
            .retry_after
            .map(|secs| Duration::from_secs(secs.into())),
        body: match answer.body {
            AnswerBody::Complete(body) => body,
            // A watch is not for calls.
            AnswerBody::Watch(_) => Vec::new(),
        },
    }
}
