//! From a kubeconfig context to a configuration.

use std::fmt;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use informer_core::transport::check_namespace;

use super::kubeconfig::{Cluster, Entries, Exec, Kubeconfig, User};
use super::{Config, ConfigError, Identity, Pem, Proxy, Server, auth_provider};
use crate::auth::exec::{ApiVersion, ExecPlugin, Interactive};
use crate::auth::{Authentication, Impersonation};
use crate::file;
use crate::secret::Secret;

/// The extension with the configuration that a cluster passes to exec plugins.
const EXEC_EXTENSION: &str = "client.authentication.k8s.io/exec";

/// The extension that allows credentials over plain HTTP.
const PLAIN_HTTP_EXTENSION: &str = "informer/credentials-over-http";

/// An entry of a kubeconfig, for messages.
#[derive(Clone, Copy)]
struct Of<'a> {
    what: &'static str,
    name: &'a str,
    file: &'a Path,
}

impl fmt::Display for Of<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, name, file } = self;
        write!(f, "{what} `{name}` in {}", file.display())
    }
}

pub(super) fn config(files: &Kubeconfig, context: Option<&str>) -> Result<Config, ConfigError> {
    let name = context
        .or(files.current_context.as_deref())
        .ok_or_else(|| ConfigError::NoContext {
            files: files.files.clone(),
            known: files.contexts.keys().cloned().collect(),
        })?;
    let (of, context) = entry(files, &files.contexts, "context", name)?;
    if context.cluster.is_empty() {
        let reason = "is missing; set it to the name of a cluster";
        return Err(ConfigError::invalid(&of, "cluster", reason));
    }
    let namespace = filled(context.namespace.clone());
    if let Some(Err(invalid)) = namespace.as_deref().map(check_namespace) {
        let reason = format!("is invalid: {invalid}");
        return Err(ConfigError::invalid(&of, "namespace", reason));
    }
    let (of, cluster) = entry(files, &files.clusters, "cluster", &context.cluster)?;
    let mut config = of_cluster(cluster, of)?;
    if !context.user.is_empty() {
        let (of, user) = entry(files, &files.users, "user", &context.user)?;
        config.identity = identity(user, of)?;
        config.impersonation = impersonation(user, of)?;
        config.authentication = authentication(user, cluster, of)?;
    }
    if let Some(namespace) = namespace {
        config.namespace = namespace;
    }
    Ok(config)
}

fn entry<'a, T>(
    all: &Kubeconfig,
    entries: &'a Entries<T>,
    what: &'static str,
    name: &str,
) -> Result<(Of<'a>, &'a T), ConfigError> {
    let found = entries.get_key_value(name);
    let (name, (file, value)) = found.ok_or_else(|| ConfigError::Unknown {
        what,
        name: name.to_owned(),
        files: all.files.clone(),
        known: entries.keys().cloned().collect(),
    })?;
    Ok((Of { what, name, file }, value))
}

fn of_cluster(cluster: &Cluster, of: Of<'_>) -> Result<Config, ConfigError> {
    let server = Server::parse(cluster.server.as_deref().unwrap_or_default(), &of)?;
    let mut config = Config::of_server(server);
    config.trust.ca = pem(
        cluster.certificate_authority_data.clone().map(Secret::from),
        cluster.certificate_authority.as_ref(),
        of,
        "certificate-authority-data",
    )?;
    config.trust.insecure = cluster.insecure_skip_tls_verify.unwrap_or(false);
    if config.trust.insecure && config.trust.ca.is_some() {
        return Err(ConfigError::invalid(
            &of,
            "insecure-skip-tls-verify",
            "cannot be combined with a certificate authority; remove one of them",
        ));
    }
    config.trust.server_name = filled(cluster.tls_server_name.clone());
    if let Some(proxy) = cluster.proxy_url.as_ref().filter(|url| !url.is_empty()) {
        config.proxy = Some(Proxy::parse(proxy.expose(), &of, "proxy-url")?);
    }
    config.compression = !cluster.disable_compression.unwrap_or(false);
    config.plain_http = match extension(cluster, PLAIN_HTTP_EXTENSION).map(|it| it.get("allow")) {
        None => false,
        Some(Some(serde_json::Value::Bool(allow))) => *allow,
        Some(_) => {
            let reason =
                "has an invalid `informer/credentials-over-http`; write it as {allow: true}";
            return Err(ConfigError::invalid(&of, "extensions", reason));
        }
    };
    Ok(config)
}

