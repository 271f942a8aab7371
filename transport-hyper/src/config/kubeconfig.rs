//! The model of kubeconfig files, and how they are merged.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::ConfigError;
use crate::file;
use crate::secret::Secret;

/// One kubeconfig, merged from one or more files. For each name the whole entry of the first file that
/// has it wins, and so does the first `current-context`.
#[derive(Debug, Default)]
pub(super) struct Kubeconfig {
    pub(super) files: Vec<PathBuf>,
    pub(super) current_context: Option<String>,
    pub(super) contexts: Entries<Context>,
    pub(super) clusters: Entries<Cluster>,
    pub(super) users: Entries<User>,
}

/// Entries by name, each with the file that defines it.
pub(super) type Entries<T> = BTreeMap<String, (PathBuf, T)>;

impl Kubeconfig {
    pub(super) fn read(file: &Path) -> Result<Self, ConfigError> {
        let text = file::read_once(file).map_err(|error| ConfigError::Unreadable {
            file: file.to_owned(),
            reason: error.to_string(),
        })?;
        let parsed: File = from_yaml(&text).map_err(|reason| ConfigError::Malformed {
            file: file.to_owned(),
            reason,
        })?;
        let mut config = Self {
            files: vec![file.to_owned()],
            current_context: parsed.current_context.filter(|name| !name.is_empty()),
            contexts: named(file, "context", parsed.contexts, |entry| {
                (entry.name, entry.context)
            })?,
            clusters: named(file, "cluster", parsed.clusters, |entry| {
                (entry.name, entry.cluster)
            })?,
            users: named(file, "user", parsed.users, |entry| (entry.name, entry.user))?,
        };
        config.anchor_paths(file.parent().unwrap_or_else(|| Path::new("")));
        Ok(config)
    }

    /// Adds the entries of a later file, unless their names are taken.
    pub(super) fn merge(&mut self, later: Self) {
        self.files.extend(later.files);
        self.current_context = self.current_context.take().or(later.current_context);
        for (name, context) in later.contexts {
            self.contexts.entry(name).or_insert(context);
        }
        for (name, cluster) in later.clusters {
            self.clusters.entry(name).or_insert(cluster);
        }
        for (name, user) in later.users {
            self.users.entry(name).or_insert(user);
        }
    }

    /// Resolves relative paths against the directory of the file that contains them.
    fn anchor_paths(&mut self, folder: &Path) {
        let anchor = |path: &mut Option<PathBuf>| {
            if let Some(path) = path.as_mut().filter(|path| !path.as_os_str().is_empty()) {
                *path = folder.join(&*path);
            }
        };
        for (_, cluster) in self.clusters.values_mut() {
            anchor(&mut cluster.certificate_authority);
        }
        for (_, user) in self.users.values_mut() {
            anchor(&mut user.client_certificate);
            anchor(&mut user.client_key);
            anchor(&mut user.token_file);
            // A bare name is looked up in PATH.
            let exec = user.exec.as_mut();
            if let Some(exec) = exec.filter(|exec| exec.command.components().count() > 1) {
                exec.command = folder.join(&exec.command);
            }
        }
    }
}

/// Parses YAML; the only place that knows the parser. The error contains no text of the file, which may
/// be secret.
fn from_yaml<'de, T: Deserialize<'de> + Default>(text: &'de Secret) -> Result<T, String> {
    if text.expose().trim().is_empty() {
        return Ok(T::default());
    }
    serde_saphyr::from_str(text.expose()).map_err(|error| match error.location() {
        _ if matches!(error.without_snippet(), serde_saphyr::Error::Budget { .. }) => {
            "it is too complex for a kubeconfig; is it the right file?".to_owned()
        }
        Some(at) => format!(
            "line {}, column {}: not valid YAML for a kubeconfig",
            at.line(),
            at.column()
        ),
        None => "not valid YAML for a kubeconfig".to_owned(),
    })
}

/// Entries by name. As in kubectl, a name may appear only once per file: with two it would be unclear
/// which one is meant.
fn named<E, T: Default>(
    file: &Path,
    what: &'static str,
    entries: Option<Vec<E>>,
    split: impl Fn(E) -> (String, Option<T>),
) -> Result<Entries<T>, ConfigError> {
    let mut map = BTreeMap::new();
    for entry in entries.unwrap_or_default() {
        let (name, value) = split(entry);
        match map.entry(name) {
            Entry::Vacant(free) => {
                free.insert((file.to_owned(), value.unwrap_or_default()));
            }
            Entry::Occupied(taken) => {
                return Err(ConfigError::Duplicate {
                    file: file.to_owned(),
                    what,
                    name: taken.key().clone(),
                });
            }
        }
    }
    Ok(map)
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "kebab-case")]
struct File {
    current_context: Option<String>,
    contexts: Option<Vec<NamedContext>>,
    clusters: Option<Vec<NamedCluster>>,
    users: Option<Vec<NamedUser>>,
}

