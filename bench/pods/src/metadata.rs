//! The metadata of a pod, with the `managedFields` that servers add.

use std::fmt::Write as _;

use crate::random::Random;
use crate::style::Style;
use crate::workload::Kind;
use crate::{FIRST_VERSION, SENT, ThisPod, namespace_name};

pub(crate) fn metadata(style: &Style, random: &mut Random, pod: &ThisPod<'_>) -> String {
    let workload = pod.workload;
    let generate_name = match workload.kind {
        Kind::StatefulSet => String::new(),
        Kind::ReplicaSet | Kind::DaemonSet | Kind::Job => quoted(&format!("{}-", workload.owner())),
    };
    let version = FIRST_VERSION + 1 + pod.number as u64;
    let uid = random.uid();
    let (labels, annotations) = (labels(pod), annotations(random, pod));
    let names = |pairs: &[(String, String)]| pairs.iter().map(|(name, _)| name.clone()).collect();
    let managed = managed_fields(pod, names(&labels), names(&annotations));
    style.text(vec![
        ("name", quoted(pod.name)),
        ("generateName", generate_name),
        ("namespace", quoted(&namespace_name(workload.namespace))),
        ("uid", quoted(&uid)),
        ("resourceVersion", quoted(&version.to_string())),
        ("generation", "1".to_owned()),
        ("creationTimestamp", quoted(&pod.created)),
        ("labels", map(labels)),
        ("annotations", map(annotations)),
        (
            "ownerReferences",
            format!(
                r#"[{{"apiVersion":"{}","kind":"{}","name":"{}","uid":"{}","controller":true,"blockOwnerDeletion":true}}]"#,
                workload.kind.group(),
                workload.kind.name(),
                workload.owner(),
                workload.owner_uid
            ),
        ),
        ("managedFields", managed),
    ])
}

fn labels(pod: &ThisPod<'_>) -> Vec<(String, String)> {
    let workload = pod.workload;
    let zone = match pod.node % 3 {
        0 => "eu-1a",
        1 => "eu-1b",
        _ => "eu-1c",
    };
    let more = [
        ("app.kubernetes.io/version", workload.version.as_str()),
        ("app.kubernetes.io/part-of", workload.team),
        ("app.kubernetes.io/managed-by", "Helm"),
        ("topology.example/zone", zone),
        ("team", workload.team),
        ("app.kubernetes.io/component", "server"),
        ("release", "stable"),
    ];
    let mut labels = vec![
        ("app.kubernetes.io/name", workload.name.as_str()),
        ("app.kubernetes.io/instance", workload.name.as_str()),
        match workload.kind {
            Kind::ReplicaSet => ("pod-template-hash", workload.hash.as_str()),
            Kind::StatefulSet | Kind::DaemonSet => ("controller-revision-hash", &workload.hash),
            Kind::Job => ("batch.kubernetes.io/job-name", &workload.name),
        },
    ];
    labels.extend(more.iter().take(workload.labels as usize));
    pairs(labels)
}

fn annotations(random: &mut Random, pod: &ThisPod<'_>) -> Vec<(String, String)> {
    let workload = pod.workload;
    let (port, sum) = (workload.port.to_string(), random.hex(64));
    let more = [
        ("checksum/config", sum.as_str()),
        ("prometheus.io/port", port.as_str()),
        ("prometheus.io/scrape", "true"),
        ("example.com/contact", "Zoë Müller, 東京"),
        ("kubectl.kubernetes.io/restartedAt", pod.created.as_str()),
        ("cluster-autoscaler.kubernetes.io/safe-to-evict", "true"),
    ];
    let mut annotations = vec![(SENT, "0000000000000000000")];
    annotations.extend(more.iter().take(workload.annotations as usize));
    let mut annotations = pairs(annotations);
    if workload.is_applied {
        let applied = format!(
            r#"{{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{{\"name\":\"{}\"}},\"spec\":{{\"containers\":[{{\"image\":\"{}\",\"name\":\"{}\"}}]}}}}\n"#,
            pod.name, workload.image, workload.name
        );
        let name = "kubectl.kubernetes.io/last-applied-configuration";
        annotations.push((name.to_owned(), applied));
    }
    annotations.sort();
    annotations
}