/// The value of an extension of the cluster; `null` if it has no value.
fn extension<'a>(cluster: &'a Cluster, name: &str) -> Option<&'a serde_json::Value> {
    let mut extensions = cluster.extensions.iter().flatten();
    let found = extensions.find(|extension| extension.name == name)?;
    Some(found.extension.as_ref().unwrap_or(&serde_json::Value::Null))
}

/// Data wins over a file, as in kubectl.
fn pem(
    data: Option<Secret>,
    file: Option<&PathBuf>,
    of: Of<'_>,
    field: &'static str,
) -> Result<Option<Pem>, ConfigError> {
    if let Some(data) = data.filter(|data| !data.is_empty()) {
        let compact: Secret = Secret::from(data.expose().split_whitespace().collect::<String>());
        let text = STANDARD
            .decode(compact.expose())
            .ok()
            .and_then(|bytes| String::from_utf8(bytes).ok())
            .ok_or_else(|| {
                let reason = "is not base64-encoded PEM; encode the whole PEM file";
                ConfigError::invalid(&of, field, reason)
            })?;
        return Ok(Some(Pem::Text(Secret::from(text))));
    }
    Ok(file
        .filter(|file| !file.as_os_str().is_empty())
        .map(|file| Pem::File(file.clone())))
}

fn identity(user: &User, of: Of<'_>) -> Result<Option<Identity>, ConfigError> {
    let certificate = pem(
        user.client_certificate_data.clone().map(Secret::from),
        user.client_certificate.as_ref(),
        of,
        "client-certificate-data",
    )?;
    let key = pem(
        user.client_key_data.clone(),
        user.client_key.as_ref(),
        of,
        "client-key-data",
    )?;
    match (certificate, key) {
        (Some(certificate), Some(key)) => Ok(Some(Identity { certificate, key })),
        (None, None) => Ok(None),
        (Some(_), None) => Err(ConfigError::invalid(
            &of,
            "client-key",
            "is missing, but there is a client certificate; add a file or client-key-data",
        )),
        (None, Some(_)) => Err(ConfigError::invalid(
            &of,
            "client-certificate",
            "is missing, but there is a client key; add a file or client-certificate-data",
        )),
    }
}

fn impersonation(user: &User, of: Of<'_>) -> Result<Option<Impersonation>, ConfigError> {
    let uid = filled(user.impersonate_uid.clone());
    let groups = user.impersonate_groups.clone().unwrap_or_default();
    let extra = user.impersonate_extra.clone().unwrap_or_default();
    match filled(user.impersonate.clone()) {
        Some(user) => Ok(Some(Impersonation {
            user,
            uid,
            groups,
            extra,
        })),
        None if uid.is_none() && groups.is_empty() && extra.is_empty() => Ok(None),
        None => Err(ConfigError::invalid(
            &of,
            "as",
            "is missing, but there is a UID, group or extra to impersonate; add the user",
        )),
    }
}

fn authentication(
    user: &User,
    cluster: &Cluster,
    of: Of<'_>,
) -> Result<Authentication, ConfigError> {
    if let Some(provider) = &user.auth_provider {
        return Err(ConfigError::unsupported(
            &of,
            auth_provider::instead(provider),
        ));
    }
    let token = user.token.clone().filter(|token| !token.is_empty());
    let token_file = user.token_file.clone();
    let token_file = token_file.filter(|file| !file.as_os_str().is_empty());
    let username = filled(user.username.clone());
    let ways = [
        (token.is_some() || token_file.is_some(), "token"),
        (username.is_some(), "username"),
        (user.exec.is_some(), "exec"),
    ];
    let mut given = ways.iter().filter(|(is_given, _)| *is_given);
    if let (Some((_, one)), Some((_, two))) = (given.next(), given.next()) {
        return Err(ConfigError::invalid(
            &of,
            two,
            format!("cannot be combined with `{one}`; keep only one way to authenticate"),
        ));
    }
    if let Some(exec) = &user.exec {
        return exec_plugin(exec, cluster, of).map(Authentication::Exec);
    }
    Ok(match (token_file, token, username) {
        (Some(file), fallback, _) => Authentication::TokenFile { file, fallback },
        (None, Some(token), _) => Authentication::Token(token),
        (None, None, Some(username)) => Authentication::Basic {
            username,
            password: user.password.clone().unwrap_or_default(),
        },
        (None, None, None) => Authentication::None,
    })
}

