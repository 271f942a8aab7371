//! Plugins that print credentials.

// A child process with bounded output, run time and children.
mod process;

// When to run a plugin, and how requests share a run.
mod runs;

use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use informer_core::failure::bounded;
use serde::Deserialize;
use tokio::process::Command;

use super::AuthError;
use crate::secret::Secret;
use crate::timestamp;
use process::{Output, ProcessError};
use runs::{Runs, StillRunning};

/// The time limit for a plugin that is not interactive.
const PATIENCE: Duration = Duration::from_secs(60);

/// Credentials are renewed this long before they expire.
const MARGIN: Duration = Duration::from_secs(10);

/// The complaint about a plugin that takes too long.
const TIMED_OUT: &str = "it did not finish within 60 s; run it by hand to see why";

/// A program that prints credentials.
#[derive(Clone, Debug)]
pub(crate) struct ExecPlugin {
    /// The owner of the plugin, such as ``user `me` ``.
    pub(crate) of: String,
    pub(crate) version: ApiVersion,
    pub(crate) command: PathBuf,
    pub(crate) args: Vec<Secret>,
    pub(crate) env: Vec<(String, Secret)>,
    pub(crate) install_hint: Option<String>,
    pub(crate) interactive: Interactive,
    /// The cluster information that is passed to it, as JSON.
    pub(crate) cluster: Option<Secret>,
}

/// The version of the plugin protocol.
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

/// Whether the plugin may use the terminal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Interactive {
    Never,
    IfAvailable,
    Always,
}

/// The output of a plugin.
pub(crate) struct ExecCredential {
    pub(crate) token: Option<Secret>,
    /// A certificate and its key, in PEM.
    pub(crate) identity: Option<(Secret, Secret)>,
    expires: Option<SystemTime>,
}

impl ExecCredential {
    fn is_fresh(&self, now: SystemTime) -> bool {
        self.expires.is_none_or(|expires| now + MARGIN < expires)
    }
}

/// A plugin and its runs.
pub(super) struct ExecRunner {
    plugin: Arc<ExecPlugin>,
    runs: Runs,
}

impl ExecRunner {
    pub(super) fn new(plugin: ExecPlugin) -> Self {
        Self {
            plugin: Arc::new(plugin),
            runs: Runs::default(),
        }
    }

    /// The last output, unless it has expired or the server refused it; then the output of a new run.
    pub(super) async fn credential(
        &self,
        refused: Option<&Arc<ExecCredential>>,
    ) -> Result<Arc<ExecCredential>, AuthError> {
        let given = self.runs.credential(refused, || self.run()).await;
        given.unwrap_or_else(|StillRunning| Err(self.plugin.waiting()))
    }

    /// Waits until the plugin has finished, however long that takes, so that
    /// [`credential`](Self::credential) need not wait.
    pub(super) async fn prepare(&self) {
        self.runs.prepare(|| self.run()).await;
    }

