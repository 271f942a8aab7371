//! Generated certificates.

use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, KeyUsagePurpose};
use rustls::pki_types::PrivateKeyDer;
use tokio_rustls::TlsAcceptor;

use super::error::ServeError;

/// The offered protocols, preferred first.
const PROTOCOLS: [&[u8]; 2] = [b"h2", b"http/1.1"];

/// The server's TLS setup, and the CA certificate for its clients.
pub(super) struct Tls {
    pub(super) acceptor: TlsAcceptor,
    /// The certificate of the CA that signed the server's.
    pub(super) ca_pem: String,
}

impl Tls {
    /// Generates a CA and a certificate for this machine.
    pub(super) fn generate() -> Result<Self, ServeError> {
        let mut params = CertificateParams::default();
        params
            .distinguished_name
            .push(DnType::CommonName, "mock-apiserver-ca");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let ca_key = KeyPair::generate()?;
        let ca = params.self_signed(&ca_key)?;
        let issuer = Issuer::from_params(&params, &ca_key);

        let names = ["localhost", "127.0.0.1", "::1"].map(str::to_owned);
        let mut params = CertificateParams::new(names)?;
        params
            .distinguished_name
            .push(DnType::CommonName, "mock-apiserver");
        let key = KeyPair::generate()?;
        let certificate = params.signed_by(&key, &issuer)?;

        // The provider is explicit: a library must not choose one for the whole process.
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(
                vec![certificate.der().clone()],
                PrivateKeyDer::try_from(key.serialize_der()).map_err(ServeError::key)?,
            )?;
        config.alpn_protocols = PROTOCOLS.map(<[u8]>::to_vec).to_vec();
        Ok(Self {
            acceptor: TlsAcceptor::from(Arc::new(config)),
            ca_pem: ca.pem(),
        })
    }
}
