//! One request over HTTP, with every visible part of its answer.

use std::error::Error;
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::header::{ACCEPT, AUTHORIZATION, HOST, HeaderMap, USER_AGENT};
use hyper::{Request, body::Incoming};
use hyper_util::rt::TokioIo;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use crate::error::ProbeError;
use crate::kubeconfig::Access;
use crate::names::Names;
use crate::probe::Probe;

/// A server to send requests to.
#[derive(Clone)]
pub(crate) struct Endpoint {
    /// Host and port.
    authority: String,
    tls: Option<(TlsConnector, ServerName<'static>)>,
    token: Option<String>,
}

/// Everything that came back.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
    /// Whether the body came to its end before the connection broke.
    pub(crate) is_whole: bool,
}

impl Endpoint {
    pub(crate) fn new(access: Access) -> Result<Self, Box<dyn Error + Send + Sync>> {
        let (scheme, authority) = access
            .url
            .split_once("://")
            .ok_or("the URL has no scheme")?;
        let authority = authority.trim_end_matches('/').to_owned();
        let tls = match scheme {
            "https" => Some(tls(&authority, &access.authority.unwrap_or_default())?),
            _ => None,
        };
        Ok(Self {
            authority,
            tls,
            token: access.token,
        })
    }

    /// Sends a request over its own connection.
    pub(crate) async fn ask(&self, probe: &Probe, names: &Names) -> Result<Reply, ProbeError> {
        self.exchange(probe, names)
            .await
            .map_err(|error| ProbeError::NoAnswer {
                request: probe.line(),
                reason: error.to_string(),
            })
    }

    async fn exchange(
        &self,
        probe: &Probe,
        names: &Names,
    ) -> Result<Reply, Box<dyn Error + Send + Sync>> {
        let mut request = Request::builder()
            .method(probe.method)
            .uri(names.filled(&probe.target))
            .header(HOST, &self.authority)
            .header(USER_AGENT, "informer-probes");
        let has = |name: &str| {
            probe
                .headers
                .iter()
                .any(|(it, _)| it.eq_ignore_ascii_case(name))
        };
        if !has(ACCEPT.as_str()) {
            request = request.header(ACCEPT, "application/json");
        }
        if let Some(token) = self.token.as_ref().filter(|_| !has(AUTHORIZATION.as_str())) {
            request = request.header(AUTHORIZATION, format!("Bearer {token}"));
        }
        for (name, value) in &probe.headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Full::new(Bytes::from(names.filled(&probe.body))))?;
        let socket = TcpStream::connect(&self.authority).await?;
        match &self.tls {
            Some((connector, name)) => {
                send(connector.connect(name.clone(), socket).await?, request).await
            }
            None => send(socket, request).await,
        }
    }
}

fn tls(
    authority: &str,
    pem: &[u8],
) -> Result<(TlsConnector, ServerName<'static>), Box<dyn Error + Send + Sync>> {
    let mut roots = rustls::RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(pem) {
        roots.add(certificate?)?;
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    let host = authority
        .rsplit_once(':')
        .map_or(authority, |(host, _)| host);
    let name = ServerName::try_from(host.to_owned())?;
    Ok((TlsConnector::from(Arc::new(config)), name))
}

async fn send(
    socket: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    request: Request<Full<Bytes>>,
) -> Result<Reply, Box<dyn Error + Send + Sync>> {
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(socket)).await?;
    let connection = tokio::spawn(connection);
    let (head, body) = sender.send_request(request).await?.into_parts();
    let (body, is_whole) = read(body).await;
    connection.abort();
    Ok(Reply {
        status: head.status.as_u16(),
        headers: head.headers,
        body,
        is_whole,
    })
}

/// The body, and whether it came to its end.
async fn read(mut body: Incoming) -> (Vec<u8>, bool) {
    let mut bytes = Vec::new();
    while let Some(frame) = body.frame().await {
        match frame {
            Ok(frame) => bytes.extend(frame.into_data().unwrap_or_default()),
            Err(_) => return (bytes, false),
        }
    }
    (bytes, true)
}
