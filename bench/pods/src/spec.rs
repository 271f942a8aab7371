//! The specification of a pod. An API server accepts it.

use std::fmt::Write as _;

use crate::ThisPod;
use crate::metadata::quoted;
use crate::random::Random;
use crate::style::Style;
use crate::workload::{Kind, Workload};

const VARIABLES: [&str; 6] = [
    "LOG_LEVEL",
    "REGION",
    "CACHE_SIZE",
    "FEATURE_FLAGS",
    "UPSTREAM_URL",
    "OTEL_EXPORTER_OTLP_ENDPOINT",
];

pub(crate) fn spec(style: &Style, random: &mut Random, pod: &ThisPod<'_>) -> String {
    let workload = pod.workload;
    let containers: Vec<_> = workload
        .containers()
        .map(|name| container(style, random, pod, name))
        .collect();
    let restart = match workload.kind {
        Kind::Job => "Never",
        Kind::ReplicaSet | Kind::StatefulSet | Kind::DaemonSet => "Always",
    };
    let tolerations = ["not-ready", "unreachable"].map(|taint| {
        format!(
            r#"{{"key":"node.kubernetes.io/{taint}","operator":"Exists","effect":"NoExecute","tolerationSeconds":300}}"#
        )
    });
    style.text(vec![
        ("volumes", volumes(pod)),
        ("containers", format!("[{}]", containers.join(","))),
        ("restartPolicy", quoted(restart)),
        ("terminationGracePeriodSeconds", "30".to_owned()),
        ("dnsPolicy", quoted("ClusterFirst")),
        ("serviceAccountName", quoted(&workload.name)),
        ("nodeName", quoted(&node(pod))),
        (
            "securityContext",
            r#"{"runAsUser":65532,"runAsNonRoot":true,"fsGroup":65532}"#.to_owned(),
        ),
        ("schedulerName", quoted("default-scheduler")),
        ("tolerations", format!("[{}]", tolerations.join(","))),
        ("enableServiceLinks", "true".to_owned()),
    ])
}

pub(crate) fn node(pod: &ThisPod<'_>) -> String {
    format!("node-{:05}.example", pod.node)
}

fn volumes(pod: &ThisPod<'_>) -> String {
    let state = match pod.workload.kind {
        Kind::StatefulSet => format!(
            r#"{{"name":"data","persistentVolumeClaim":{{"claimName":"data-{}"}}}},"#,
            pod.name
        ),
        Kind::ReplicaSet | Kind::DaemonSet | Kind::Job => String::new(),
    };
    format!(
        concat!(
            r#"[{state}{{"name":"settings","configMap":{{"name":"{name}","defaultMode":420}}}},"#,
            r#"{{"name":"kube-api-access-{token}","projected":{{"sources":[{{"serviceAccountToken":{{"expirationSeconds":3607,"path":"token"}}}},"#,
            r#"{{"configMap":{{"name":"kube-root-ca.crt","items":[{{"key":"ca.crt","path":"ca.crt"}}]}}}},"#,
            r#"{{"downwardAPI":{{"items":[{{"path":"namespace","fieldRef":{{"apiVersion":"v1","fieldPath":"metadata.namespace"}}}}]}}}}],"defaultMode":420}}}}]"#,
        ),
        state = state,
        name = pod.workload.name,
        token = pod.token,
    )
}

fn container(style: &Style, random: &mut Random, pod: &ThisPod<'_>, name: &str) -> String {
    let workload = pod.workload;
    let is_main = name == workload.name;
    let probe = |path: &str, period: u64| {
        format!(
            r#"{{"httpGet":{{"path":"/{path}","port":{},"scheme":"HTTP"}},"timeoutSeconds":1,"periodSeconds":{period},"successThreshold":1,"failureThreshold":3}}"#,
            workload.port
        )
    };
    let optional = |text: String| if is_main { text } else { String::new() };
    let (cpu, memory) = (50 * (1 + random.below(20)), 64 * (1 + random.below(32)));
    style.text(vec![
        ("name", quoted(name)),
        ("image", quoted(&workload.image_of(name))),
        (
            "ports",
            optional(format!(
                r#"[{{"name":"http","containerPort":{},"protocol":"TCP"}}]"#,
                workload.port
            )),
        ),
        ("env", env(random, workload, is_main)),
        (
            "resources",
            format!(
                r#"{{"limits":{{"memory":"{memory}Mi"}},"requests":{{"cpu":"{cpu}m","memory":"{memory}Mi"}}}}"#
            ),
        ),
        (
            "volumeMounts",
            format!(
                r#"[{{"name":"settings","readOnly":true,"mountPath":"/etc/{name}"}},{{"name":"kube-api-access-{}","readOnly":true,"mountPath":"/var/run/secrets/kubernetes.io/serviceaccount"}}]"#,
                pod.token
            ),
        ),
        ("livenessProbe", optional(probe("livez", 10))),
        ("readinessProbe", optional(probe("readyz", 5))),
        (
            "terminationMessagePath",
            quoted("/dev/termination-log"),
        ),
        ("terminationMessagePolicy", quoted("File")),
        ("imagePullPolicy", quoted("IfNotPresent")),
        (
            "securityContext",
            r#"{"capabilities":{"drop":["ALL"]},"readOnlyRootFilesystem":true,"allowPrivilegeEscalation":false}"#.to_owned(),
        ),
    ])
}

fn env(random: &mut Random, workload: &Workload, is_main: bool) -> String {
    let mut out = String::from(
        r#"[{"name":"POD_NAME","valueFrom":{"fieldRef":{"apiVersion":"v1","fieldPath":"metadata.name"}}}"#,
    );
    for number in 0..if is_main { workload.env } else { 1 } {
        let name = VARIABLES.get(number as usize).copied();
        let name = name.map_or_else(|| format!("SETTING_{number}"), str::to_owned);
        if number == 2 {
            let _ = write!(
                out,
                r#",{{"name":"{name}","valueFrom":{{"secretKeyRef":{{"name":"{}","key":"value"}}}}}}"#,
                workload.name
            );
        } else {
            let value = random.word(4 + (number as u32 * 3) % 8);
            let _ = write!(out, r#",{{"name":"{name}","value":"{value}"}}"#);
        }
    }
    out.push(']');
    out
}
