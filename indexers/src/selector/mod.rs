//! Selectors: which objects are meant, by their labels or by their fields.
//!
//! They are read, printed and matched as `labels.Parse` and `fields.ParseSelector` of apimachinery do
//! it, so a selector means the same here and on the server.
//!
//! ```
//! use informer_core::Labels;
//! use informer_indexers::selector::{FieldSelector, LabelSelector};
//!
//! let web: LabelSelector = "app in (web, api), !canary".parse()?;
//! assert_eq!(web.to_string(), "app in (api,web),!canary");
//! assert!(web.matches_labels(&Labels::from_iter([("app", "api")])));
//! assert!(!web.matches_labels(&Labels::from_iter([("app", "api"), ("canary", "")])));
//!
//! let running: FieldSelector = "status.phase=Running".parse()?;
//! assert!(running.matches(|field| (field == "status.phase").then_some("Running")));
//!
//! let error = "app in web".parse::<LabelSelector>().unwrap_err();
//! assert_eq!(error.to_string(), r#"found "web" at byte 7 of the selector, expected `(`"#);
//! # Ok::<(), informer_indexers::selector::SelectorError>(())
//! ```

// What is wrong with a selector.
mod error;

// How the keys and values of labels may look.
mod names;

// One condition on one label.
mod label_requirement;

// Reads the text of a label selector.
mod label_syntax;

// All conditions on labels.
mod label;

// Conditions on labels as API objects hold them.
mod match_expression;

// Reads the text of a field selector.
mod field_syntax;

// All conditions on fields.
mod field;

pub use error::SelectorError;
pub use field::{FieldOperator, FieldRequirement, FieldSelector};
pub use label::LabelSelector;
pub use label_requirement::{LabelOperator, LabelRequirement};
pub use match_expression::{MatchExpression, MatchOperator};
