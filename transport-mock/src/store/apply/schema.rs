//! How the fields of an object merge: which maps and lists are one field, and by which keys the
//! items of other lists are told apart.
//!
//! A real server knows that from the types of its kinds. Here the fields of built-in kinds go by
//! their names, which in these kinds are nearly unambiguous. Custom resources have the schema of
//! their definition; without one, maps merge and lists do not.

use serde_json::{Map, Value};

use crate::api::ApiKind;

/// The type of a value.
#[derive(Clone, Copy, Debug)]
pub(super) enum Type<'a> {
    /// In an object of a built-in kind: the name of its field, and that of the field around it. The
    /// items of a list have its name.
    Builtin {
        name: &'a str,
        parent: &'a str,
        is_item: bool,
        is_job: bool,
    },
    /// A custom resource itself.
    Custom(Option<&'a Value>),
    /// In a custom resource, with its schema.
    Schema(&'a Value),
    /// Without a schema.
    Unknown,
}

/// How the items of a list merge.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum ListRule<'a> {
    /// The list is one field.
    Atomic,
    /// Each item is a field.
    Set,
    /// Items with the same values under these keys are merged.
    By(Vec<&'a str>),
}

/// Maps whose keys are not fields of a type.
const MAPS: [&str; 19] = [
    "allocatable",
    "allocatedResourceStatuses",
    "allocatedResources",
    "annotations",
    "binaryData",
    "capacity",
    "data",
    "hard",
    "labels",
    "limits",
    "matchLabels",
    "overhead",
    "parameters",
    "requests",
    "stringData",
    "used",
    "userAnnotations",
    "volumeAttributes",
    "nodeSelector",
];

/// Objects that are one field.
const ATOMIC: [&str; 16] = [
    "configMapKeyRef",
    "dataSource",
    "fieldRef",
    "fileKeyRef",
    "involvedObject",
    "labelSelector",
    "namespaceSelector",
    "nodePublishSecretRef",
    "nodeSelector",
    "preference",
    "regarding",
    "related",
    "resourceFieldRef",
    "secretKeyRef",
    "secretRef",
    "targetRef",
];

impl<'a> Type<'a> {
    pub(super) fn of(kind: &'a ApiKind) -> Self {
        if kind.is_custom() {
            return Self::Custom(kind.schema());
        }
        Self::Builtin {
            name: "",
            parent: "",
            is_item: false,
            is_job: kind.group() == "batch",
        }
    }

    /// The type of a field, and whether the field is named by this type.
    pub(super) fn field<'b>(self, key: &'b str) -> (Type<'b>, bool)
    where
        'a: 'b,
    {
        match self {
            Self::Builtin { name, .. } if MAPS.contains(&name) => (Type::Unknown, false),
            Self::Builtin { name, is_job, .. } => {
                let field = Type::Builtin {
                    name: key,
                    parent: name,
                    is_item: false,
                    is_job,
                };
                (field, true)
            }
            Self::Custom(_) if matches!(key, "apiVersion" | "kind" | "metadata") => {
                let field = Type::Builtin {
                    name: key,
                    parent: "",
                    is_item: false,
                    is_job: false,
                };
                (field, true)
            }
            Self::Custom(Some(schema)) | Self::Schema(schema) => {
                let named = schema.get("properties").and_then(|it| it.get(key));
                match (named, schema.get("additionalProperties")) {
                    (Some(field), _) => (Type::Schema(field), true),
                    (None, Some(item @ Value::Object(_))) => (Type::Schema(item), false),
                    (None, _) => (Type::Unknown, false),
                }
            }
            Self::Custom(None) | Self::Unknown => (Type::Unknown, false),
        }
    }

    /// Whether a map of this type is one field.
    pub(super) fn is_atomic_map(self) -> bool {
        match self {
            Self::Builtin {
                name,
                parent,
                is_item: false,
                ..
            } => ATOMIC.contains(&name) || name == "selector" && parent == "spec",
            Self::Builtin { name, .. } => {
                matches!(name, "ownerReferences" | "imagePullSecrets" | "secrets")
            }
            Self::Schema(schema) => text(schema, "x-kubernetes-map-type") == "atomic",
            Self::Custom(_) | Self::Unknown => false,
        }
    }

    /// How a list of this type merges.
    pub(super) fn list(self) -> ListRule<'a> {
        let by = |key| ListRule::By(vec![key]);
        match self {
            Self::Builtin {
                name,
                parent,
                is_job,
                ..
            } => match (name, parent) {
                ("finalizers", "metadata") | ("podCIDRs", _) => ListRule::Set,
                ("failed" | "succeeded", "uncountedTerminatedPods") => ListRule::Set,
                ("ownerReferences", _) => by("uid"),
                ("conditions", _) if !is_job => by("type"),
                ("addresses", "status") => by("type"),
                ("imagePullSecrets", "") => ListRule::Atomic,
                ("containers" | "initContainers" | "ephemeralContainers", _)
                | ("volumes" | "env" | "imagePullSecrets" | "secrets" | "claims", _)
                | ("resourceClaims" | "resourceClaimStatuses" | "schedulingGates", _) => by("name"),
                ("hostAliases" | "podIPs", _) => by("ip"),
                ("volumeMounts", _) => by("mountPath"),
                ("volumeDevices", _) => by("devicePath"),
                ("ports", "spec") => ListRule::By(vec!["port", "protocol"]),
                ("ports", "containers" | "initContainers" | "ephemeralContainers") => {
                    ListRule::By(vec!["containerPort", "protocol"])
                }
                ("topologySpreadConstraints", _) => {
                    ListRule::By(vec!["topologyKey", "whenUnsatisfiable"])
                }
                _ => ListRule::Atomic,
            },
            Self::Schema(schema) => match text(schema, "x-kubernetes-list-type") {
                "set" => ListRule::Set,
                "map" => {
                    let keys = schema.get("x-kubernetes-list-map-keys");
                    let keys = keys.and_then(Value::as_array).into_iter().flatten();
                    ListRule::By(keys.filter_map(Value::as_str).collect())
                }
                _ => ListRule::Atomic,
            },
            Self::Custom(_) | Self::Unknown => ListRule::Atomic,
        }
    }

    /// The type of the items of a list.
    pub(super) fn item(self) -> Self {
        match self {
            Self::Builtin {
                name,
                parent,
                is_job,
                ..
            } => Self::Builtin {
                name,
                parent,
                is_item: true,
                is_job,
            },
            Self::Schema(schema) => schema.get("items").map_or(Self::Unknown, Self::Schema),
            Self::Custom(_) | Self::Unknown => Self::Unknown,
        }
    }

    /// The step to an item of a list.
    pub(super) fn step(rule: &ListRule<'_>, item: &Value) -> String {
        match rule {
            ListRule::By(keys) => {
                let key = |name: &&str| {
                    let value = item.get(*name).cloned();
                    // The only key with a default.
                    let default = || match *name {
                        "protocol" => "TCP".into(),
                        _ => Value::Null,
                    };
                    ((*name).to_owned(), value.unwrap_or_else(default))
                };
                let keys: Map<String, Value> = keys.iter().map(key).collect();
                format!("k:{}", Value::Object(keys))
            }
            _ => format!("v:{item}"),
        }
    }
}

fn text<'a>(schema: &'a Value, field: &str) -> &'a str {
    let text = schema.get(field).and_then(Value::as_str);
    text.unwrap_or_default()
}
