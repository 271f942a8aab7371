//! Addresses of API servers.

use std::fmt;
use std::net::Ipv6Addr;

use http::Uri;
use http::uri::Scheme;

use super::ConfigError;

/// The address of an API server.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Server {
    pub(crate) tls: bool,
    /// A host name or IP address; IPv6 without brackets.
    pub(crate) host: String,
    pub(crate) port: u16,
    /// The part of every path before `/api`: empty, or with a leading but no trailing slash.
    pub(crate) prefix: String,
}

impl Server {
    pub(crate) fn parse(text: &str, of: &impl fmt::Display) -> Result<Self, ConfigError> {
        const FIELD: &str = "server";
        let bad = |reason: &str| ConfigError::invalid(of, FIELD, reason);
        if text.trim().is_empty() {
            return Err(bad(
                "is missing; set it to the URL of the API server, such as https://10.0.0.1:6443",
            ));
        }
        let uri: Uri = text.parse().map_err(|error| {
            bad(&format!(
                "is not a URL ({error}); use one such as https://10.0.0.1:6443"
            ))
        })?;
        let tls = match uri.scheme() {
            Some(scheme) if *scheme == Scheme::HTTPS => true,
            Some(scheme) if *scheme == Scheme::HTTP => false,
            _ => return Err(bad("must begin with https:// or http://")),
        };
        let host = host_of(&uri).ok_or_else(|| bad(NO_HOST))?;
        let has_user = uri
            .authority()
            .is_some_and(|authority| authority.as_str().contains('@'));
        if has_user {
            return Err(bad(
                "must not contain credentials; put them in the user entry of the kubeconfig",
            ));
        }
        if uri.query().is_some() {
            return Err(bad("must not contain a query; remove it"));
        }
        Ok(Self {
            tls,
            host,
            port: port_of(&uri, if tls { 443 } else { 80 }).ok_or_else(|| bad(NO_PORT))?,
            prefix: uri.path().trim_end_matches('/').to_owned(),
        })
    }

    /// The host as in a URL, with the port unless it is the default one.
    pub(crate) fn authority(&self) -> String {
        let full = self.host_and_port();
        let usual = if self.tls { ":443" } else { ":80" };
        full.strip_suffix(usual).unwrap_or(&full).to_owned()
    }

    /// `host:port`, for a CONNECT request.
    pub(crate) fn host_and_port(&self) -> String {
        authority(&self.host, self.port)
    }

    /// The full URL, for messages.
    pub(crate) fn url(&self) -> String {
        let scheme = if self.tls { "https" } else { "http" };
        format!("{scheme}://{}{}", self.authority(), self.prefix)
    }
}

/// The reason for a host that [`host_of`] rejects.
pub(super) const NO_HOST: &str = "has no valid host; use a name or an IP address";

/// The reason for a port that [`port_of`] rejects.
pub(super) const NO_PORT: &str =
    "has an invalid port; use a number from 1 to 65535, or leave it out";

/// The port, or `usual` if the URL has none. An invalid port is `None`: guessing would lead to an address
/// that the user did not write.
pub(super) fn port_of(uri: &Uri, usual: u16) -> Option<u16> {
    let authority = uri.authority()?.as_str();
    let address = authority.rsplit_once('@').map_or(authority, |(_, it)| it);
    match address.strip_prefix(uri.host()?)? {
        "" => Some(usual),
        port => port_number(port.strip_prefix(':')?),
    }
}

/// Parses a port number, digits only.
pub(super) fn port_number(text: &str) -> Option<u16> {
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|port| is_number && *port != 0)
}

/// The host name or IP address. Only an IPv6 address may have brackets.
pub(super) fn host_of(uri: &Uri) -> Option<String> {
    let host = uri.host()?;
    let host = match host.strip_prefix('[') {
        None => host,
        Some(inner) => {
            let address = inner.strip_suffix(']')?;
            address.parse::<Ipv6Addr>().ok().map(|_| address)?
        }
    };
    (!host.is_empty()).then(|| host.to_owned())
}

pub(super) fn authority(host: &str, port: u16) -> String {
    if host.contains(':') {
        format!("[{host}]:{port}")
    } else {
        format!("{host}:{port}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers() {
        let server = Server::parse("https://example.org", &"x").unwrap();
        assert_eq!(server.url(), "https://example.org");
        assert_eq!(server.host_and_port(), "example.org:443");
        assert_eq!(server.prefix, "");
        let server = Server::parse("http://[::1]:8080/k8s/clusters/c-1/", &"x").unwrap();
        assert_eq!(server.host, "::1");
        assert_eq!(server.url(), "http://[::1]:8080/k8s/clusters/c-1");
        for (text, complaint) in [
            ("", "is missing"),
            ("10.0.0.1:6443", "must begin with https://"),
            ("ftp://a", "must begin with https://"),
            ("https://me:pw@a", "credentials"),
            ("https://a/?x=1", "query"),
            ("https://a b", "is not a URL"),
            ("https://[a:80]", "has no valid host"),
            ("https://a:80010", "has an invalid port"),
            ("https://[::1]:", "has an invalid port"),
            ("https://[::1]x:6443", "has an invalid port"),
        ] {
            let error = Server::parse(text, &"cluster `c`").unwrap_err().to_string();
            assert!(error.starts_with("cluster `c`: `server` "), "{error}");
            assert!(error.contains(complaint), "{error}");
        }
    }
}
