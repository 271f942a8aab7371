//! Proxies on the way to the server.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::Uri;

use super::server::{NO_HOST, NO_PORT, Server, authority, host_of, port_of};
use super::{ConfigError, Environment, no_proxy};
use crate::secret::Secret;

/// A proxy and the credentials for it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Proxy {
    pub(crate) kind: ProxyKind,
    /// A host name or IP address; IPv6 without brackets.
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) login: Option<Login>,
    /// Where its URL is written, for messages.
    pub(crate) field: &'static str,
}

/// How to talk to a proxy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ProxyKind {
    Http,
    /// HTTP over TLS.
    Https,
    /// The proxy looks up the name of the server, for `socks5` as for `socks5h`. client-go does the same.
    Socks5,
}

/// The user and the password in the URL of a proxy.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Login {
    pub(crate) user: Secret,
    pub(crate) password: Secret,
}

/// The longest user or password of a socks5 proxy.
const LONGEST_SOCKS: usize = 255;

impl Proxy {
    /// Parses the URL in `field`.
    pub(crate) fn parse(
        text: &str,
        of: &impl fmt::Display,
        field: &'static str,
    ) -> Result<Self, ConfigError> {
        let bad = |reason: &str| ConfigError::invalid(of, field, reason);
        // What is wrong with it is not said: the parser might quote a password.
        let uri: Uri = text
            .trim()
            .parse()
            .map_err(|_| bad("is not a URL; use one such as http://proxy:3128"))?;
        let scheme = uri.scheme_str().map(str::to_ascii_lowercase);
        let (kind, usual) = match scheme.as_deref() {
            Some("http") => (ProxyKind::Http, 80),
            Some("https") => (ProxyKind::Https, 443),
            Some("socks5" | "socks5h") => (ProxyKind::Socks5, 1080),
            _ => {
                return Err(bad(
                    "must begin with http://, https://, socks5:// or socks5h://",
                ));
            }
        };
        let login = uri
            .authority()
            .and_then(|authority| authority.as_str().rsplit_once('@'))
            .map(|(login, _)| Login::parse(login))
            .transpose()
            .map_err(bad)?;
        let is_refused = |login: &Login| {
            let lengths = [login.user.expose().len(), login.password.expose().len()];
            login.user.is_empty() || lengths.iter().any(|length| *length > LONGEST_SOCKS)
        };
        if kind == ProxyKind::Socks5 && login.as_ref().is_some_and(is_refused) {
            return Err(bad(
                "has a user or password that socks5 does not allow; use at most 255 bytes each, and at least one for the user",
            ));
        }
        Ok(Self {
            kind,
            host: host_of(&uri).ok_or_else(|| bad(NO_HOST))?,
            port: port_of(&uri, usual).ok_or_else(|| bad(NO_PORT))?,
            login,
            field,
        })
    }

    /// The proxy that the environment names for this server.
    pub(crate) fn of_environment(
        environment: &Environment,
        server: &Server,
    ) -> Result<Option<Self>, ConfigError> {
        let (field, url) = if server.tls {
            ("HTTPS_PROXY", &environment.https_proxy)
        } else {
            ("HTTP_PROXY", &environment.http_proxy)
        };
        let Some(url) = url.as_ref().filter(|url| !url.expose().trim().is_empty()) else {
            return Ok(None);
        };
        let exempt = environment.no_proxy.as_deref().unwrap_or_default();
        if no_proxy::is_exempt(exempt, &server.host, server.port) {
            return Ok(None);
        }
        let text = url.expose().trim();
        let with_scheme = if text.contains("://") {
            url.clone()
        } else {
            Secret::from(format!("http://{text}"))
        };
        let of = "the environment (in upper or lower case)";
        Self::parse(with_scheme.expose(), &of, field).map(Some)
    }

    /// `host:port`, without credentials.
    pub(crate) fn authority(&self) -> String {
        authority(&self.host, self.port)
    }

