//! Writes to the server and reads its state, without the code under test.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::client::conn::http2::{Builder, SendRequest};
use hyper::{Method, Request, StatusCode};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use serde_json::Value;
use tokio::net::TcpStream;
use tokio::sync::Mutex;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use crate::Outcome;
use crate::cluster::State;

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(90);

/// A cluster admin. It talks to the server directly, not through a proxy.
pub struct Api {
    authority: String,
    token: String,
    tls: TlsConnector,
    connection: Mutex<Option<SendRequest<Full<Bytes>>>>,
}

impl std::fmt::Debug for Api {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Api").field(&self.authority).finish()
    }
}

/// The objects of a list by key, as in lists: without kind, and without managed fields.
pub type Listed = BTreeMap<String, Value>;

impl Api {
    /// Creates a client for the admin of a cluster.
    ///
    /// # Errors
    /// The certificate cannot be used.
    pub fn new(state: &State) -> Outcome<Self> {
        let mut roots = RootCertStore::empty();
        for certificate in CertificateDer::pem_file_iter(&state.authority)? {
            roots.add(certificate?)?;
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut tls = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots)
            .with_no_client_auth();
        tls.alpn_protocols = vec![b"h2".to_vec()];
        let authority = state.url.trim_start_matches("https://");
        Ok(Self {
            authority: authority.to_owned(),
            token: state.admin_token.clone(),
            tls: TlsConnector::from(Arc::new(tls)),
            connection: Mutex::default(),
        })
    }

    /// Creates an object in the collection at `path`, and returns it as the server created it.
    ///
    /// # Errors
    /// The server refuses.
    pub async fn create(&self, path: &str, object: &Value) -> Outcome<Value> {
        self.ask(Method::POST, path, Some(object)).await
    }

    /// Changes the object at `path` with a merge patch.
    ///
    /// # Errors
    /// The server refuses.
    pub async fn patch(&self, path: &str, patch: &Value) -> Outcome<Value> {
        self.ask(Method::PATCH, path, Some(patch)).await
    }

    /// Deletes the object at `path`, or all objects of a collection, without a grace period.
    ///
    /// # Errors
    /// The server refuses.
    pub async fn delete(&self, path: &str) -> Outcome<Value> {
        let at_once = serde_json::json!({"gracePeriodSeconds": 0});
        self.ask(Method::DELETE, path, Some(&at_once)).await
    }

    /// Reads what is at `path`.
    ///
    /// # Errors
    /// The server refuses.
    pub async fn get(&self, path: &str) -> Outcome<Value> {
        self.ask(Method::GET, path, None).await
    }

    /// The newest state of the list at `path`.
    ///
    /// # Errors
    /// The server refuses, or it is not a list.
    pub async fn list(&self, path: &str) -> Outcome<Listed> {
        let mut list = self.get(path).await?;
        let items = list.get_mut("items").map(Value::take);
        let Some(Value::Array(items)) = items else {
            return Err(format!("{path} is not a list").into());
        };
        Ok(items
            .into_iter()
            .map(|item| (key(&item), bare(item)))
            .collect())
    }

