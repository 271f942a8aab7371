//! One request for one object, with its whole answer.

use std::sync::Arc;

use bytes::Bytes;
use http::StatusCode;
use informer_core::transport::{Call, Calling, Reply, Unanswered};
use informer_core::{Encodings, Failure};

use crate::exchange::{Refusal, encoding, redirected, within};
use crate::failed::Failed;
use crate::get::{in_its_runtime, whole};
use crate::sender::{Answer as _, Purpose, Question, Sender};

/// The largest answer. An object in etcd has at most 1.5 MiB.
const LARGEST_ANSWER: usize = 64 << 20;

/// Sends a call and returns the answer, whatever its status.
pub fn call<S: Sender>(sender: &Arc<S>, call: Call) -> Calling {
    let sender = Arc::clone(sender);
    Box::pin(async move {
        let asked = Arc::clone(&sender);
        let answer = in_its_runtime(&sender, async move { answered(&*asked, call).await });
        Ok(answer.await?)
    })
}

async fn answered<S: Sender>(sender: &S, call: Call) -> Result<Reply, Failed> {
    let body = Bytes::from(call.body);
    let question = Question {
        method: call.method,
        path: &call.path,
        accept: "application/json",
        content_type: call.content_type,
        body: &body,
        purpose: Purpose::Single,
    };
    // One object is no list: its body gets no more time than its head.
    let patience = sender.limits().head_timeout;
    let answer = within(patience, sender.send(question)).await?;
    let status = answer.head().status;
    if status.is_success() {
        encoding(&answer, Encodings::Json)?;
        return Ok(Reply {
            status: status.as_u16(),
            retry_after: None,
            body: whole(answer, &call.path, LARGEST_ANSWER, patience).await?,
        });
    }
    if status.is_redirection() {
        return Err(redirected(&answer));
    }
    let refusal = Refusal::read(answer).await;
    let failed = sender.explain_answer(status, refusal.failure());
    // These were not said by the server, or the sender knows more about them.
    if failed.failure == Failure::Unreachable || status == StatusCode::UNAUTHORIZED {
        return Err(failed);
    }
    Ok(Reply {
        status: refusal.code,
        retry_after: refusal.retry_after,
        body: refusal.body,
    })
}

impl From<Failed> for Unanswered {
    fn from(Failed { failure, message }: Failed) -> Self {
        Self::new(failure, message)
    }
}
