//! Answers of a kube client.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::Response;
use http::response::Parts;
use http_body::Body as _;
use informer_transport_http::{Answer, Failed, poll_data};
use kube::client::Body;

use crate::failure::broken_off;

/// An answer whose body has not been read yet.
pub(crate) struct KubeAnswer {
    head: Parts,
    body: Body,
}

impl From<Response<Body>> for KubeAnswer {
    fn from(response: Response<Body>) -> Self {
        let (head, body) = response.into_parts();
        Self { head, body }
    }
}

impl Answer for KubeAnswer {
    fn head(&self) -> &Parts {
        &self.head
    }

    fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Failed>>> {
        let piece = poll_data(cx, |cx| Pin::new(&mut self.body).poll_frame(cx));
        piece.map(|piece| Some(piece?.map_err(|error| broken_off(&error))))
    }
}
