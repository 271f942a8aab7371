//! Clients of kube-rs.

use std::path::Path;
use std::time::Duration;

use hyper_util::client::legacy;
use hyper_util::rt::TokioExecutor;
use informer::informer_transport_kube::kube;
use kube::client::{Body, ConfigExt as _};
use kube::{Client, Config};
use tower::{BoxError, ServiceBuilder};

/// Whether it asks for compressed streams.
pub(crate) const UNPACKS_STREAMS: bool = false;

/// How long it may use a token or an authority after the file was replaced: kube reads a token again after
/// 50 s, and an authority after 60 s.
pub(crate) const REREADS_WITHIN: Duration = Duration::from_secs(60);

/// The usual stack, except that failures are not hidden by repeating requests.
pub(crate) fn config(url: &str) -> Config {
    let mut config = Config::new(url.parse().unwrap());
    config.default_retry = false;
    config
}

/// A client without credentials.
pub(crate) fn plain(url: &str) -> Client {
    Client::try_from(config(url)).unwrap()
}

/// A client whose stack speaks HTTP/2 without TLS.
pub(crate) fn over_http2(url: &str) -> Client {
    over_http2_with(url, |request| request)
}

/// A client over HTTP/2 with a layer that reads the token in this file for each request.
pub(crate) fn with_token_layer(url: &str, token: &Path) -> Client {
    let path = token.to_owned();
    over_http2_with(url, move |mut request| {
        let token = std::fs::read_to_string(&path).unwrap();
        let value = format!("Bearer {token}").parse().unwrap();
        request.headers_mut().insert("authorization", value);
        request
    })
}

/// A client over HTTP/2 with a layer that changes each request.
fn over_http2_with<F>(url: &str, change: F) -> Client
where
    F: FnMut(http::Request<Body>) -> http::Request<Body> + Clone + Send + 'static,
{
    let lines = legacy::Client::builder(TokioExecutor::new())
        .http2_only(true)
        .build_http::<Body>();
    let service = ServiceBuilder::new()
        .layer(config(url).base_uri_layer())
        .map_request(change)
        .map_err(BoxError::from)
        .service(lines);
    Client::new(service, "default")
}

/// A client that sends the token in this file, and reads it as kube does.
pub(crate) fn with_token_file(url: &str, token: &Path) -> Client {
    let mut config = config(url);
    config.auth_info.token_file = Some(token.to_str().unwrap().to_owned());
    Client::try_from(config).unwrap()
}

/// A client that trusts the authority in this file, and reads it as kube does in a cluster.
pub(crate) fn with_authority(url: &str, authority: &Path) -> Client {
    let mut config = config(url);
    config.root_cert_file = Some(authority.to_owned());
    Client::try_from(config).unwrap()
}
