//! The built-in kinds, with the traits of their Go types.

use crate::api::{ApiKind, Builtin, FieldRules, ScaleFields, ScaleSelector, StatusRule};

/// What most built-in kinds have in common.
const PLAIN: Builtin = Builtin {
    blank: "",
    returns_deleted: false,
    unconditional_update: true,
    generations: false,
    counts_annotations: false,
    status: StatusRule::Plain,
    fields: FieldRules::None,
};

/// Kinds whose spec changes raise the generation.
const COUNTED: Builtin = Builtin {
    generations: true,
    status: StatusRule::Fresh("{}"),
    ..PLAIN
};

/// The kind of all scale subresources. It has no collection.
pub(super) fn scale() -> ApiKind {
    ApiKind::builtin("autoscaling/v1", "scales", "Scale", PLAIN)
}

pub(super) fn builtins() -> [ApiKind; 18] {
    let core = |plural, kind, builtin| ApiKind::builtin("v1", plural, kind, builtin);
    let apps = |plural, kind, blank, status| {
        let status = StatusRule::Fresh(status);
        ApiKind::builtin(
            "apps/v1",
            plural,
            kind,
            Builtin {
                blank,
                status,
                ..COUNTED
            },
        )
    };
    [
        core("pods", "Pod", Builtin {
            blank: r#","spec":{"containers":null},"status":{}"#,
            returns_deleted: true,
            status: StatusRule::Fresh(r#"{"phase":"Pending"}"#),
            ..COUNTED
        })
        .with_short_names(["po"])
        .with_selectable([
            "spec.nodeName",
            "spec.restartPolicy",
            "spec.schedulerName",
            "spec.serviceAccountName",
            "spec.hostNetwork",
            "status.phase",
            "status.podIP",
            "status.podIPs",
            "status.nominatedNodeName",
        ]),
        core("nodes", "Node", Builtin {
            blank: r#","spec":{},"status":{"daemonEndpoints":{"kubeletEndpoint":{"Port":0}},"nodeInfo":{"machineID":"","systemUUID":"","bootID":"","kernelVersion":"","osImage":"","containerRuntimeVersion":"","kubeletVersion":"","kubeProxyVersion":"","operatingSystem":"","architecture":""}}"#,
            status: StatusRule::OnCreate,
            ..PLAIN
        })
        .cluster_scoped()
        .with_short_names(["no"])
        .with_selectable(["spec.unschedulable"]),
        core("namespaces", "Namespace", Builtin {
            blank: r#","spec":{},"status":{}"#,
            status: StatusRule::Fresh(r#"{"phase":"Active"}"#),
            ..PLAIN
        })
        .cluster_scoped()
        .with_short_names(["ns"])
        .with_selectable(["status.phase"]),
        core("services", "Service", Builtin {
            blank: r#","spec":{},"status":{"loadBalancer":{}}"#,
            returns_deleted: true,
            status: StatusRule::Fresh(r#"{"loadBalancer":{}}"#),
            ..PLAIN
        })
        .with_short_names(["svc"])
        .with_selectable(["spec.clusterIP", "spec.type"]),
        core("endpoints", "Endpoints", PLAIN).with_short_names(["ep"]),
        core("configmaps", "ConfigMap", PLAIN).with_short_names(["cm"]),
        core("secrets", "Secret", PLAIN).with_selectable(["type"]),
        core("serviceaccounts", "ServiceAccount", Builtin {
            returns_deleted: true,
            ..PLAIN
        })
        .with_short_names(["sa"]),
        core("events", "Event", Builtin {
            blank: r#","involvedObject":{},"source":{},"firstTimestamp":null,"lastTimestamp":null,"eventTime":null,"reportingComponent":"","reportingInstance":"""#,
            fields: FieldRules::CoreEvent,
            ..PLAIN
        })
        .with_short_names(["ev"])
        .with_selectable([
            "involvedObject.kind",
            "involvedObject.namespace",
            "involvedObject.name",
            "involvedObject.uid",
            "involvedObject.apiVersion",
            "involvedObject.resourceVersion",
            "involvedObject.fieldPath",
            "reason",
            "reportingComponent",
            "source",
            "type",
        ]),
        core("replicationcontrollers", "ReplicationController", Builtin {
            blank: r#","spec":{},"status":{"replicas":0}"#,
            status: StatusRule::Fresh(r#"{"replicas":0}"#),
            ..COUNTED
        })
        .with_short_names(["rc"])
        .with_selectable(["status.replicas"])
        .scaled_by(ScaleFields::builtin(ScaleSelector::Labels)),
        ApiKind::builtin("apps/v1", "deployments", "Deployment", Builtin {
            blank: r#","spec":{"replicas":0,"selector":null,"template":{"metadata":{},"spec":{"containers":null}},"strategy":{}},"status":{}"#,
            counts_annotations: true,
            ..COUNTED
        })
            .with_short_names(["deploy"])
            .scaled_by(ScaleFields::builtin(ScaleSelector::Selector)),
        apps("replicasets", "ReplicaSet", r#","spec":{"replicas":0,"selector":null,"template":{"metadata":{},"spec":{"containers":null}}},"status":{"replicas":0}"#, r#"{"replicas":0}"#)
            .with_short_names(["rs"])
            .with_selectable(["status.replicas"])
            .scaled_by(ScaleFields::builtin(ScaleSelector::Selector)),
        apps("statefulsets", "StatefulSet", r#","spec":{"replicas":0,"selector":null,"template":{"metadata":{},"spec":{"containers":null}},"serviceName":"","updateStrategy":{}},"status":{"replicas":0,"availableReplicas":0}"#, r#"{"replicas":0,"availableReplicas":0}"#)
            .with_short_names(["sts"])
            .scaled_by(ScaleFields::builtin(ScaleSelector::Selector)),
        apps("daemonsets", "DaemonSet", r#","spec":{"selector":null,"template":{"metadata":{},"spec":{"containers":null}},"updateStrategy":{}},"status":{"currentNumberScheduled":0,"numberMisscheduled":0,"desiredNumberScheduled":0,"numberReady":0}"#, r#"{"currentNumberScheduled":0,"numberMisscheduled":0,"desiredNumberScheduled":0,"numberReady":0}"#)
            .with_short_names(["ds"]),
        ApiKind::builtin("batch/v1", "jobs", "Job", Builtin {
            blank: r#","spec":{"template":{"metadata":{},"spec":{"containers":null}}},"status":{}"#,
            ..COUNTED
        })
        .with_selectable(["status.successful"]),
        ApiKind::builtin("coordination.k8s.io/v1", "leases", "Lease", Builtin {
            blank: r#","spec":{}"#,
            unconditional_update: false,
            fields: FieldRules::Lease,
            ..PLAIN
        }),
        ApiKind::builtin("events.k8s.io/v1", "events", "Event", Builtin {
            blank: r#","eventTime":null,"regarding":{},"deprecatedSource":{},"deprecatedFirstTimestamp":null,"deprecatedLastTimestamp":null"#,
            fields: FieldRules::Event,
            ..PLAIN
        })
        .with_short_names(["ev"])
        .with_selectable([
            "regarding.kind",
            "regarding.namespace",
            "regarding.name",
            "regarding.uid",
            "regarding.apiVersion",
            "regarding.resourceVersion",
            "regarding.fieldPath",
            "reason",
            "reportingController",
            "type",
        ]),
        ApiKind::builtin("apiextensions.k8s.io/v1", "customresourcedefinitions", "CustomResourceDefinition", Builtin {
            blank: r#","spec":{"group":"","names":{"plural":"","kind":""},"scope":"","versions":null},"status":{"conditions":null,"acceptedNames":{"plural":"","kind":""},"storedVersions":null}"#,
            unconditional_update: false,
            status: StatusRule::Defined,
            fields: FieldRules::Definition,
            ..COUNTED
        })
        .cluster_scoped()
        .with_short_names(["crd", "crds"]),
    ]
}

#[cfg(test)]
mod tests {
    use crate::api::Registry;

    #[test]
    fn blanks_are_json() {
        for kind in Registry::with_builtins().iter() {
            let text = format!("{{\"metadata\":{{}}{}}}", kind.blank());
            assert!(
                serde_json::from_str::<serde_json::Value>(&text).is_ok(),
                "{text}"
            );
        }
    }
}