fn exec_plugin(exec: &Exec, cluster: &Cluster, of: Of<'_>) -> Result<ExecPlugin, ConfigError> {
    let version = match exec.api_version.as_deref() {
        Some("client.authentication.k8s.io/v1") => ApiVersion::V1,
        Some("client.authentication.k8s.io/v1beta1") => ApiVersion::V1Beta1,
        _ => {
            return Err(ConfigError::invalid(
                &of,
                "exec.apiVersion",
                "must be client.authentication.k8s.io/v1 or client.authentication.k8s.io/v1beta1",
            ));
        }
    };
    if exec.command.as_os_str().is_empty() {
        return Err(ConfigError::invalid(
            &of,
            "exec.command",
            "is missing; set it to the program that prints the credentials",
        ));
    }
    let interactive = match (exec.interactive_mode.as_deref(), version) {
        (Some("Never"), _) => Interactive::Never,
        (Some("IfAvailable"), _) | (None | Some(""), ApiVersion::V1Beta1) => {
            Interactive::IfAvailable
        }
        (Some("Always"), _) => Interactive::Always,
        _ => {
            return Err(ConfigError::invalid(
                &of,
                "exec.interactiveMode",
                "must be Never, IfAvailable or Always",
            ));
        }
    };
    let env = exec.env.iter().flatten();
    Ok(ExecPlugin {
        of: format!("user `{}`", of.name),
        version,
        command: exec.command.clone(),
        args: exec.args.clone().unwrap_or_default(),
        env: env
            .map(|variable| (variable.name.clone(), variable.value.clone()))
            .collect(),
        install_hint: filled(exec.install_hint.clone()),
        interactive,
        cluster: if exec.provide_cluster_info.unwrap_or(false) {
            Some(cluster_info(cluster)?)
        } else {
            None
        },
    })
}

/// The cluster information that is passed to a plugin.
fn cluster_info(cluster: &Cluster) -> Result<Secret, ConfigError> {
    let ca = match (
        &cluster.certificate_authority_data,
        &cluster.certificate_authority,
    ) {
        (Some(data), _) if !data.is_empty() => Some(data.clone()),
        (_, Some(file)) if !file.as_os_str().is_empty() => {
            let pem = file::read(file).map_err(|error| ConfigError::Unreadable {
                file: file.clone(),
                reason: error.to_string(),
            })?;
            Some(STANDARD.encode(pem.expose()))
        }
        _ => None,
    };
    let mut info = serde_json::Map::new();
    let mut put = |name: &str, value: Option<serde_json::Value>| {
        if let Some(value) = value {
            info.insert(name.to_owned(), value);
        }
    };
    put("server", cluster.server.clone().map(Into::into));
    put(
        "tls-server-name",
        filled(cluster.tls_server_name.clone()).map(Into::into),
    );
    put(
        "insecure-skip-tls-verify",
        cluster.insecure_skip_tls_verify.map(Into::into),
    );
    put("certificate-authority-data", ca.map(Into::into));
    let proxy = cluster.proxy_url.as_ref();
    put("proxy-url", proxy.map(|url| url.expose().into()));
    put(
        "disable-compression",
        cluster.disable_compression.map(Into::into),
    );
    put("config", extension(cluster, EXEC_EXTENSION).cloned());
    Ok(Secret::from(serde_json::Value::Object(info).to_string()))
}

fn filled(text: Option<String>) -> Option<String> {
    text.filter(|text| !text.is_empty())
}
