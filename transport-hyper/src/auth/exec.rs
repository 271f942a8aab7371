//! The plugins that print credentials.

use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use informer_core::failure::bounded;
use serde::Deserialize;
use tokio::process::Command;
use tokio::sync::Mutex;

use super::AuthError;
use crate::secret::Secret;

/// How long a plugin that asks nobody may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// Credentials that end within this time are renewed.
const MARGIN: Duration = Duration::from_secs(10);

/// A program that prints credentials when it is run.
#[derive(Clone, Debug)]
pub(crate) struct ExecPlugin {
    /// Whose plugin it is, such as ``user `me` ``.
    pub(crate) of: String,
    pub(crate) version: ApiVersion,
    pub(crate) command: PathBuf,
    pub(crate) args: Vec<Secret>,
    pub(crate) env: Vec<(String, Secret)>,
    pub(crate) install_hint: Option<String>,
    pub(crate) interactive: Interactive,
    /// What it is told about the cluster, in JSON.
    pub(crate) cluster: Option<Secret>,
}

/// The version of the conversation with a plugin.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ApiVersion {
    V1,
    V1Beta1,
}

impl ApiVersion {
    const fn as_str(self) -> &'static str {
        match self {
            Self::V1 => "client.authentication.k8s.io/v1",
            Self::V1Beta1 => "client.authentication.k8s.io/v1beta1",
        }
    }
}

/// Whether the plugin may talk to the person at the terminal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Interactive {
    Never,
    IfAvailable,
    Always,
}

/// What a plugin printed.
pub(crate) struct ExecCredential {
    pub(crate) token: Option<Secret>,
    /// A certificate and its key, in PEM.
    pub(crate) identity: Option<(Secret, Secret)>,
    expires: Option<SystemTime>,
}

impl ExecCredential {
    fn is_fresh(&self) -> bool {
        self.expires
            .is_none_or(|expires| SystemTime::now() + MARGIN < expires)
    }
}

/// A plugin with what it printed last. However many ask, it runs once.
pub(super) struct ExecRunner {
    plugin: ExecPlugin,
    last: Mutex<Option<Arc<ExecCredential>>>,
}

impl ExecRunner {
    pub(super) fn new(plugin: ExecPlugin) -> Self {
        Self {
            plugin,
            last: Mutex::new(None),
        }
    }

    /// What was printed last, unless it has expired or is the one that the server refused.
    pub(super) async fn credential(
        &self,
        refused: Option<&Arc<ExecCredential>>,
    ) -> Result<Arc<ExecCredential>, AuthError> {
        let mut last = self.last.lock().await;
        if let Some(credential) = last.as_ref()
            && credential.is_fresh()
            && refused.is_none_or(|refused| !Arc::ptr_eq(refused, credential))
        {
            return Ok(credential.clone());
        }
        let credential = Arc::new(self.plugin.run().await?);
        *last = Some(credential.clone());
        Ok(credential)
    }
}

impl ExecPlugin {
    async fn run(&self) -> Result<ExecCredential, AuthError> {
        let has_terminal = std::io::stdin().is_terminal();
        let interactive = match self.interactive {
            Interactive::Never => false,
            Interactive::IfAvailable => has_terminal,
            Interactive::Always if has_terminal => true,
            Interactive::Always => {
                return Err(self.complain("it wants to talk to a person, and there is no terminal"));
            }
        };
        let mut command = Command::new(&self.command);
        command
            .args(self.args.iter().map(Secret::expose))
            .envs(self.env.iter().map(|(name, value)| (name, value.expose())))
            .env("KUBERNETES_EXEC_INFO", self.info(interactive).expose())
            .stdout(Stdio::piped())
            .kill_on_drop(true);
        if interactive {
            command.stdin(Stdio::inherit()).stderr(Stdio::inherit());
        } else {
            command.stdin(Stdio::null()).stderr(Stdio::piped());
        }
        let running = command.output();
        let output = if interactive {
            running.await
        } else {
            tokio::time::timeout(PATIENCE, running)
                .await
                .map_err(|_| self.complain("it did not end within 60 s"))?
        };
        let output = output.map_err(|error| {
            let hint = self.install_hint.as_deref().unwrap_or_default();
            self.complain(format!("it cannot be run: {error}. {hint}").trim_end())
        })?;
        let printed = zeroize::Zeroizing::new(output.stdout);
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            return Err(self.complain(&format!(
                "it failed with {}: {}",
                output.status,
                bounded(said.trim())
            )));
        }
        self.read(&printed)
    }

    /// What the plugin is told, in its environment.
    fn info(&self, interactive: bool) -> Secret {
        let cluster = match &self.cluster {
            Some(cluster) => format!(r#","cluster":{}"#, cluster.expose()),
            None => String::new(),
        };
        Secret::from(format!(
            r#"{{"apiVersion":"{}","kind":"ExecCredential","spec":{{"interactive":{interactive}{cluster}}}}}"#,
            self.version.as_str()
        ))
    }

    fn read(&self, printed: &[u8]) -> Result<ExecCredential, AuthError> {
        // What was printed is secret, so nothing of it may be quoted.
        let printed: Printed = serde_json::from_slice(printed).map_err(|error| {
            self.complain(&format!(
                "what it printed is not an ExecCredential in JSON (line {}, column {})",
                error.line(),
                error.column()
            ))
        })?;
        if printed.kind != "ExecCredential" || printed.api_version != self.version.as_str() {
            return Err(self.complain(&format!(
                "it must print an ExecCredential of {}, as `exec.apiVersion` says",
                self.version.as_str()
            )));
        }
        let status = printed.status.unwrap_or_default();
        let filled = |secret: Option<Secret>| secret.filter(|secret| !secret.is_empty());
        let token = filled(status.token);
        let certificate = filled(status.client_certificate_data);
        let identity = match (certificate, filled(status.client_key_data)) {
            (Some(certificate), Some(key)) => Some((certificate, key)),
            (None, None) => None,
            _ => return Err(self.complain("it must print a certificate and its key, or neither")),
        };
        if token.is_none() && identity.is_none() {
            return Err(self.complain("it printed neither a token nor a certificate"));
        }
        let expires = status.expiration_timestamp.map(|text| {
            text.parse::<jiff::Timestamp>()
                .map(SystemTime::from)
                .map_err(|_| {
                    self.complain(
                        "its expirationTimestamp is not a time such as 2030-01-31T12:00:00Z",
                    )
                })
        });
        Ok(ExecCredential {
            token,
            identity,
            expires: expires.transpose()?,
        })
    }

    fn complain(&self, about: &str) -> AuthError {
        let Self { of, command, .. } = self;
        AuthError(format!(
            "{of}: exec plugin `{}`: {about}",
            command.display()
        ))
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Printed {
    #[serde(default)]
    api_version: String,
    #[serde(default)]
    kind: String,
    status: Option<PrintedStatus>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase")]
struct PrintedStatus {
    token: Option<Secret>,
    client_certificate_data: Option<Secret>,
    client_key_data: Option<Secret>,
    expiration_timestamp: Option<String>,
}
