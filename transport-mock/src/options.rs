//! Query parameters, and the combinations that the server refuses.

use crate::query::pairs;
use crate::request::{PatchType, Verb};
use crate::status::ApiError;
use crate::status::StatusCause;

/// How long the name of a field manager may be.
pub(crate) const MANAGER_LENGTH: usize = 128;

/// The query parameters of a request. Absent ones are empty.
///
/// ```
/// use informer_transport_mock::request::Options;
///
/// let mut options = Options::default();
/// options.limit = 5;
/// options.label_selector = "app=web".to_owned();
/// assert_eq!(Options::parse("limit=5&labelSelector=app%3Dweb").unwrap(), options);
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Options {
    /// `labelSelector`
    pub label_selector: String,
    /// `fieldSelector`
    pub field_selector: String,
    /// `watch`
    pub watch: bool,
    /// `allowWatchBookmarks`
    pub allow_watch_bookmarks: bool,
    /// `resourceVersion`
    pub resource_version: String,
    /// `resourceVersionMatch`
    pub resource_version_match: String,
    /// `timeoutSeconds`
    pub timeout_seconds: Option<u64>,
    /// `limit`; 0 for no limit.
    pub limit: u64,
    /// `continue`
    pub continue_token: String,
    /// `sendInitialEvents`
    pub send_initial_events: Option<bool>,
    /// `dryRun`, which may be given more than once.
    pub dry_run: Vec<String>,
    /// `fieldManager`
    pub field_manager: String,
    /// `fieldValidation`
    pub field_validation: String,
    /// `force`
    pub force: Option<bool>,
    /// `propagationPolicy`
    pub propagation_policy: String,
}

impl Options {
    /// Parses a query string. Unknown parameters are ignored, as on a real server.
    ///
    /// # Errors
    ///
    /// 400 for a number that cannot be parsed.
    ///
    /// ```
    /// use informer_transport_mock::request::Options;
    ///
    /// let options = Options::parse("limit=5&labelSelector=app%3Dweb").unwrap();
    /// assert_eq!((options.limit, options.label_selector.as_str()), (5, "app=web"));
    /// assert_eq!(Options::parse("limit=many").unwrap_err().code(), 400);
    /// ```
    pub fn parse(query: &str) -> Result<Self, ApiError> {
        let mut options = Self::default();
        for (key, value) in pairs(query) {
            match key.as_str() {
                "labelSelector" => options.label_selector = value,
                "fieldSelector" => options.field_selector = value,
                "watch" => options.watch = flag(&value),
                "allowWatchBookmarks" => options.allow_watch_bookmarks = flag(&value),
                "resourceVersion" => options.resource_version = value,
                "resourceVersionMatch" => options.resource_version_match = value,
                "timeoutSeconds" => options.timeout_seconds = Some(number(&value)?),
                "limit" => options.limit = number(&value)?,
                "continue" => options.continue_token = value,
                "sendInitialEvents" => options.send_initial_events = Some(flag(&value)),
                "dryRun" => options.dry_run.push(value),
                "fieldManager" => options.field_manager = value,
                "fieldValidation" => options.field_validation = value,
                "force" => options.force = Some(flag(&value)),
                "propagationPolicy" => options.propagation_policy = value,
                // The value is ignored, but must be a number.
                "gracePeriodSeconds" => drop(number(&value)?),
                _ => {}
            }
        }
        Ok(options)
    }

    /// Checks the parameters of a list.
    pub(crate) fn check_list(&self) -> Result<(), ApiError> {
        const MATCH: &str = "resourceVersionMatch";
        let mut causes = Vec::new();
        let how = self.resource_version_match.as_str();
        if !how.is_empty() {
            if self.resource_version.is_empty() {
                causes.push(StatusCause::forbidden(
                    MATCH,
                    "resourceVersionMatch is forbidden unless resourceVersion is provided",
                ));
            }
            if !self.continue_token.is_empty() {
                causes.push(StatusCause::forbidden(
                    MATCH,
                    "resourceVersionMatch is forbidden when continue is provided",
                ));
            }
            if !matches!(how, "Exact" | "NotOlderThan") {
                causes.push(StatusCause::not_supported(
                    MATCH,
                    how,
                    &["Exact", "NotOlderThan", ""],
                ));
            }
            if how == "Exact" && self.resource_version == "0" {
                causes.push(StatusCause::forbidden(
                    MATCH,
                    "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"",
                ));
            }
        }
        if self.send_initial_events.is_some() {
            causes.push(StatusCause::forbidden(
                "sendInitialEvents",
                "sendInitialEvents is forbidden for list",
            ));
        }
        refuse("ListOptions", causes)
    }