fn managed_fields(pod: &ThisPod<'_>, labels: Vec<String>, annotations: Vec<String>) -> String {
    let workload = pod.workload;
    let set = |names: Vec<String>| {
        names.iter().fold(r#"{".":{}"#.to_owned(), |mut out, name| {
            let _ = write!(out, r#","f:{name}":{{}}"#);
            out
        }) + "}"
    };
    let mut containers = String::new();
    for name in workload.containers() {
        let _ = write!(
            containers,
            concat!(
                r#""k:{{\"name\":\"{}\"}}":{{".":{{}},"f:env":{{".":{{}},"k:{{\"name\":\"POD_NAME\"}}":{{".":{{}},"f:name":{{}},"f:valueFrom":{{"f:fieldRef":{{}}}}}}}},"#,
                r#""f:image":{{}},"f:imagePullPolicy":{{}},"f:livenessProbe":{{".":{{}},"f:failureThreshold":{{}},"f:httpGet":{{".":{{}},"f:path":{{}},"f:port":{{}}}}}},"#,
                r#""f:name":{{}},"f:ports":{{".":{{}},"k:{{\"containerPort\":{},\"protocol\":\"TCP\"}}":{{".":{{}},"f:containerPort":{{}},"f:protocol":{{}}}}}},"f:resources":{{}}}},"#,
            ),
            name, workload.port
        );
    }
    containers.pop();
    let conditions = ["ContainersReady", "Initialized", "Ready"].map(|condition| {
        format!(
            r#""k:{{\"type\":\"{condition}\"}}":{{".":{{}},"f:lastProbeTime":{{}},"f:lastTransitionTime":{{}},"f:status":{{}},"f:type":{{}}}}"#
        )
    });
    format!(
        concat!(
            r#"[{{"manager":"kube-controller-manager","operation":"Update","apiVersion":"v1","time":"{created}","fieldsType":"FieldsV1","fieldsV1":{{"f:metadata":{{"#,
            r#""f:annotations":{annotations},"f:generateName":{{}},"f:labels":{labels},"f:ownerReferences":{{".":{{}},"k:{{\"uid\":\"{owner}\"}}":{{}}}}}},"#,
            r#""f:spec":{{"f:containers":{{{containers}}},"f:dnsPolicy":{{}},"f:enableServiceLinks":{{}},"f:restartPolicy":{{}},"f:schedulerName":{{}},"f:securityContext":{{}}}}}}}},"#,
            r#"{{"manager":"kubelet","operation":"Update","apiVersion":"v1","time":"{updated}","fieldsType":"FieldsV1","fieldsV1":{{"f:status":{{"f:conditions":{{{conditions}}},"#,
            r#""f:containerStatuses":{{}},"f:hostIP":{{}},"f:phase":{{}},"f:podIP":{{}},"f:podIPs":{{}},"f:startTime":{{}}}}}},"subresource":"status"}}]"#,
        ),
        created = pod.created,
        updated = workload.applied,
        annotations = set(annotations),
        labels = set(labels),
        owner = workload.owner_uid,
        containers = containers,
        conditions = conditions.join(","),
    )
}

fn pairs(pairs: Vec<(&str, &str)>) -> Vec<(String, String)> {
    let mut pairs: Vec<_> = pairs
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    pairs.sort();
    pairs
}

/// Servers sort the members of maps.
fn map(pairs: Vec<(String, String)>) -> String {
    let mut out = String::from("{");
    for (name, value) in pairs {
        let _ = write!(out, r#""{name}":"{value}","#);
    }
    out.pop();
    out.push('}');
    out
}

pub(crate) fn quoted(text: &str) -> String {
    format!("\"{text}\"")
}
