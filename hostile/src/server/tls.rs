//! Generated certificates.

use std::error::Error;
use std::sync::Arc;

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa,
    KeyPair, date_time_ymd,
};
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;

/// What the server shows in the handshake.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Shows {
    /// A certificate that the client trusts.
    Good,
    /// A certificate from an unknown CA.
    OtherAuthority,
    Expired,
    NotYetValid,
    OtherName,
    /// A good certificate, with a protocol that the client did not offer.
    OtherProtocol,
}

/// The CA that clients trust, and another one.
pub(crate) struct Authorities {
    trusted: Issuer,
    other: Issuer,
}

type Issuer = CertifiedIssuer<'static, KeyPair>;

impl Authorities {
    pub(crate) fn new() -> Result<Self, Box<dyn Error + Send + Sync>> {
        Ok(Self {
            trusted: authority("the authority of the cluster")?,
            other: authority("another authority")?,
        })
    }

    /// The CA certificate for clients, in PEM.
    pub(crate) fn pem(&self) -> String {
        self.trusted.pem()
    }

    pub(crate) fn server(
        &self,
        shows: Shows,
    ) -> Result<Arc<ServerConfig>, Box<dyn Error + Send + Sync>> {
        let name = match shows {
            Shows::OtherName => "api.example.org",
            _ => "127.0.0.1",
        };
        let mut params = CertificateParams::new(vec![name.to_owned()])?;
        let usage = ExtendedKeyUsagePurpose::ServerAuth;
        params.extended_key_usages.push(usage);
        match shows {
            Shows::Expired => {
                params.not_before = date_time_ymd(2000, 1, 1);
                params.not_after = date_time_ymd(2001, 1, 1);
            }
            Shows::NotYetValid => {
                params.not_before = date_time_ymd(2900, 1, 1);
                params.not_after = date_time_ymd(2901, 1, 1);
            }
            _ => {}
        }
        let issuer = match shows {
            Shows::OtherAuthority => &self.other,
            _ => &self.trusted,
        };
        let key = KeyPair::generate()?;
        let certificate = params.signed_by(&key, issuer)?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let key = PrivateKeyDer::try_from(key.serialize_der())?;
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], key)?;
        config.alpn_protocols = match shows {
            Shows::OtherProtocol => vec![b"spdy/3".to_vec()],
            _ => vec![b"h2".to_vec()],
        };
        Ok(Arc::new(config))
    }
}

fn authority(name: &str) -> Result<Issuer, rcgen::Error> {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.distinguished_name.push(DnType::CommonName, name);
    CertifiedIssuer::self_signed(params, KeyPair::generate()?)
}
