//! Clients over hyper.

use std::path::Path;
use std::time::Duration;

use informer::informer_transport_hyper::{HttpVersion, Settings};
use informer::{Client, Config};

/// Whether it asks for compressed streams.
pub(crate) const UNPACKS_STREAMS: bool = true;

/// How long it may use a token or an authority after the file was replaced: each request reads the files.
pub(crate) const REREADS_WITHIN: Duration = Duration::ZERO;

/// A client without credentials.
pub(crate) fn plain(url: &str) -> Client {
    of(Config::new(url).unwrap())
}

/// A client that speaks HTTP/2 without TLS.
pub(crate) fn over_http2(url: &str) -> Client {
    let settings = Settings {
        http: HttpVersion::Http2,
        ..Settings::new()
    };
    of(Config::new(url).unwrap().with_settings(settings))
}

/// A client that sends the token in this file.
pub(crate) fn with_token_file(url: &str, token: &Path) -> Client {
    of(Config::new(url)
        .unwrap()
        .with_token_file(token)
        .with_credentials_over_http())
}

/// A client that trusts the authority in this file.
pub(crate) fn with_authority(url: &str, authority: &Path) -> Client {
    of(Config::new(url).unwrap().with_ca_file(authority))
}

fn of(config: Config) -> Client {
    Client::new(config).unwrap()
}
