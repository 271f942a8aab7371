//! Delete options, from the body or the query.

use serde_json::{Map, Value};

use crate::options::Options;
use crate::status::{ApiError, StatusCause};
use crate::store::write::Preconditions;

const POLICY: &str = "propagationPolicy";

/// Parses and validates the preconditions of a delete. A body overrides the query. Propagation and
/// grace periods are parsed and ignored.
pub(crate) fn preconditions(options: &Options, body: &[u8]) -> Result<Preconditions, ApiError> {
    if body.is_empty() {
        let policy = Some(options.propagation_policy.as_str()).filter(|policy| !policy.is_empty());
        check_policy(policy, false)?;
        return Ok(Preconditions::default());
    }
    let body: Map<String, Value> = serde_json::from_slice(body).map_err(|error| {
        ApiError::bad_request(format!(
            "couldn't get version/kind; json parse error: {error}"
        ))
    })?;
    let text = |field: &str| body.get(field).and_then(Value::as_str);
    if let Some(kind) = text("kind").filter(|kind| *kind != "DeleteOptions") {
        return Err(ApiError::bad_request(format!(
            "no kind {kind:?} is registered for version {:?} in scheme \"pkg/runtime/scheme.go:111\"",
            text("apiVersion").unwrap_or_default()
        )));
    }
    if body.contains_key("dryRun") {
        return Err(ApiError::bad_request(
            "dryRun is not supported by this server",
        ));
    }
    check_policy(text(POLICY), body.contains_key("orphanDependents"))?;
    let of = |field: &str| {
        let value = body.get("preconditions")?.get(field)?;
        value.as_str().map(str::to_owned)
    };
    Ok(Preconditions {
        uid: of("uid"),
        resource_version: of("resourceVersion"),
    })
}

fn check_policy(policy: Option<&str>, has_orphan_dependents: bool) -> Result<(), ApiError> {
    let Some(policy) = policy else {
        return Ok(());
    };
    let mut causes = Vec::new();
    if has_orphan_dependents {
        let why = "orphanDependents and deletionPropagation cannot be both set";
        causes.push(StatusCause::invalid(POLICY, policy, why));
    }
    if !matches!(policy, "Foreground" | "Background" | "Orphan") {
        let known = ["Foreground", "Background", "Orphan", "nil"];
        causes.push(StatusCause::not_supported(POLICY, policy, &known));
    }
    if causes.is_empty() {
        Ok(())
    } else {
        Err(ApiError::invalid_options("DeleteOptions", causes))
    }
}