    /// Checks the parameters of a watch, and returns whether it begins with the current state. By
    /// default, a watch without a version, or from version 0, does.
    pub(crate) fn check_watch(&self) -> Result<bool, ApiError> {
        const MATCH: &str = "resourceVersionMatch";
        let mut causes = Vec::new();
        let is_anywhere = matches!(self.resource_version.as_str(), "" | "0");
        // A watch without a particular version begins with the state.
        let is_implied = is_anywhere
            && self.send_initial_events.is_none()
            && self.resource_version_match.is_empty();
        let how = self.resource_version_match.as_str();
        if self.send_initial_events.is_some() && how != "NotOlderThan" {
            causes.push(StatusCause::forbidden(
                MATCH,
                "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan",
            ));
        }
        if !how.is_empty() {
            if self.send_initial_events.is_none() {
                causes.push(StatusCause::forbidden(
                    MATCH,
                    "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided",
                ));
            }
            if how != "NotOlderThan" {
                causes.push(StatusCause::not_supported(MATCH, how, &["NotOlderThan"]));
            }
        }
        if (is_implied || !how.is_empty()) && !self.continue_token.is_empty() {
            causes.push(StatusCause::forbidden(
                MATCH,
                "resourceVersionMatch is forbidden when continue is provided",
            ));
        }
        refuse("ListOptions", causes)?;
        Ok(self.send_initial_events.unwrap_or(is_anywhere))
    }

    /// Checks the parameters of a create, an update or a patch, and returns whether it is a dry run.
    pub(crate) fn check_write(&self, verb: Verb) -> Result<bool, ApiError> {
        let mut causes = Vec::new();
        let kind = match verb {
            Verb::Create => "CreateOptions",
            Verb::Patch(_) => "PatchOptions",
            _ => "UpdateOptions",
        };
        match verb {
            Verb::Patch(PatchType::Apply) if self.field_manager.is_empty() => {
                let why = "is required for apply patch";
                causes.push(StatusCause::required("fieldManager", why));
            }
            Verb::Patch(how) if how != PatchType::Apply && self.force.is_some() => {
                let why = "may not be specified for non-apply patch";
                causes.push(StatusCause::forbidden("force", why));
            }
            _ => {}
        }
        check_manager(&mut causes, &self.field_manager);
        let is_dry_run = check_dry_run(&mut causes, &self.dry_run);
        let validation = self.field_validation.as_str();
        if !matches!(validation, "" | "Ignore" | "Warn" | "Strict") {
            let known = ["", "Ignore", "Strict", "Warn"];
            causes.push(StatusCause::not_supported(
                "fieldValidation",
                validation,
                &known,
            ));
        }
        refuse(kind, causes)?;
        Ok(is_dry_run)
    }
}

/// Checks the values of `dryRun`, and returns whether it is a dry run.
pub(crate) fn check_dry_run(causes: &mut Vec<StatusCause>, values: &[String]) -> bool {
    if values.iter().any(|value| value != "All") {
        causes.push(StatusCause::not_supported_list("dryRun", values, &["All"]));
    }
    !values.is_empty()
}

fn check_manager(causes: &mut Vec<StatusCause>, manager: &str) {
    const FIELD: &str = "fieldManager";
    if manager.len() > MANAGER_LENGTH {
        causes.push(StatusCause::too_long(FIELD, MANAGER_LENGTH));
    }
    for (at, c) in manager.char_indices().filter(|(_, c)| c.is_control()) {
        let why = format!(
            "invalid character U+{:04X} (at position {at})",
            u32::from(c)
        );
        causes.push(StatusCause::invalid(FIELD, manager, &why));
    }
}

fn refuse(kind: &str, causes: Vec<StatusCause>) -> Result<(), ApiError> {
    if causes.is_empty() {
        Ok(())
    } else {
        Err(ApiError::invalid_options(kind, causes))
    }
}

/// Everything but `0` and `false` is true, the empty string included.
fn flag(value: &str) -> bool {
    value != "0" && !value.eq_ignore_ascii_case("false")
}

/// Parses a number. A negative one counts as 0, because the real server checks only for positive
/// values.
fn number(value: &str) -> Result<u64, ApiError> {
    use std::num::IntErrorKind::{NegOverflow, PosOverflow};
    let wrong = |why| ApiError::bad_request(format!("strconv.ParseInt: parsing {value:?}: {why}"));
    match value.parse::<i64>() {
        Ok(number) => Ok(u64::try_from(number).unwrap_or(0)),
        Err(error) => Err(match error.kind() {
            PosOverflow | NegOverflow => wrong("value out of range"),
            _ => wrong("invalid syntax"),
        }),
    }
}