    /// How many requests with a verb the server has counted for a resource since its start.
    ///
    /// # Errors
    /// The server does not report it.
    pub async fn requests(&self, verb: &str, resource: &str) -> Outcome<u64> {
        let (_, text) = self.send(Method::GET, "/metrics", None).await?;
        let text = String::from_utf8(text.to_vec())?;
        let wanted = [
            format!("verb=\"{verb}\""),
            format!("resource=\"{resource}\""),
        ];
        let lines = text.lines().filter(|line| {
            line.starts_with("apiserver_request_total{")
                && wanted.iter().all(|it| line.contains(it))
        });
        let counts = lines.filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok());
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a counter"
        )]
        Ok(counts.sum::<f64>() as u64)
    }

    /// Watches the list at `path`, from its newest state on.
    ///
    /// # Errors
    /// The server refuses.
    pub async fn watch(&self, path: &str) -> Outcome<Watch> {
        let version = self.get(path).await?;
        let path = format!(
            "{path}?watch=true&resourceVersion={}",
            self::version(&version)?
        );
        let mut connection = self.connection().await?;
        let answer = connection.send_request(self.request(Method::GET, &path, None)?);
        let answer = timeout(PATIENCE, answer).await??;
        if !answer.status().is_success() {
            return Err(format!("{path}: {}", answer.status()).into());
        }
        Ok(Watch {
            body: answer.into_body(),
            read: Vec::new(),
        })
    }

    async fn ask(&self, method: Method, path: &str, body: Option<&Value>) -> Outcome<Value> {
        let (status, text) = self.send(method.clone(), path, body).await?;
        let answer: Value = serde_json::from_slice(&text)
            .map_err(|error| format!("{method} {path}: {status}, {error}"))?;
        if status.is_success() {
            return Ok(answer);
        }
        let message = answer
            .get("message")
            .and_then(Value::as_str)
            .unwrap_or_default();
        Err(format!("{method} {path}: {status}, {message}").into())
    }

    async fn send(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Outcome<(StatusCode, Bytes)> {
        let request = self.request(method, path, body)?;
        let answered = async {
            let mut connection = self.connection().await?;
            let answer = connection.send_request(request).await?;
            let status = answer.status();
            Outcome::Ok((status, answer.into_body().collect().await?.to_bytes()))
        };
        timeout(PATIENCE, answered)
            .await
            .map_err(|_| format!("{path}: no answer after {PATIENCE:?}"))?
    }

    fn request(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Outcome<Request<Full<Bytes>>> {
        let kind = if method == Method::PATCH {
            "application/merge-patch+json"
        } else {
            "application/json"
        };
        let body = body.map_or_else(String::new, Value::to_string);
        Ok(Request::builder()
            .method(method)
            .uri(format!("https://{}{path}", self.authority))
            .header("authorization", format!("Bearer {}", self.token))
            .header("content-type", kind)
            .body(Full::from(body))?)
    }

    /// The connection, renewed if it no longer works.
    async fn connection(&self) -> Outcome<SendRequest<Full<Bytes>>> {
        let mut connection = self.connection.lock().await;
        if let Some(open) = connection.as_ref().filter(|open| !open.is_closed()) {
            return Ok(open.clone());
        }
        let stream = TcpStream::connect(&self.authority).await?;
        stream.set_nodelay(true)?;
        let name = ServerName::try_from("localhost")?;
        let stream = self.tls.connect(name, stream).await?;
        let (sender, driver) = Builder::new(TokioExecutor::new())
            .timer(TokioTimer::new())
            .initial_stream_window_size(8 << 20)
            .initial_connection_window_size(32 << 20)
            .handshake(TokioIo::new(stream))
            .await?;
        tokio::spawn(driver);
        Ok(connection.insert(sender).clone())
    }
}

/// An open watch.
#[derive(Debug)]
pub struct Watch {
    body: Incoming,
    read: Vec<u8>,
}

impl Watch {
    /// The next event; `None` if the server has ended the watch.
    ///
    /// # Errors
    /// The connection broke, or this is no event.
    pub async fn next(&mut self) -> Outcome<Option<Value>> {
        loop {
            if let Some(end) = self.read.iter().position(|byte| *byte == b'\n') {
                let line: Vec<_> = self.read.drain(..=end).collect();
                return Ok(Some(serde_json::from_slice(&line)?));
            }
            let Some(frame) = self.body.frame().await else {
                return Ok(None);
            };
            if let Ok(data) = frame?.into_data() {
                self.read.extend_from_slice(&data);
            }
        }
    }
}

/// The key of an object, as in client-go.
fn key(object: &Value) -> String {
    let name = |field| {
        object
            .pointer(field)
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    match name("/metadata/namespace") {
        "" => name("/metadata/name").to_owned(),
        namespace => format!("{namespace}/{}", name("/metadata/name")),
    }
}

/// An object without fields that are only sometimes present.
#[must_use]
pub fn bare(mut object: Value) -> Value {
    if let Some(fields) = object.as_object_mut() {
        fields.remove("kind");
        fields.remove("apiVersion");
        if let Some(metadata) = fields.get_mut("metadata").and_then(Value::as_object_mut) {
            metadata.remove("managedFields");
        }
    }
    object
}

/// The version of an object.
///
/// # Errors
/// It has none.
pub fn version(object: &Value) -> Outcome<&str> {
    let version = object.pointer("/metadata/resourceVersion");
    Ok(version
        .and_then(Value::as_str)
        .ok_or("the object has no version")?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn objects_are_compared_without_optional_fields() {
        let pod = json!({
            "kind": "Pod", "apiVersion": "v1",
            "metadata": {"name": "a", "namespace": "web", "managedFields": [1]},
        });
        assert_eq!(key(&pod), "web/a");
        assert_eq!(
            bare(pod),
            json!({"metadata": {"name": "a", "namespace": "web"}})
        );
        assert_eq!(key(&json!({"metadata": {"name": "node"}})), "node");
    }
}
