//! The pod type of most examples, and pods for the mock server.

use informer::{Kind, Object};
use informer_core::flow::Delta;
use informer_transport_mock::Server;
use informer_transport_mock::status::ApiError;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// The fields of a pod that the examples need. An [`Object`] has namespace, name and labels anyway.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Pod {
    /// The status of the pod.
    #[serde(default)]
    pub status: PodStatus,
}

/// The fields of a status that the examples need.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct PodStatus {
    /// `Pending`, `Running` and so on.
    #[serde(default)]
    pub phase: String,
}

impl Kind for Pod {
    const GROUP: &'static str = "";
    const VERSION: &'static str = "v1";
    const KIND: &'static str = "Pod";
    const PLURAL: &'static str = "pods";
}

/// A delta in one line: its type, the pod and its phase.
#[must_use]
pub fn told(delta: &Delta<Object<Pod>>) -> String {
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

/// Creates three running pods of two apps.
///
/// # Errors
/// One of them exists already.
pub fn some(server: &mut Server) -> Result<(), ApiError> {
    for (name, app) in [("web-1", "web"), ("web-2", "web"), ("db-1", "db")] {
        create(server, ("default", name), app, "Running")?;
    }
    Ok(())
}

/// The life of a pod: `nettool` is created, gets a node, runs, and is deleted.
///
/// # Errors
/// A pod with this name exists already.
pub fn nettool(server: &mut Server) -> Result<(), ApiError> {
    create(server, ("default", "nettool"), "nettool", "Pending")?;
    let scheduled = json!({"spec": {"nodeName": "node-1"}});
    server.patch("pods", "default/nettool", scheduled)?;
    set_phase(server, "default/nettool", "Running")?;
    server.delete("pods", "default/nettool")?;
    Ok(())
}

/// Creates a pod by namespace and name, in this phase. All pods begin as `Pending`.
///
/// # Errors
/// The pod exists already, or its name is invalid.
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

/// Changes the phase of a pod.
///
/// # Errors
/// There is no such pod.
pub fn set_phase(server: &mut Server, key: &str, phase: &str) -> Result<(), ApiError> {
    server.patch_status("pods", key, json!({"status": {"phase": phase}}))?;
    Ok(())
}
