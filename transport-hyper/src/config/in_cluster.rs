//! The service account of a pod.

use informer_core::transport::check_namespace;

use super::server::port_number;
use super::{Config, ConfigError, Environment, Pem, Server};
use crate::auth::Authentication;
use crate::file;

/// The configuration of the pod that this process runs in. Outside of a pod it is `None`, and the
/// reason is added to `tried`.
///
/// The token and the CA are files that are read on every use, because the kubelet rotates both.
pub(super) fn config(
    environment: &Environment,
    tried: &mut Vec<String>,
) -> Result<Option<Config>, ConfigError> {
    const OF: &str = "the service account of this pod";
    let filled = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
    let Some(host) = filled(&environment.service_host) else {
        tried.push("not in a pod: KUBERNETES_SERVICE_HOST is not set".to_owned());
        return Ok(None);
    };
    let Some(port) = filled(&environment.service_port) else {
        tried.push("not in a pod: KUBERNETES_SERVICE_PORT is not set".to_owned());
        return Ok(None);
    };
    let host = host.trim_matches(['[', ']']);
    let server = Server {
        tls: true,
        host: host.to_owned(),
        port: port_number(&port).ok_or_else(|| {
            let reason = "is not a port number from 1 to 65535";
            ConfigError::invalid(&OF, "KUBERNETES_SERVICE_PORT", reason)
        })?,
        prefix: String::new(),
    };
    // The host must survive a round trip through a URL, or requests would go elsewhere.
    if Server::parse(&server.url(), &OF).as_ref() != Ok(&server) {
        let reason = "is not a host name or IP address";
        return Err(ConfigError::invalid(&OF, "KUBERNETES_SERVICE_HOST", reason));
    }
    let folder = &environment.service_account;
    let token = folder.join("token");
    let ca = folder.join("ca.crt");
    for file in [&token, &ca] {
        std::fs::metadata(file).map_err(|error| ConfigError::Unreadable {
            file: file.clone(),
            reason: format!("{error}; does this pod mount its service account token?"),
        })?;
    }
    let mut config = Config::of_server(server);
    config.trust.ca = Some(Pem::File(ca));
    config.authentication = Authentication::TokenFile {
        file: token,
        fallback: None,
    };
    let file = folder.join("namespace");
    if let Ok(namespace) = file::read(&file) {
        let namespace = namespace.expose().trim();
        check_namespace(namespace).map_err(|invalid| ConfigError::Malformed {
            file,
            reason: invalid.to_string(),
        })?;
        namespace.clone_into(&mut config.namespace);
    }
    Ok(Some(config))
}
