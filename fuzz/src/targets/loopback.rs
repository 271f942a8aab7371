//! A server on loopback with scripted answers, byte for byte.
//!
//! It runs in the runtime of its client, on one thread, so that timing does not matter.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use informer_transport_hyper::{Client, Config, RequestError};
use rcgen::{CertificateParams, KeyPair};
use rustls::pki_types::PrivateKeyDer;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};
use tokio_rustls::TlsAcceptor;

/// A server, and the runtime that it shares with its clients.
pub(super) struct Loopback {
    runtime: Runtime,
    script: Arc<Mutex<Script>>,
    pub(super) url: String,
}

#[derive(Default)]
struct Script {
    /// The whole answer to every request.
    answer: Vec<u8>,
    /// The heads of the requests so far.
    heads: Vec<String>,
}

impl Loopback {
    pub(super) fn plain() -> Self {
        Self::new("http", None)
    }

    /// With TLS. The certificate is also its own CA.
    pub(super) fn with_tls() -> (Self, String) {
        let params = CertificateParams::new(["127.0.0.1".to_owned()]).unwrap();
        let key = KeyPair::generate().unwrap();
        let certificate = params.self_signed(&key).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(
                vec![certificate.der().clone()],
                PrivateKeyDer::try_from(key.serialize_der()).unwrap(),
            );
        let acceptor = TlsAcceptor::from(Arc::new(config.unwrap()));
        (Self::new("https", Some(acceptor)), certificate.pem())
    }

    fn new(scheme: &str, acceptor: Option<TlsAcceptor>) -> Self {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let script = Arc::new(Mutex::new(Script::default()));
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let url = format!("{scheme}://{}", listener.local_addr().unwrap());
        runtime.spawn(listen(listener, acceptor, Arc::clone(&script)));
        Self {
            runtime,
            script,
            url,
        }
    }

    pub(super) fn client(&self, config: Config) -> Client {
        let _here = self.runtime.enter();
        Client::new(config).unwrap()
    }

    /// Runs `client` while the server answers with these bytes. Returns the body, and the heads of
    /// the requests.
    pub(super) fn ask(
        &self,
        client: &Client,
        answer: Vec<u8>,
    ) -> (Result<Vec<u8>, RequestError>, Vec<String>) {
        *self.script.lock().unwrap() = Script {
            answer,
            heads: Vec::new(),
        };
        let body = self.runtime.block_on(client.get("/version"));
        let heads = std::mem::take(&mut self.script.lock().unwrap().heads);
        (body.map(|body| body.to_vec()), heads)
    }
}

async fn listen(listener: TcpListener, acceptor: Option<TlsAcceptor>, script: Arc<Mutex<Script>>) {
    while let Ok((connection, _)) = listener.accept().await {
        let (acceptor, script) = (acceptor.clone(), Arc::clone(&script));
        tokio::spawn(async move {
            match acceptor {
                None => talk(connection, script).await,
                // A client that does not trust the certificate leaves.
                Some(acceptor) => match acceptor.accept(connection).await {
                    Ok(connection) => talk(connection, script).await,
                    Err(_) => None,
                },
            }
        });
    }
}

/// Answers until the client leaves.
async fn talk(
    mut connection: impl AsyncRead + AsyncWrite + Unpin,
    script: Arc<Mutex<Script>>,
) -> Option<()> {
    const END: &[u8] = b"\r\n\r\n";
    let mut head = Vec::new();
    loop {
        if connection.read_buf(&mut head).await.ok()? == 0 {
            return None;
        }
        if head.ends_with(END) {
            let answer = {
                let mut script = script.lock().unwrap();
                script
                    .heads
                    .push(String::from_utf8_lossy(&head).into_owned());
                script.answer.clone()
            };
            head.clear();
            connection.write_all(&answer).await.ok()?;
            connection.flush().await.ok()?;
        }
    }
}

/// A file that is deleted on drop.
pub(super) struct Scratch(PathBuf);

impl Scratch {
    pub(super) fn new(content: &[u8]) -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("informer-fuzz-{}-{count}", std::process::id());
        let file = std::env::temp_dir().join(name);
        std::fs::write(&file, content).unwrap();
        Self(file)
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // It may be gone already.
        let _ = std::fs::remove_file(&self.0);
    }
}
