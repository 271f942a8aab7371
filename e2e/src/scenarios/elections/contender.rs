//! Processes that contend. They are killed, paused and asked to end.

use std::process::Stdio;
use std::time::Duration;

use informer_e2e::Outcome;
use informer_e2e::tenure::{CLIENT_GO, Said};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::{LEASE, NAMESPACE};

/// How long a process may take to give the Lease up.
const PATIENCE: Duration = Duration::from_secs(30);

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Ours,
    ClientGo,
}

impl Kind {
    const fn word(self) -> &'static str {
        match self {
            Self::Ours => "ours",
            Self::ClientGo => CLIENT_GO,
        }
    }

    /// Whether this is the name of a replica of this kind.
    pub(super) fn has_named(self, name: &str) -> bool {
        name.starts_with(self.word())
    }
}

/// A process. It is killed when it is dropped.
pub(super) struct Contender {
    kind: Kind,
    name: String,
    process: Child,
    /// What it says.
    said: JoinHandle<Outcome<Vec<Said>>>,
}

impl Contender {
    pub(super) fn start(kind: Kind, number: usize, kubeconfig: &str) -> Outcome<Self> {
        let name = format!("{}-{number}", kind.word());
        let mut command = match kind {
            Kind::Ours => {
                let mut command = Command::new(std::env::current_exe()?);
                command.arg("replica");
                command
            }
            Kind::ClientGo => {
                let elector = std::env::var_os("E2E_ELECTOR");
                let elector = elector.ok_or("E2E_ELECTOR is not set: start this with e2e/run")?;
                let mut command = Command::new(elector);
                // It logs each attempt.
                command.stderr(Stdio::null());
                command
            }
        };
        let mut process = command
            .args([kubeconfig, NAMESPACE, LEASE, &name])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let lines = process.stdout.take().ok_or("a process without stdout")?;
        let mut lines = BufReader::new(lines).lines();
        let replica = name.clone();
        let said = tokio::spawn(async move {
            let mut said = Vec::new();
            while let Some(line) = lines.next_line().await? {
                // A process that was killed may not have finished its last line.
                let Some((from, to)) = line.strip_prefix("yes ").and_then(|it| it.split_once(' '))
                else {
                    continue;
                };
                said.push(Said {
                    replica: replica.clone(),
                    from: from.parse()?,
                    to: to.parse()?,
                });
            }
            Ok(said)
        });
        Ok(Self {
            kind,
            name,
            process,
            said,
        })
    }

    pub(super) const fn kind(&self) -> Kind {
        self.kind
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) async fn kill(&mut self) -> Outcome {
        Ok(self.process.kill().await?)
    }

    /// Sends a signal to this process alone.
    pub(super) async fn signal(&self, signal: &str) -> Outcome {
        let id = self.process.id().ok_or("the process has ended")?;
        let mut kill = Command::new("kill");
        kill.args([format!("-{signal}"), id.to_string()]);
        match kill.status().await?.success() {
            true => Ok(()),
            false => Err(format!("{} got no {signal}", self.name).into()),
        }
    }

    /// Asks it to give the Lease up, and waits for its end.
    pub(super) async fn retire(&mut self) -> Outcome {
        drop(self.process.stdin.take());
        let ended = timeout(PATIENCE, self.process.wait()).await;
        let status = ended.map_err(|_| format!("{} did not end", self.name))??;
        match status.success() {
            true => Ok(()),
            false => Err(format!("{} ended with {status}", self.name).into()),
        }
    }

    /// What it has said.
    pub(super) async fn said(self) -> Outcome<Vec<Said>> {
        self.said.await?
    }
}
