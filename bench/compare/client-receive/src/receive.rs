//! The first request of our client, sent by the usual HTTP client.

use std::error::Error;
use std::iter::successors;

use reqwest::header::ACCEPT;
use reqwest::{Certificate, Client, Identity, Response, StatusCode, Version};

use crate::kubeconfig::Access;
use crate::options::Strategy;
use crate::seen::Seen;

const LIST: &str = "/api/v1/pods?limit=500&resourceVersion=0";
/// Our client draws the timeout at random, from five minutes on.
const STREAM: &str = "/api/v1/pods?allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan\
                      &sendInitialEvents=true&timeoutSeconds=300&watch=true";

/// How much of a refusal is quoted, in characters.
const QUOTED: usize = 300;

/// A state that was received.
pub(crate) struct Received {
    /// Its length, without gzip.
    pub(crate) bytes: u64,
    /// What is left open: a client with its connections, and a watch.
    _open: (Client, Response),
}

/// Receives the first state and throws it away.
pub(crate) async fn receive(
    access: Access,
    strategy: Strategy,
    protobuf: bool,
) -> Result<Received, String> {
    let (path, accept) = match (strategy, protobuf) {
        (Strategy::Listwatch, false) => (LIST, "application/json"),
        (Strategy::Listwatch, true) => (LIST, "application/vnd.kubernetes.protobuf"),
        (Strategy::Streaming, false) => (STREAM, "application/json"),
        (Strategy::Streaming, true) => (STREAM, "application/vnd.kubernetes.protobuf;stream=watch"),
    };
    let client = connect(&access)?;
    let url = format!("{}{path}", access.server);
    let mut request = client.get(&url).header(ACCEPT, accept);
    if let Some(token) = &access.token {
        request = request.bearer_auth(token);
    }
    let failed = |error: reqwest::Error| {
        let why = reasons(&error.without_url());
        format!("GET {url} failed: {why}; check that the kubeconfig is that of a running server")
    };
    let mut response = request.send().await.map_err(failed)?;
    if response.status() != StatusCode::OK {
        return Err(refusal(response, &url).await);
    }
    let version = response.version();
    if version != Version::HTTP_2 {
        return Err(format!(
            "the server answered in {version:?}, but HTTP/2 is to be measured; use a server that has it"
        ));
    }
    let wants_mark = strategy == Strategy::Streaming;
    let mut seen = Seen::default();
    let mut is_over = false;
    while !is_over {
        match response.chunk().await.map_err(failed)? {
            Some(chunk) => is_over = seen.add(&chunk, wants_mark),
            None if wants_mark => return Err("the watch ended within the state".to_owned()),
            None if seen.has_more_pages() => {
                return Err(
                    "the server sent the list in pages, and only the first was received".to_owned(),
                );
            }
            None => is_over = true,
        }
    }
    Ok(Received {
        bytes: seen.bytes(),
        _open: (client, response),
    })
}

async fn refusal(response: Response, url: &str) -> String {
    let status = response.status();
    let text = response.text().await.unwrap_or_default();
    // In protobuf, it is not only text.
    let is_text = |c: &char| !c.is_control() && *c != char::REPLACEMENT_CHARACTER;
    let said: String = text.chars().filter(is_text).take(QUOTED).collect();
    format!(
        "the server answered {status} to GET {url}: {said}; check the user of the current context"
    )
}

fn connect(access: &Access) -> Result<Client, String> {
    // It fails if there is one already, which is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    // It would take a proxy of the environment even to this machine, which the other programs do not.
    let mut builder = Client::builder().no_proxy().gzip(access.compression);
    if let Some(pem) = &access.authority {
        let certificates = Certificate::from_pem_bundle(pem).map_err(|error| {
            let why = reasons(&error);
            format!("the certificate authority of the kubeconfig is not PEM: {why}")
        })?;
        builder = builder.tls_certs_only(certificates);
    }
    if let Some(pem) = &access.identity {
        let identity = Identity::from_pem(pem).map_err(|error| {
            let why = reasons(&error);
            format!("the client certificate and key of the kubeconfig are not PEM: {why}")
        })?;
        builder = builder.identity(identity);
    }
    let made = builder.build();
    made.map_err(|error| format!("no HTTP client can be made: {}", reasons(&error)))
}

/// An error and all that caused it.
fn reasons(error: &dyn Error) -> String {
    let all: Vec<String> = successors(Some(error), |error| (*error).source())
        .map(ToString::to_string)
        .collect();
    all.join(": ")
}