    /// The URL without credentials.
    pub(crate) fn url(&self) -> String {
        let scheme = match self.kind {
            ProxyKind::Http => "http",
            ProxyKind::Https => "https",
            ProxyKind::Socks5 => "socks5",
        };
        format!("{scheme}://{}", self.authority())
    }

    /// The value of `Proxy-Authorization`.
    pub(crate) fn authorization(&self) -> Option<Secret> {
        let Login { user, password } = self.login.as_ref()?;
        let pair = Secret::from(format!("{}:{}", user.expose(), password.expose()));
        let encoded = Secret::from(STANDARD.encode(pair.expose()));
        Some(Secret::from(format!("Basic {}", encoded.expose())))
    }

    /// Why a request needs other credentials.
    pub(crate) fn wants_credentials(&self) -> String {
        let remedy = match self.login {
            None => "add them to",
            Some(_) => "correct those in",
        };
        let (address, field) = (self.authority(), self.field);
        format!("the proxy {address} requires credentials (HTTP 407); {remedy} {field}")
    }
}

impl Login {
    fn parse(text: &str) -> Result<Self, &'static str> {
        let (user, password) = text.split_once(':').unwrap_or((text, ""));
        Ok(Self {
            user: percent_decode(user)?,
            password: percent_decode(password)?,
        })
    }
}

/// Decodes `%XX`. Anything else is kept.
fn percent_decode(text: &str) -> Result<Secret, &'static str> {
    let mut decoded = zeroize::Zeroizing::new(Vec::with_capacity(text.len()));
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
    match std::str::from_utf8(&decoded) {
        Ok(text) if !text.contains(char::is_control) => Ok(Secret::from(text)),
        _ => Err("has a user or password that is not printable UTF-8; encode it as %XX"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Proxy, ConfigError> {
        Proxy::parse(text, &"cluster `c`", "proxy-url")
    }

    #[test]
    fn urls() {
        for (text, url, kind) in [
            (
                "http://me:pw@proxy:3128/ignored",
                "http://proxy:3128",
                ProxyKind::Http,
            ),
            ("http://proxy", "http://proxy:80", ProxyKind::Http),
            (
                " https://proxy.example.org ",
                "https://proxy.example.org:443",
                ProxyKind::Https,
            ),
            ("socks5://[::1]", "socks5://[::1]:1080", ProxyKind::Socks5),
            ("SOCKS5h://p:9", "socks5://p:9", ProxyKind::Socks5),
        ] {
            let proxy = parse(text).unwrap();
            assert_eq!((proxy.url().as_str(), proxy.kind), (url, kind));
        }
        for (text, complaint) in [
            ("proxy:3128", "must begin with http://"),
            ("ftp://proxy", "must begin with http://"),
            ("http://a b", "is not a URL"),
            ("http://proxy:99999", "has an invalid port"),
            ("http://me:pw@", "is not a URL"),
            ("http://me:%ff@proxy", "has a user or password"),
            ("http://me:a%0d%0ab@proxy", "has a user or password"),
            ("socks5://:pw@proxy", "has a user or password that socks5"),
        ] {
            let error = parse(text).unwrap_err().to_string();
            assert!(error.starts_with("cluster `c`: `proxy-url` "), "{error}");
            assert!(error.contains(complaint), "{text}: {error}");
        }
        let long = format!("socks5://me:{}@proxy", "x".repeat(256));
        assert!(parse(&long).is_err());
        assert!(parse(&long.replace("socks5", "http")).is_ok());
    }

    #[test]
    fn credentials() {
        for (login, pair) in [
            ("me:p%40ss", "me:p@ss"),
            ("me", "me:"),
            ("me:", "me:"),
            ("me:a:b", "me:a:b"),
            ("m%65:100%", "me:100%"),
        ] {
            let proxy = parse(&format!("http://{login}@proxy:3128")).unwrap();
            let expected = format!("Basic {}", STANDARD.encode(pair));
            assert_eq!(proxy.authorization().unwrap().expose(), expected);
            assert_eq!(proxy.url(), "http://proxy:3128");
        }
        assert_eq!(parse("http://proxy").unwrap().authorization(), None);
    }
}
