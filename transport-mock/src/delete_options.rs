//! Delete options, from the body or the query.

use serde_json::{Map, Value};

use crate::options::{Options, check_dry_run};
use crate::status::{ApiError, StatusCause};
use crate::store::write::Preconditions;

const POLICY: &str = "propagationPolicy";

/// The options of a delete. Propagation and grace periods are parsed and ignored.
#[derive(Debug)]
pub(crate) struct DeleteOptions {
    pub(crate) preconditions: Preconditions,
    pub(crate) is_dry_run: bool,
}

/// Parses and validates the options of a delete. A body overrides the query.
pub(crate) fn delete_options(options: &Options, body: &[u8]) -> Result<DeleteOptions, ApiError> {
    if body.is_empty() {
        let policy = Some(options.propagation_policy.as_str()).filter(|policy| !policy.is_empty());
        let is_dry_run = check(policy, false, &options.dry_run)?;
        return Ok(DeleteOptions {
            preconditions: Preconditions::default(),
            is_dry_run,
        });
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
    let dry_run: Vec<String> = body
        .get("dryRun")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(|value| value.as_str().map(str::to_owned))
        .collect();
    let is_dry_run = check(
        text(POLICY),
        body.contains_key("orphanDependents"),
        &dry_run,
    )?;
    let of = |field: &str| {
        let value = body.get("preconditions")?.get(field)?;
        value.as_str().map(str::to_owned)
    };
    Ok(DeleteOptions {
        preconditions: Preconditions {
            uid: of("uid"),
            resource_version: of("resourceVersion"),
        },
        is_dry_run,
    })
}

/// Checks the options, and returns whether it is a dry run.
fn check(
    policy: Option<&str>,
    has_orphan_dependents: bool,
    dry_run: &[String],
) -> Result<bool, ApiError> {
    let mut causes = Vec::new();
    if let Some(policy) = policy {
        if has_orphan_dependents {
            let why = "orphanDependents and deletionPropagation cannot be both set";
            causes.push(StatusCause::invalid(POLICY, policy, why));
        }
        if !matches!(policy, "Foreground" | "Background" | "Orphan") {
            let known = ["Foreground", "Background", "Orphan", "nil"];
            causes.push(StatusCause::not_supported(POLICY, policy, &known));
        }
    }
    let is_dry_run = check_dry_run(&mut causes, dry_run);
    if causes.is_empty() {
        Ok(is_dry_run)
    } else {
        Err(ApiError::invalid_options("DeleteOptions", causes))
    }
}
