//! Trusted authorities and client certificates, as a rustls configuration.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};

use crate::auth::exec::ExecCredential;
use crate::config::{Config, HttpVersion, Identity, Pem};
use crate::secret::Secret;

/// Which server certificates to accept.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Trust {
    /// The only trusted authorities; `None` for those of the system.
    pub(crate) ca: Option<Pem>,
    /// Accept any certificate.
    pub(crate) insecure: bool,
    /// The name that the certificate must be valid for; `None` for the host name.
    pub(crate) server_name: Option<String>,
}

/// Why TLS cannot be used. The text is for people and contains no secret.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct TlsError(pub(crate) String);

impl fmt::Display for TlsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The TLS configuration of new connections. Its generation grows when a file is replaced or a plugin
/// prints another certificate.
#[derive(Clone)]
pub(crate) struct Tls {
    pub(crate) config: Arc<ClientConfig>,
    pub(crate) generation: u64,
}

/// Creates [`Tls`] on demand, because certificates are rotated while the program runs.
pub(crate) struct TlsSource {
    trust: Trust,
    identity: Option<Identity>,
    http: HttpVersion,
    /// Whether to trust the authorities of the system besides those of `trust`.
    trusts_system: bool,
    last: Mutex<Option<(Material, Tls)>>,
}

/// The PEM texts that a [`Tls`] was built from.
#[derive(PartialEq, Eq)]
struct Material {
    ca: Option<Secret>,
    identity: Option<(Secret, Secret)>,
}

impl TlsSource {
    pub(crate) fn new(config: &Config) -> Self {
        Self {
            trust: config.trust.clone(),
            identity: config.identity.clone(),
            http: config.settings.http,
            trusts_system: config.trust.ca.is_none(),
            last: Mutex::new(None),
        }
    }

    /// For the connection to a proxy. It does not use the cluster's settings: the proxy may have a certificate of a
    /// public authority, it is verified even if the server is not, and it gets no client certificate.
    pub(crate) fn for_proxy(config: &Config) -> Self {
        Self {
            trust: Trust {
                ca: config.trust.ca.clone(),
                ..Trust::default()
            },
            identity: None,
            http: HttpVersion::Http1,
            trusts_system: true,
            last: Mutex::new(None),
        }
    }

    /// The current configuration. It is reused until a certificate or key changes.
    pub(crate) fn current(&self, exec: Option<&ExecCredential>) -> Result<Tls, TlsError> {
        let printed = exec.and_then(|exec| exec.identity.as_ref());
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let made = self.material(exec).and_then(|material| match &*last {
            Some((of, tls)) if *of == material => Ok((material, tls.clone())),
            _ => {
                let config = Arc::new(self.make(&material)?);
                let generation = last.as_ref().map_or(0, |(_, tls)| tls.generation + 1);
                Ok((material, Tls { config, generation }))
            }
        });
        match (made, &*last) {
            (Ok((material, tls)), _) => {
                *last = Some((material, tls.clone()));
                Ok(tls)
            }
            // The files are probably being replaced, so the last good configuration serves for now,
            // unless a plugin printed a certificate that is not part of it.
            (Err(_), Some((of, tls))) if printed.is_none() || of.identity.as_ref() == printed => {
                Ok(tls.clone())
            }
            (Err(error), _) => Err(error),
        }
    }

    fn material(&self, exec: Option<&ExecCredential>) -> Result<Material, TlsError> {
        let identity = match (exec.and_then(|exec| exec.identity.clone()), &self.identity) {
            (Some(printed), _) => Some(printed),
            (None, Some(identity)) => Some((text(&identity.certificate)?, text(&identity.key)?)),
            (None, None) => None,
        };
        Ok(Material {
            ca: self.trust.ca.as_ref().map(text).transpose()?,
            identity,
        })
    }

    fn make(&self, material: &Material) -> Result<ClientConfig, TlsError> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider.clone())
            .with_safe_default_protocol_versions()
            .map_err(|error| TlsError(format!("TLS cannot be used: {error}")))?;
        let builder = if self.trust.insecure {
            builder
                .dangerous()
                .with_custom_certificate_verifier(Arc::new(TrustAnyone(provider)))
        } else {
            builder.with_root_certificates(self.roots(material.ca.as_ref())?)
        };
        let mut config = match &material.identity {
            None => builder.with_no_client_auth(),
            Some((certificate, key)) => {
                let whose = self.describe_identity();
                let chain = certificates(certificate, &whose)?;
                let key = PrivateKeyDer::from_pem_slice(key.expose().as_bytes()).map_err(|_| {
                    TlsError(format!("the key of {whose} is not a private key in PEM"))
                })?;
                builder
                    .with_client_auth_cert(chain, key)
                    .map_err(|error| TlsError(format!("{whose} cannot be used: {error}")))?
            }
        };
        let (h2, h1) = (b"h2".to_vec(), b"http/1.1".to_vec());
        config.alpn_protocols = match self.http {
            HttpVersion::Negotiated => vec![h2, h1],
            HttpVersion::Http1 => vec![h1],
            HttpVersion::Http2 => vec![h2],
        };
        Ok(config)
    }

    fn roots(&self, ca: Option<&Secret>) -> Result<RootCertStore, TlsError> {
        let mut roots = RootCertStore::empty();
        if let Some(ca) = ca {
            let whose = self.trust.describe();
            for certificate in certificates(ca, &whose)? {
                roots
                    .add(certificate)
                    .map_err(|error| TlsError(format!("{whose} cannot be used: {error}")))?;
            }
        }
        if self.trusts_system {
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
            if roots.is_empty() {
                return Err(TlsError(
                    "no certificate authority is configured, and the system has none; configure one"
                        .to_owned(),
                ));
            }
        }
        Ok(roots)
    }

    fn describe_identity(&self) -> String {
        match &self.identity {
            Some(Identity {
                certificate: Pem::File(file),
                ..
            }) => format!("the client certificate {}", file.display()),
            Some(_) => "the client certificate of the kubeconfig".to_owned(),
            None => "the client certificate of the exec plugin".to_owned(),
        }
    }
}

impl Trust {
    /// The trusted authorities, in words.
    pub(crate) fn describe(&self) -> String {
        match &self.ca {
            Some(Pem::File(file)) => format!("the certificate authority {}", file.display()),
            Some(Pem::Text(_)) => "the certificate authority of the kubeconfig".to_owned(),
            None => "the certificate authorities of the system".to_owned(),
        }
    }
}

fn text(pem: &Pem) -> Result<Secret, TlsError> {
    match pem {
        Pem::Text(text) => Ok(text.clone()),
        Pem::File(file) => crate::file::read(file)
            .map_err(|error| TlsError(format!("cannot read {}: {error}", file.display()))),
    }
}

fn certificates(pem: &Secret, whose: &str) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let read: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem.expose().as_bytes()).collect();
    match read {
        Ok(read) if !read.is_empty() => Ok(read),
        _ => Err(TlsError(format!("{whose} is not a certificate in PEM"))),
    }
}

/// Accepts every certificate, for `insecure-skip-tls-verify`.
#[derive(Debug)]
struct TrustAnyone(Arc<CryptoProvider>);

impl ServerCertVerifier for TrustAnyone {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(
            message,
            cert,
            dss,
            &self.0.signature_verification_algorithms,
        )
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(
            message,
            cert,
            dss,
            &self.0.signature_verification_algorithms,
        )
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
