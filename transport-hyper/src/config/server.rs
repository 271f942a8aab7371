//! Addresses of API servers and proxies.

use std::fmt;
use std::net::Ipv6Addr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::Uri;
use http::uri::Scheme;

use super::ConfigError;
use crate::secret::Secret;

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
        let host =
            host_of(&uri).ok_or_else(|| bad("has no valid host; use a name or an IP address"))?;
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

/// A proxy that tunnels with CONNECT.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Proxy {
    pub(crate) host: String,
    pub(crate) port: u16,
    /// The value of `Proxy-Authorization`.
    pub(crate) authorization: Option<Secret>,
}

impl Proxy {
    pub(crate) fn parse(text: &str, of: &impl fmt::Display) -> Result<Self, ConfigError> {
        const FIELD: &str = "proxy-url";
        let bad = |reason: &str| ConfigError::invalid(of, FIELD, reason);
        let uri: Uri = text
            .parse()
            .map_err(|_| bad("is not a URL; use one such as http://proxy:3128"))?;
        match uri.scheme_str() {
            Some("http") => {}
            Some("socks5" | "socks5h") => {
                return Err(ConfigError::unsupported(
                    of,
                    "a socks5 proxy is not supported; use an http proxy (CONNECT)",
                ));
            }
            Some("https") => {
                return Err(ConfigError::unsupported(
                    of,
                    "an https proxy is not supported; use an http proxy (CONNECT)",
                ));
            }
            _ => return Err(bad("must begin with http://")),
        }
        let host =
            host_of(&uri).ok_or_else(|| bad("has no valid host; use a name or an IP address"))?;
        let user = uri
            .authority()
            .and_then(|authority| authority.as_str().rsplit_once('@'))
            .map(|(user, _)| percent_decode(user));
        Ok(Self {
            host,
            port: port_of(&uri, 80).ok_or_else(|| bad(NO_PORT))?,
            authorization: user
                .map(|user| Secret::from(format!("Basic {}", STANDARD.encode(user)))),
        })
    }

    pub(crate) fn authority(&self) -> String {
        authority(&self.host, self.port)
    }
}

/// The reason for a port that [`port_of`] rejects.
const NO_PORT: &str = "has an invalid port; use a number from 1 to 65535, or leave it out";

/// The port, or `usual` if the URL has none. An invalid port is `None`: guessing would lead to an address
/// that the user did not write.
fn port_of(uri: &Uri, usual: u16) -> Option<u16> {
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
fn host_of(uri: &Uri) -> Option<String> {
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

fn authority(host: &str, port: u16) -> String {
    if host.contains(':') {
        format!("[{host}]:{port}")
    } else {
        format!("{host}:{port}")
    }
}

/// Decodes `%XX`. Anything else is kept.
fn percent_decode(text: &str) -> Vec<u8> {
    let mut decoded = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        let code = (first == b'%')
            .then(|| tail.get(..2))
            .flatten()
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        decoded.push(code.unwrap_or(first));
        rest = match code {
            Some(_) => tail.get(2..).unwrap_or_default(),
            None => tail,
        };
    }
    decoded
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

    #[test]
    fn proxies() {
        let proxy = Proxy::parse("http://me:p%40ss@proxy:3128", &"x").unwrap();
        assert_eq!(proxy.authority(), "proxy:3128");
        let expected = format!("Basic {}", STANDARD.encode("me:p@ss"));
        assert_eq!(proxy.authorization.unwrap().expose(), expected);
        let error = Proxy::parse("socks5://proxy:1080", &"cluster `c`").unwrap_err();
        assert_eq!(
            error.to_string(),
            "cluster `c`: a socks5 proxy is not supported; use an http proxy (CONNECT)"
        );
        assert!(Proxy::parse("https://proxy", &"x").is_err());
        assert!(Proxy::parse("proxy:3128", &"x").is_err());
    }
}
