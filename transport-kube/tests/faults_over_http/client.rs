//! Clients of kube-rs.

use std::path::Path;

use hyper_util::client::legacy;
use hyper_util::rt::TokioExecutor;
use informer::informer_transport_kube::kube;
use kube::client::{Body, ClientBuilder, ConfigExt as _};
use kube::{Client, Config};
use tower::util::MapRequestLayer;
use tower::{BoxError, ServiceBuilder};

/// Whether it asks for compressed streams.
pub(crate) const UNPACKS_STREAMS: bool = false;

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
    let lines = legacy::Client::builder(TokioExecutor::new())
        .http2_only(true)
        .build_http::<Body>();
    let service = ServiceBuilder::new()
        .layer(config(url).base_uri_layer())
        .map_err(BoxError::from)
        .service(lines);
    Client::new(service, "default")
}

/// A client with a layer that sends the token in this file. (kube itself reads a file once a minute.)
pub(crate) fn with_token_file(url: &str, token: &Path) -> Client {
    let path = token.to_owned();
    let show = move |mut request: http::Request<Body>| {
        let token = std::fs::read_to_string(&path).unwrap();
        let value = format!("Bearer {token}").parse().unwrap();
        request.headers_mut().insert("authorization", value);
        request
    };
    let builder = ClientBuilder::try_from(config(url)).unwrap();
    builder.with_layer(&MapRequestLayer::new(show)).build()
}

/// A client that trusts the authority in this file.
pub(crate) fn with_authority(url: &str, authority: &Path) -> Client {
    let mut config = config(url);
    config.root_cert_file = Some(authority.to_owned());
    Client::try_from(config).unwrap()
}
