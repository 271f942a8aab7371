//! Pods as most examples see them, and what happens to those of the mock.

use std::sync::Arc;

use informer::{Kind, Object};
use informer_core::flow::Delta;
use informer_transport_mock::Server;
use informer_transport_mock::status::ApiError;
use serde::Deserialize;
use serde_json::json;

/// As much of a pod as these examples look at; namespace, name and labels are known without it.
#[derive(Deserialize, Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Pod {
    /// What it is doing.
    #[serde(default)]
    pub status: PodStatus,
}

/// As much of its status.
#[derive(Deserialize, Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct PodStatus {
    /// `Pending`, `Running` and so on.
    #[serde(default)]
    pub phase: String,
}

impl Kind for Pod {
    const GROUP: &'static str = "";
    const VERSION: &'static str = "v1";
    const PLURAL: &'static str = "pods";
}

/// A delta in one line: its type, the pod and what that is doing.
#[must_use]
pub fn told(delta: &Delta<Arc<Object<Pod>>>) -> String {
    let what = match delta {
        Delta::Added(_) => "Added",
        Delta::Updated(_) => "Updated",
        Delta::Deleted(_) => "Deleted",
        Delta::Replaced(_) => "Replaced",
        Delta::Sync(_) => "Sync",
    };
    let phase = delta.object().map_or("", |pod| &pod.status.phase);
    format!("{what:<8} {}, {phase}", delta.key().name())
}

/// Three pods of two apps, running.
///
/// # Errors
/// One of them is there already.
pub fn some(server: &mut Server) -> Result<(), ApiError> {
    for (name, app) in [("web-1", "web"), ("web-2", "web"), ("db-1", "db")] {
        create(server, ("default", name), app, "Running")?;
    }
    Ok(())
}

/// The life of a pod: `nettool` is created and waits, gets a node, runs, and is deleted.
///
/// # Errors
/// There is a pod of this name already.
pub fn nettool(server: &mut Server) -> Result<(), ApiError> {
    create(server, ("default", "nettool"), "nettool", "Pending")?;
    let scheduled = json!({"spec": {"nodeName": "node-1"}});
    server.patch("pods", "default/nettool", scheduled)?;
    set_phase(server, "default/nettool", "Running")?;
    server.delete("pods", "default/nettool")?;
    Ok(())
}

/// Creates a pod, by namespace and name, and says what it is doing. All pods begin as `Pending`.
///
/// # Errors
/// There is one already, or its name will not do.
pub fn create(
    server: &mut Server,
    (namespace, name): (&str, &str),
    app: &str,
    phase: &str,
) -> Result<(), ApiError> {
    let pod = json!({
        "metadata": {"namespace": namespace, "name": name, "labels": {"app": app}},
        "spec": {"containers": [{"name": "main", "image": format!("registry.example/{app}:1")}]},
    });
    server.create("pods", pod)?;
    match phase {
        "Pending" => Ok(()),
        phase => set_phase(server, &format!("{namespace}/{name}"), phase),
    }
}

/// Says what a pod is doing now.
///
/// # Errors
/// There is no such pod.
pub fn set_phase(server: &mut Server, key: &str, phase: &str) -> Result<(), ApiError> {
    server.patch_status("pods", key, json!({"status": {"phase": phase}}))?;
    Ok(())
}