#[derive(Deserialize)]
struct NamedContext {
    name: String,
    context: Option<Context>,
}

#[derive(Deserialize)]
struct NamedCluster {
    name: String,
    cluster: Option<Cluster>,
}

#[derive(Deserialize)]
struct NamedUser {
    name: String,
    user: Option<User>,
}

#[derive(Deserialize, Debug, Default)]
pub(super) struct Context {
    #[serde(default)]
    pub(super) cluster: String,
    #[serde(default)]
    pub(super) user: String,
    pub(super) namespace: Option<String>,
}

#[derive(Deserialize, Debug, Default)]
#[serde(rename_all = "kebab-case")]
pub(super) struct Cluster {
    pub(super) server: Option<String>,
    pub(super) tls_server_name: Option<String>,
    pub(super) insecure_skip_tls_verify: Option<bool>,
    pub(super) certificate_authority: Option<PathBuf>,
    pub(super) certificate_authority_data: Option<String>,
    /// May contain a password.
    pub(super) proxy_url: Option<Secret>,
    pub(super) disable_compression: Option<bool>,
    pub(super) extensions: Option<Vec<Extension>>,
}

#[derive(Deserialize, Debug)]
pub(super) struct Extension {
    pub(super) name: String,
    pub(super) extension: Option<serde_json::Value>,
}

#[derive(Deserialize, Debug, Default)]
#[serde(rename_all = "kebab-case")]
pub(super) struct User {
    pub(super) client_certificate: Option<PathBuf>,
    pub(super) client_certificate_data: Option<String>,
    pub(super) client_key: Option<PathBuf>,
    pub(super) client_key_data: Option<Secret>,
    pub(super) token: Option<Secret>,
    #[serde(rename = "tokenFile")]
    pub(super) token_file: Option<PathBuf>,
    pub(super) username: Option<String>,
    pub(super) password: Option<Secret>,
    #[serde(rename = "as")]
    pub(super) impersonate: Option<String>,
    #[serde(rename = "as-uid")]
    pub(super) impersonate_uid: Option<String>,
    #[serde(rename = "as-groups")]
    pub(super) impersonate_groups: Option<Vec<String>>,
    #[serde(rename = "as-user-extra")]
    pub(super) impersonate_extra: Option<BTreeMap<String, Vec<String>>>,
    pub(super) auth_provider: Option<AuthProvider>,
    pub(super) exec: Option<Exec>,
}

#[derive(Deserialize, Debug)]
pub(super) struct AuthProvider {
    #[serde(default)]
    pub(super) name: String,
    #[serde(default)]
    pub(super) config: ProviderConfig,
}

/// The settings of all providers that a message may show, and the secret that it mentions. The tokens are not
/// even read.
#[derive(Deserialize, Debug, Default)]
#[serde(rename_all = "kebab-case")]
pub(super) struct ProviderConfig {
    #[serde(rename = "idp-issuer-url")]
    pub(super) issuer: Option<String>,
    #[serde(rename = "idp-certificate-authority")]
    pub(super) authority: Option<String>,
    pub(super) client_id: Option<String>,
    pub(super) client_secret: Option<Secret>,
    pub(super) extra_scopes: Option<String>,
    pub(super) apiserver_id: Option<String>,
    pub(super) tenant_id: Option<String>,
    pub(super) environment: Option<String>,
}

#[derive(Deserialize, Debug)]
#[serde(rename_all = "camelCase")]
pub(super) struct Exec {
    pub(super) api_version: Option<String>,
    #[serde(default)]
    pub(super) command: PathBuf,
    pub(super) args: Option<Vec<Secret>>,
    pub(super) env: Option<Vec<Variable>>,
    pub(super) install_hint: Option<String>,
    pub(super) provide_cluster_info: Option<bool>,
    pub(super) interactive_mode: Option<String>,
}

#[derive(Deserialize, Debug)]
pub(super) struct Variable {
    pub(super) name: String,
    pub(super) value: Secret,
}
