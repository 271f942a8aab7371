//! The servers under test.

use std::path::Path;
use std::time::Duration;

use informer_transport_mock::http::{HttpConfig, Running, SharedServer, serve};
use informer_transport_mock::{Server, ServerConfig};
use tokio::process::Command;

use crate::endpoint::Endpoint;
use crate::error::ProbeError;
use crate::kubeconfig::Access;

/// A server, and how to make it forget its history.
pub struct Subject {
    pub(crate) endpoint: Endpoint,
    memory: Memory,
}

enum Memory {
    /// The mock, by a call.
    Mock(
        SharedServer,
        #[expect(dead_code, reason = "dropping it would stop the server")] Running,
    ),
    /// A shell command.
    Command(String),
    /// There is no way.
    Kept,
}

impl Subject {
    /// The mock, over HTTP.
    ///
    /// # Errors
    ///
    /// It cannot listen.
    pub async fn mock() -> Result<Self, ProbeError> {
        let mut config = ServerConfig::new(1);
        // A server with a history, which forgets only on demand.
        config.first_version = 1000;
        config.compact_every = Duration::MAX;
        config.managed_fields = true;
        let server = SharedServer::new(Server::new(config));
        let mut config = HttpConfig::new();
        config.token = Some("probes".to_owned());
        let running = serve(server.clone(), config).await;
        let running = running.map_err(|error| ProbeError::file("the mock", error))?;
        let access = Access {
            url: running.url().to_owned(),
            authority: None,
            token: Some("probes".to_owned()),
        };
        Ok(Self {
            endpoint: Endpoint::new(access).map_err(|error| ProbeError::file("the mock", error))?,
            memory: Memory::Mock(server, running),
        })
    }

    /// The server of a kubeconfig. `forget` is a shell command that makes it forget its history.
    ///
    /// # Errors
    ///
    /// The file cannot be used.
    pub fn real(kubeconfig: &Path, forget: Option<String>) -> Result<Self, ProbeError> {
        let access = Access::read(kubeconfig)?;
        let endpoint =
            Endpoint::new(access).map_err(|error| ProbeError::file(kubeconfig.display(), error))?;
        Ok(Self {
            endpoint,
            memory: forget.map_or(Memory::Kept, Memory::Command),
        })
    }

    /// Makes it forget every version before the present one. Returns whether that is possible.
    pub(crate) async fn forget(&self) -> Result<bool, ProbeError> {
        match &self.memory {
            Memory::Mock(server, _) => {
                server.with(|server| {
                    server.compact(server.version());
                    server.forget_changes();
                });
                Ok(true)
            }
            Memory::Command(command) => {
                let ended = Command::new("sh").args(["-c", command]).status().await;
                match ended {
                    Ok(status) if status.success() => Ok(true),
                    Ok(status) => Err(ProbeError::Forget {
                        reason: status.to_string(),
                    }),
                    Err(error) => Err(ProbeError::Forget {
                        reason: error.to_string(),
                    }),
                }
            }
            Memory::Kept => Ok(false),
        }
    }
}

impl std::fmt::Debug for Subject {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Subject").finish_non_exhaustive()
    }
}
