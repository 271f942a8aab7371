//! The server side: etcd and kube-apiserver as processes, controlled over a pipe.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use serde::Deserialize;
use serde_json::json;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;

use crate::Outcome;

/// How long a command may take: a start, and ten thousand pods.
const PATIENCE: Duration = Duration::from_secs(300);

/// A running cluster. Dropping it kills all its processes.
#[derive(Debug)]
pub struct Cluster {
    // Its children end with it.
    _supervisor: Child,
    orders: ChildStdin,
    answers: Lines<BufReader<ChildStdout>>,
    state: State,
    dir: PathBuf,
}

/// The file that the supervisor writes into its folder.
#[derive(Clone, Deserialize, Debug)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct State {
    /// The URL of the API server.
    #[serde(rename = "apiserverURL")]
    pub url: String,
    /// A kubeconfig with a context for each user.
    pub kubeconfig: PathBuf,
    /// The CA certificate of the server.
    pub authority: PathBuf,
    /// The token of a user with all rights.
    pub admin_token: String,
}

impl Cluster {
    /// Starts a cluster with its files in `dir`, and waits until it is ready.
    ///
    /// # Errors
    /// It does not start; its logs are in `dir`.
    pub async fn up(binary: &Path, dir: &Path) -> Outcome<Self> {
        std::fs::create_dir_all(dir)?;
        let log = std::fs::File::create(dir.join("supervisor.log"))?;
        let mut supervisor = Command::new(binary)
            .arg("up")
            .arg("--dir")
            .arg(dir)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(log)
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| format!("cannot start {}: {error}", binary.display()))?;
        let pipes = supervisor.stdin.take().zip(supervisor.stdout.take());
        let (orders, answers) = pipes.ok_or("the supervisor has no pipes")?;
        let mut answers = BufReader::new(answers).lines();
        let ready = timeout(PATIENCE, answers.next_line()).await;
        if ready.map_err(|_| "the cluster did not become ready in time")??
            != Some("ready".to_owned())
        {
            return Err(format!(
                "the cluster did not start; see the logs in {}",
                dir.display()
            )
            .into());
        }
        let text = std::fs::read(dir.join("state.json"))?;
        Ok(Self {
            _supervisor: supervisor,
            orders,
            answers,
            state: serde_json::from_slice(&text)?,
            dir: dir.to_owned(),
        })
    }

    /// Sends a command, such as `kill-apiserver`, and waits until it is done.
    ///
    /// # Errors
    /// The command failed.
    pub async fn tell(&mut self, order: &str) -> Outcome<String> {
        self.orders
            .write_all(format!("{order}\n").as_bytes())
            .await?;
        let answer = timeout(PATIENCE, self.answers.next_line()).await;
        let answer = answer.map_err(|_| format!("{order}: no answer"))??;
        match answer.as_deref().and_then(|line| line.split_once(' ')) {
            Some(("ok", text)) => Ok(text.to_owned()),
            other => Err(format!("{order}: {other:?}").into()),
        }
    }

    /// The locations of the cluster's parts.
    #[must_use]
    pub const fn state(&self) -> &State {
        &self.state
    }

    /// The address of the API server.
    ///
    /// # Errors
    /// Its URL is not as expected.
    pub fn address(&self) -> Outcome<SocketAddr> {
        let url = &self.state.url;
        let address = url
            .strip_prefix("https://")
            .ok_or_else(|| format!("{url} is not https"))?;
        Ok(address.parse()?)
    }

    /// The kubeconfig, with a context for each user: `admin`, `certificate`, `nobody` and `uncompressed`.
    #[must_use]
    pub fn kubeconfig(&self) -> &Path {
        &self.state.kubeconfig
    }

    /// A kubeconfig with this token alone.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn kubeconfig_of(&self, token: &str) -> Outcome<PathBuf> {
        let State { url, authority, .. } = &self.state;
        // JSON is YAML.
        let config = json!({
            "apiVersion": "v1", "kind": "Config", "current-context": "it",
            "clusters": [{"name": "it", "cluster": {"server": url, "certificate-authority": authority}}],
            "users": [{"name": "it", "user": {"token": token}}],
            "contexts": [{"name": "it", "context": {"cluster": "it", "user": "it"}}],
        });
        let file = self.dir.join("kubeconfig-of-token");
        std::fs::write(&file, config.to_string())?;
        Ok(file)
    }

    /// The same through a proxy.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn kubeconfig_through(&self, proxy: SocketAddr) -> Outcome<PathBuf> {
        let text = std::fs::read_to_string(&self.state.kubeconfig)?;
        let text = text.replace(&self.state.url, &format!("https://{proxy}"));
        let file = self.dir.join(format!("kubeconfig-{}", proxy.port()));
        std::fs::write(&file, text)?;
        Ok(file)
    }
}
