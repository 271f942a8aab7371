//! Who may ask: host, origin, method, body and token.

use std::fmt;
use std::hint::black_box;
use std::net::{Ipv4Addr, Ipv6Addr};

use hyper::body::Body as _;
use hyper::body::Incoming;
use hyper::header::{ALLOW, AUTHORIZATION, CONNECTION, HOST, HeaderName, ORIGIN, WWW_AUTHENTICATE};
use hyper::{HeaderMap, Method, Request, StatusCode};

use super::reply::Refusal;

/// A bearer token. It is not shown.
#[derive(Clone)]
pub(super) struct Token(String);

impl Token {
    /// The token, if a header can carry it.
    pub(super) fn new(token: String) -> Option<Self> {
        let visible = token.bytes().all(|byte| byte.is_ascii_graphic());
        (visible && !token.is_empty()).then_some(Self(token))
    }

    /// Takes as long for a token that is nearly right as for any other of its length.
    fn is(&self, given: &str) -> bool {
        let (known, given) = (self.0.as_bytes(), given.as_bytes());
        let differing = known
            .iter()
            .zip(given)
            .fold(0, |differing, (a, b)| black_box(differing | (a ^ b)));
        known.len() == given.len() && differing == 0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

/// What a request must be like.
#[derive(Debug)]
pub(super) struct Guard {
    pub(super) token: Option<Token>,
    /// The names that a client may use for this port; `None` if it does not matter, on a Unix socket.
    pub(super) hosts: Option<Vec<String>>,
}

/// Those who probe have no token, and the page asks for it.
const OPEN: [&str; 3] = ["/", "/livez", "/readyz"];

impl Guard {
    pub(super) fn check(&self, request: &Request<Incoming>) -> Result<(), Refusal> {
        let headers = request.headers();
        if request.uri().authority().is_some() && request.method() != Method::CONNECT {
            return Err(Refusal::bad_request(
                "The request names a whole address, as for a proxy; this is not one.",
            ));
        }
        self.check_host(headers)?;
        check_origin(headers)?;
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            let refusal = Refusal::new(
                StatusCode::METHOD_NOT_ALLOWED,
                "This port is read-only: use GET or HEAD.",
            );
            return Err(refusal.with(ALLOW, "GET, HEAD"));
        }
        if !request.body().is_end_stream() {
            let refusal = Refusal::new(
                StatusCode::PAYLOAD_TOO_LARGE,
                "Requests to this port have no body.",
            );
            return Err(refusal.with(CONNECTION, "close"));
        }
        if OPEN.contains(&request.uri().path()) {
            return Ok(());
        }
        self.check_token(headers)
    }

    /// A name of somebody else that leads here may be an attack from a web page (DNS rebinding). An address
    /// cannot be.
    fn check_host(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        let Some(names) = &self.hosts else {
            return Ok(());
        };
        let host = single(headers, &HOST)
            .and_then(host_name)
            .unwrap_or_default();
        let is_known = host.parse::<Ipv4Addr>().is_ok()
            || bracketed(host).is_some_and(|address| address.parse::<Ipv6Addr>().is_ok())
            || host.eq_ignore_ascii_case("localhost")
            || names.iter().any(|name| host.eq_ignore_ascii_case(name));
        if is_known {
            return Ok(());
        }
        Err(Refusal::new(
            StatusCode::MISDIRECTED_REQUEST,
            "This port does not go by that name. Use its IP address or localhost, or let the program allow \
             the name with `host`.",
        ))
    }

    fn check_token(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        let Some(token) = &self.token else {
            return Ok(());
        };
        let given = single(headers, &AUTHORIZATION).and_then(|text| text.split_once(' '));
        let given = given.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
        if given.is_some_and(|(_, given)| token.is(given.trim())) {
            return Ok(());
        }
        let refusal = Refusal::new(
            StatusCode::UNAUTHORIZED,
            "This needs the bearer token of the port.",
        );
        Err(refusal.with(WWW_AUTHENTICATE, "Bearer"))
    }
}

/// Pages of other sites may not ask.
fn check_origin(headers: &HeaderMap) -> Result<(), Refusal> {
    if !headers.contains_key(ORIGIN) {
        return Ok(());
    }
    let origin = single(headers, &ORIGIN).and_then(|origin| origin.split_once("://"));
    let is_same = match (origin, single(headers, &HOST)) {
        (Some((_, origin)), Some(host)) => origin.eq_ignore_ascii_case(host),
        _ => false,
    };
    if is_same {
        return Ok(());
    }
    Err(Refusal::new(
        StatusCode::FORBIDDEN,
        "Pages of other sites may not ask this port.",
    ))
}

/// The value of a header that is there once.
fn single<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok()?;
    values.next().is_none().then_some(value)
}

/// A host without its port. An IPv6 address keeps its brackets.
fn host_name(host: &str) -> Option<&str> {
    let end = host.rfind(']').map_or(0, |at| at + 1);
    let (name, port) = host.split_at(end + host.get(end..)?.find(':').unwrap_or(host.len() - end));
    let port = port.strip_prefix(':').unwrap_or(port);
    port.bytes()
        .all(|digit| digit.is_ascii_digit())
        .then_some(name)
}

fn bracketed(host: &str) -> Option<&str> {
    host.strip_prefix('[')?.strip_suffix(']')
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_read_without_its_port() {
        assert_eq!(host_name("localhost:80"), Some("localhost"));
        assert_eq!(host_name("127.0.0.1"), Some("127.0.0.1"));
        assert_eq!(host_name("[::1]:8080"), Some("[::1]"));
        assert_eq!(host_name("[::1]"), Some("[::1]"));
        assert_eq!(host_name("127.0.0.1:80@evil"), None);
        assert_eq!(host_name("a:b:80"), None);
    }

    #[test]
    fn only_the_whole_token_is_the_token() {
        let token = Token::new("s3cret".to_owned()).unwrap();
        assert!(token.is("s3cret"));
        for wrong in ["", "s3cre", "s3crets", "s3creT", "xxxxxx"] {
            assert!(!token.is(wrong), "{wrong}");
        }
        assert_eq!(format!("{token:?}"), "Token(…)");
        for unfit in ["", "a b", "caf\u{e9}", "a\n"] {
            assert!(Token::new(unfit.to_owned()).is_none(), "{unfit:?}");
        }
    }
}