    fn run(&self) -> impl Future<Output = Result<ExecCredential, AuthError>> + use<> {
        let plugin = Arc::clone(&self.plugin);
        async move { plugin.run().await }
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
                return Err(self.complain(
                    "it needs a terminal (interactiveMode: Always), and there is none; run this \
                     program in a terminal, or use another plugin",
                ));
            }
        };
        let mut command = Command::new(&self.command);
        command
            .args(self.args.iter().map(Secret::expose))
            .envs(self.env.iter().map(|(name, value)| (name, value.expose())))
            .env("KUBERNETES_EXEC_INFO", self.info(interactive).expose())
            .stdout(Stdio::piped());
        if interactive {
            command.stdin(Stdio::inherit()).stderr(Stdio::inherit());
        } else {
            command.stdin(Stdio::null()).stderr(Stdio::piped());
        }
        let running = process::run(command, interactive);
        let ended = if interactive {
            running.await
        } else {
            tokio::time::timeout(PATIENCE, running)
                .await
                .map_err(|_| self.complain(TIMED_OUT))?
        };
        let Output {
            status,
            stdout,
            stderr,
        } = ended.map_err(|error| match error {
            ProcessError::TooMuch => {
                self.complain("it printed more than 1 MiB; is it the right program?")
            }
            ProcessError::NotRun(error) => {
                let hint = self.install_hint.as_deref().unwrap_or_default();
                self.complain(format!("it cannot be run: {error}. {hint}").trim_end())
            }
        })?;
        if !status.success() {
            let said = plain(&String::from_utf8_lossy(&stderr));
            return Err(self.complain(&format!("it failed with {status}: {}", bounded(&said))));
        }
        self.read(&stdout)
    }

    /// The value of `KUBERNETES_EXEC_INFO`.
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
        // The output is secret and must not be quoted.
        let printed = std::str::from_utf8(printed)
            .map_err(|_| self.complain("its output is not UTF-8 text"))?;
        let printed: Printed = serde_json::from_str(printed).map_err(|error| {
            self.complain(&format!(
                "its output is not an ExecCredential in JSON (line {}, column {})",
                error.line(),
                error.column()
            ))
        })?;
        if printed.kind != "ExecCredential" || printed.api_version != self.version.as_str() {
            return Err(self.complain(&format!(
                "it must print an ExecCredential of {}, as set in `exec.apiVersion`",
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
            _ => {
                return Err(
                    self.complain("it must print both a certificate and its key, or neither")
                );
            }
        };
        if token.is_none() && identity.is_none() {
            return Err(self.complain("it printed neither a token nor a certificate"));
        }
        let expires = status.expiration_timestamp.map(|text| {
            timestamp::parse(&text).ok_or_else(|| {
                self.complain(
                    "its expirationTimestamp is invalid; it must look like 2030-01-31T12:00:00Z",
                )
            })
        });
        Ok(ExecCredential {
            token,
            identity,
            expires: expires.transpose()?,
        })
    }

    /// The error of a request that has waited long enough.
    fn waiting(&self) -> AuthError {
        AuthError::new(format!(
            "waiting for exec plugin `{}` of {}, which is still running; no request was sent",
            self.command.display(),
            self.of
        ))
    }

    fn complain(&self, about: &str) -> AuthError {
        let Self { of, command, .. } = self;
        AuthError::new(format!(
            "{of}: exec plugin `{}`: {about}",
            command.display()
        ))
    }
}

/// The output of a program in one line, without control characters.
fn plain(said: &str) -> String {
    let mut text = String::with_capacity(said.len());
    for word in said.split_whitespace() {
        if !text.is_empty() {
            text.push(' ');
        }
        text.extend(word.chars().map(|letter| match letter {
            // The ranges below change the direction of writing.
            _ if letter.is_control() => char::REPLACEMENT_CHARACTER,
            '\u{200e}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
                char::REPLACEMENT_CHARACTER
            }
            letter => letter,
        }));
    }
    text
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The paused clock advances when all tasks wait, so the hanging plugin takes no real time.
    #[cfg(unix)]
    #[tokio::test(start_paused = true)]
    async fn a_plugin_that_hangs_is_named() {
        let runner = ExecRunner::new(ExecPlugin {
            of: "user `me`".to_owned(),
            version: ApiVersion::V1,
            command: "sleep".into(),
            args: vec![Secret::from("1000".to_owned())],
            env: Vec::new(),
            install_hint: None,
            interactive: Interactive::Never,
            cluster: None,
        });
        let error = runner.credential(None).await.err().unwrap();
        assert_eq!(
            error.message,
            "waiting for exec plugin `sleep` of user `me`, which is still running; no request was sent"
        );
        runner.prepare().await;
        let error = runner.credential(None).await.err().unwrap();
        assert_eq!(
            error.message,
            "user `me`: exec plugin `sleep`: it did not finish within 60 s; run it by hand to see why"
        );
    }

    #[test]
    fn quoted_output_is_one_line_of_plain_text() {
        assert_eq!(plain(" a\r\n\tb  c\n"), "a b c");
        assert_eq!(plain("\u{1b}[2J\u{202e}x\u{85}y"), "\u{fffd}[2J\u{fffd}x y");
    }
}
