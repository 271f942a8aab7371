//! Label and field selectors.
//!
//! They are parsed, printed and matched like `labels.Parse` and `fields.ParseSelector` of Kubernetes
//! apimachinery, so a selector means the same here and on the server.
//!
//! ```
//! use informer_core::Labels;
//! use informer_indexers::selector::{FieldSelector, LabelSelector};
//!
//! let web: LabelSelector = "app in (web, api), !canary".parse()?;
//! assert_eq!(web.to_string(), "app in (api,web),!canary");
//! assert!(web.matches_labels([("app", "api")]));
//! assert!(!web.matches_labels([("app", "api"), ("canary", "")]));
//!
//! let running: FieldSelector = "status.phase=Running".parse()?;
//! assert!(running.matches(|field| (field == "status.phase").then_some("Running")));
//!
//! let error = "app in web".parse::<LabelSelector>().unwrap_err();
//! assert_eq!(error.to_string(), r#"found "web" at byte 7 of the selector, expected `(`"#);
//! # Ok::<(), informer_indexers::selector::SelectorError>(())
//! ```

// Why a selector is invalid.
mod error;

// The syntax of label keys and values.
mod names;

// One condition on one label.
mod label_requirement;

// Parses label selectors.
mod label_syntax;

// Label selectors.
mod label;

// `matchExpressions` of API objects.
mod match_expression;

// Parses field selectors.
mod field_syntax;

// Field selectors.
mod field;

pub use error::SelectorError;
pub use field::{FieldOperator, FieldRequirement, FieldSelector};
pub use label::LabelSelector;
pub use label_requirement::{LabelOperator, LabelRequirement};
pub use match_expression::{MatchExpression, MatchOperator};
