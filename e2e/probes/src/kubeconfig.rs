//! The location of a server: the parts of a kubeconfig that a throw-away server needs.

use std::fs;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;

use crate::error::ProbeError;

/// A server, its CA certificate and the token to send.
#[derive(Debug)]
pub(crate) struct Access {
    pub(crate) url: String,
    /// `None` for a server without TLS.
    pub(crate) authority: Option<Vec<u8>>,
    pub(crate) token: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Kubeconfig {
    clusters: Vec<NamedCluster>,
    users: Vec<NamedUser>,
    contexts: Vec<NamedContext>,
    current_context: String,
}

#[derive(Deserialize)]
struct NamedCluster {
    name: String,
    cluster: Cluster,
}

#[derive(Deserialize)]
struct NamedUser {
    name: String,
    user: User,
}

#[derive(Deserialize)]
struct NamedContext {
    name: String,
    context: Context,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Cluster {
    server: String,
    certificate_authority: Option<String>,
    certificate_authority_data: Option<String>,
}

#[derive(Deserialize)]
struct User {
    token: Option<String>,
}

#[derive(Deserialize)]
struct Context {
    cluster: String,
    user: String,
}

impl Access {
    /// The server of the current context.
    pub(crate) fn read(path: &Path) -> Result<Self, ProbeError> {
        let wrong = |reason: &dyn std::fmt::Display| ProbeError::file(path.display(), reason);
        let text = fs::read_to_string(path).map_err(|error| wrong(&error))?;
        let config: Kubeconfig = serde_saphyr::from_str(&text).map_err(|error| wrong(&error))?;
        let current = &config.current_context;
        let missing = |what: &str| wrong(&format!("there is no {what} for {current:?}"));
        let context = config.contexts.into_iter().find(|it| it.name == *current);
        let context = context.ok_or_else(|| missing("context"))?.context;
        let cluster = config.clusters.into_iter();
        let cluster = cluster
            .filter(|it| it.name == context.cluster)
            .map(|it| it.cluster)
            .next()
            .ok_or_else(|| missing("cluster"))?;
        let user = config.users.into_iter().find(|it| it.name == context.user);
        let user = user.ok_or_else(|| missing("user"))?.user;
        let authority = match (
            cluster.certificate_authority_data,
            cluster.certificate_authority,
        ) {
            (Some(data), _) => Some(STANDARD.decode(data).map_err(|error| wrong(&error))?),
            (None, Some(file)) => {
                let file = path.parent().unwrap_or_else(|| Path::new("")).join(file);
                let read = fs::read(&file);
                Some(read.map_err(|error| ProbeError::file(file.display(), error))?)
            }
            (None, None) => None,
        };
        Ok(Self {
            url: cluster.server,
            authority,
            token: user.token,
        })
    }
}
