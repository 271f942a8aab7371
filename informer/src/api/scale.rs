//! The scale of an object.

use serde::{Deserialize, Serialize};

/// How many replicas an object should have, and has (`autoscaling/v1`).
///
/// To change the number, patch it:
///
/// ```no_run
/// # async fn run(api: informer::Api<serde_json::Value>) -> Result<(), Box<dyn std::error::Error>> {
/// use informer::{ObjectKey, Patch};
/// use serde_json::json;
///
/// let key = ObjectKey::new("web", "shop");
/// let scale = api.scale().patch(&key, &Patch::merge(json!({"spec": {"replicas": 3}}))).await?;
/// println!("{} of {}", scale.status.replicas, scale.spec.replicas);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[expect(clippy::exhaustive_structs, reason = "the API is stable")]
#[serde(default)]
pub struct Scale {
    /// What should be.
    pub spec: ScaleSpec,
    /// What is.
    pub status: ScaleStatus,
}

/// How many replicas there should be.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[expect(clippy::exhaustive_structs, reason = "the API is stable")]
#[serde(default)]
pub struct ScaleSpec {
    /// The number.
    pub replicas: u32,
}

/// How many replicas there are.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[expect(clippy::exhaustive_structs, reason = "the API is stable")]
#[serde(default)]
pub struct ScaleStatus {
    /// The number.
    pub replicas: u32,
    /// The label selector of their pods.
    pub selector: String,
}
