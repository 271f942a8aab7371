//! Why a connection or an answer failed, in words.

use std::error::Error;
use std::fmt;

use informer_transport_http::find;
use rustls::{AlertDescription, CertificateError};

use crate::config::{Config, Proxy};
use crate::timestamp;

/// Why a connection could not be opened. No request was sent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ConnectError(pub(crate) String);

impl fmt::Display for ConnectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Why a request got no answer.
#[derive(Debug)]
pub(crate) enum SendError {
    /// The server was not reached.
    Connect(ConnectError),
    /// The server was reached, and then the connection broke.
    Broken(String),
}

/// Whom TLS was tried with, in words.
pub(super) struct Peer<'a> {
    /// How it is called.
    whom: String,
    /// The name that its certificate must be valid for.
    name: &'a str,
    /// Who must have signed its certificate.
    trust: String,
    /// What to do if its certificate is for other names.
    rename: &'static str,
}

impl<'a> Peer<'a> {
    pub(super) fn server(config: &'a Config) -> Self {
        let name = config.trust.server_name.as_ref();
        Self {
            whom: config.route(),
            name: name.unwrap_or(&config.server.host),
            trust: config.trust.describe(),
            rename: "set tls-server-name to",
        }
    }

    pub(super) fn proxy(proxy: &'a Proxy) -> Self {
        Self {
            whom: format!("the proxy {}", proxy.authority()),
            name: &proxy.host,
            trust: "the certificate authorities of the system or the cluster".to_owned(),
            rename: "change its URL to",
        }
    }
}

/// Explains a failed TLS handshake: which certificate, why, and what to do.
pub(super) fn tls_failure(error: &(dyn Error + 'static), peer: &Peer<'_>) -> String {
    let url = &peer.whom;
    let Some(error) = find::<rustls::Error>(error) else {
        return format!("TLS with {url} failed: {error}; is the right server listening there?");
    };
    match error {
        rustls::Error::InvalidCertificate(why) => {
            format!(
                "the certificate of {url} {}",
                certificate_failure(why, peer)
            )
        }
        rustls::Error::AlertReceived(alert) => {
            let about = match alert {
                AlertDescription::CertificateRequired => {
                    "it requires a client certificate; configure one"
                }
                AlertDescription::CertificateExpired => {
                    "the client certificate has expired; get a new one"
                }
                AlertDescription::BadCertificate
                | AlertDescription::UnknownCA
                | AlertDescription::CertificateUnknown
                | AlertDescription::DecryptError
                | AlertDescription::AccessDenied => {
                    "it rejected the client certificate; is it the right one for this cluster?"
                }
                AlertDescription::NoApplicationProtocol => {
                    "it does not speak the version of HTTP that `Settings::http` requires; change it"
                }
                _ => "it rejected the TLS handshake; is it an API server?",
            };
            format!("{url} refused the TLS connection: {about} (alert {alert:?})")
        }
        rustls::Error::InvalidMessage(_) => {
            format!("{url} does not speak TLS; if it serves plain HTTP, use http://")
        }
        error => format!("TLS with {url} failed: {error}"),
    }
}

fn certificate_failure(why: &CertificateError, peer: &Peer<'_>) -> String {
    let Peer {
        name,
        trust,
        rename,
        ..
    } = peer;
    match why {
        CertificateError::UnknownIssuer => {
            format!("is not signed by {trust}; is it the right one for this cluster?")
        }
        CertificateError::Expired => "has expired; the server needs a new one".to_owned(),
        CertificateError::ExpiredContext { not_after, .. } => {
            let when = timestamp::utc(not_after.as_secs())
                .map_or_else(|| "some time ago".to_owned(), |when| format!("at {when}"));
            format!("expired {when}; the server needs a new one (or the clock here is wrong)")
        }
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            "is not valid yet; is the clock here right?".to_owned()
        }
        CertificateError::NotValidForName => {
            format!("is not valid for `{name}`; {rename} a name that it is valid for")
        }
        CertificateError::NotValidForNameContext { presented, .. } => format!(
            "is not valid for `{name}` but for {}; {rename} one of these",
            presented.join(", ")
        ),
        // rustls has no variant for this; only the debug text of webpki names it.
        why if format!("{why:?}").contains("CaUsedAsEndEntity") => {
            "is a CA certificate, not a server certificate; the server needs its own".to_owned()
        }
        why => format!("cannot be used: {why}"),
    }
}
