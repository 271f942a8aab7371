//! What a pod is told about its cluster.

use super::{Config, ConfigError, Environment, Pem, Server};
use crate::auth::Authentication;

/// The configuration of the pod we run in; `None` if we do not, and then `tried` says so.
///
/// Its token and its CA are read again whenever they are used, as the kubelet replaces both.
pub(super) fn config(
    environment: &Environment,
    tried: &mut Vec<String>,
) -> Result<Option<Config>, ConfigError> {
    const OF: &str = "the service account of this pod";
    let (Some(host), Some(port)) = (&environment.service_host, &environment.service_port) else {
        tried.push("not in a pod: KUBERNETES_SERVICE_HOST is not set".to_owned());
        return Ok(None);
    };
    let port: u16 = port.parse().map_err(|_| {
        ConfigError::invalid(OF, "KUBERNETES_SERVICE_PORT", "is not the number of a port")
    })?;
    let folder = &environment.service_account;
    let token = folder.join("token");
    let ca = folder.join("ca.crt");
    for file in [&token, &ca] {
        std::fs::metadata(file).map_err(|error| ConfigError::Unreadable {
            file: file.clone(),
            reason: format!("{error}; does this pod mount its service account token?"),
        })?;
    }
    let mut config = Config::of_server(Server {
        tls: true,
        host: host.trim_matches(['[', ']']).to_owned(),
        port,
        prefix: String::new(),
    });
    config.trust.ca = Some(Pem::File(ca));
    config.authentication = Authentication::TokenFile {
        file: token,
        fallback: None,
    };
    if let Ok(namespace) = std::fs::read_to_string(folder.join("namespace")) {
        namespace.trim().clone_into(&mut config.namespace);
    }
    Ok(Some(config))
}
