//! Status and headers of answers.

use bytes::Bytes;
use hyper::header::{
    CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER, VARY,
};
use hyper::{HeaderMap, Response, StatusCode};

use super::body::HttpBody;
use super::gzip::{Gzip, member};

/// The text of a header.
pub(super) fn header<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

/// An answer with a complete body.
pub(super) fn complete(
    status: u16,
    content_type: &'static str,
    body: Vec<u8>,
    gzip: Gzip,
) -> Response<HttpBody> {
    let is_compressed = gzip.takes(&body);
    let body = match is_compressed {
        true => member(&body),
        false => body,
    };
    pieces(
        status,
        content_type,
        HttpBody::complete(body),
        is_compressed,
    )
}

/// An answer whose body is already compressed, or not compressed at all.
pub(super) fn pieces(
    status: u16,
    content_type: &'static str,
    body: HttpBody,
    is_compressed: bool,
) -> Response<HttpBody> {
    let mut response = Response::new(body);
    // All our status codes are valid.
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or_default();
    let headers = response.headers_mut();
    let private = HeaderValue::from_static("no-cache, private");
    headers.insert(CACHE_CONTROL, private);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    if is_compressed {
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        headers.insert(VARY, HeaderValue::from_static("Accept-Encoding"));
    }
    response
}

/// An answer whose connection breaks in the middle of the body.
pub(super) fn half(
    status: u16,
    content_type: &'static str,
    mut body: Vec<u8>,
) -> Response<HttpBody> {
    body.truncate(body.len() / 2);
    let body = HttpBody::cut_after(Bytes::from(body));
    pieces(status, content_type, body, false)
}

pub(super) fn set_retry_after(response: &mut Response<HttpBody>, seconds: u32) {
    response.headers_mut().insert(RETRY_AFTER, seconds.into());
}
