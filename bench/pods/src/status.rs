//! The status of a pod: most are running, some wait, some have failed or are done.

use crate::ThisPod;
use crate::metadata::quoted;
use crate::random::Random;
use crate::style::Style;
use crate::workload::Kind;

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Running,
    Waiting,
    Crashing,
    Done,
}

pub(crate) fn status(style: &Style, random: &mut Random, pod: &ThisPod<'_>) -> String {
    let state = match (pod.workload.kind, random.below(100)) {
        (Kind::Job, 0..80) => State::Done,
        (_, 97) => State::Waiting,
        (_, 98..) => State::Crashing,
        _ => State::Running,
    };
    let phase = match state {
        State::Running | State::Crashing => "Running",
        State::Waiting => "Pending",
        State::Done => "Succeeded",
    };
    let containers: Vec<_> = pod
        .workload
        .containers()
        .map(|name| container(style, random, pod, name, state))
        .collect();
    let host = format!("192.168.{}.{}", pod.node / 200 % 256, 10 + pod.node % 200);
    let ip = format!(
        "10.{}.{}.{}",
        64 + pod.node / 256 % 64,
        pod.node % 256,
        2 + random.below(250)
    );
    let has_ip = state != State::Waiting;
    let addresses = |ip: &str| format!(r#"[{{"ip":"{ip}"}}]"#);
    style.text(vec![
        ("phase", quoted(phase)),
        ("conditions", conditions(pod, state)),
        ("hostIP", quoted(&host)),
        ("hostIPs", addresses(&host)),
        ("podIP", if has_ip { quoted(&ip) } else { String::new() }),
        (
            "podIPs",
            if has_ip {
                addresses(&ip)
            } else {
                String::new()
            },
        ),
        ("startTime", quoted(&pod.created)),
        ("containerStatuses", format!("[{}]", containers.join(","))),
        ("qosClass", quoted("Burstable")),
    ])
}

fn conditions(pod: &ThisPod<'_>, state: State) -> String {
    let conditions = [
        ("PodReadyToStartContainers", state != State::Waiting),
        ("Initialized", true),
        ("Ready", state == State::Running),
        ("ContainersReady", state == State::Running),
        ("PodScheduled", true),
    ]
    .map(|(name, is_true)| {
        let (is, reason) = if is_true {
            ("True", "")
        } else if state == State::Done {
            ("False", r#","reason":"PodCompleted""#)
        } else {
            (
                "False",
                r#","reason":"ContainersNotReady","message":"containers with unready status""#,
            )
        };
        format!(
            r#"{{"type":"{name}","status":"{is}","lastProbeTime":null,"lastTransitionTime":"{}"{reason}}}"#,
            pod.created
        )
    });
    format!("[{}]", conditions.join(","))
}

fn container(
    style: &Style,
    random: &mut Random,
    pod: &ThisPod<'_>,
    name: &str,
    state: State,
) -> String {
    let workload = pod.workload;
    let image = workload.image_of(name);
    let repository = image.split(':').next().unwrap_or_default();
    let id = format!("containerd://{}", random.hex(64));
    let ended = |code: u8, reason: &str| {
        format!(
            r#"{{"terminated":{{"exitCode":{code},"reason":"{reason}","startedAt":"{0}","finishedAt":"{0}","containerID":"{id}"}}}}"#,
            pod.created
        )
    };
    let (now, before, restarts) = match state {
        State::Running => {
            let now = format!(r#"{{"running":{{"startedAt":"{}"}}}}"#, pod.created);
            (now, "{}".to_owned(), random.below(3))
        }
        State::Waiting => {
            let now = r#"{"waiting":{"reason":"ContainerCreating"}}"#.to_owned();
            (now, "{}".to_owned(), 0)
        }
        State::Crashing => {
            let now = r#"{"waiting":{"reason":"CrashLoopBackOff","message":"back-off 5m0s restarting failed container"}}"#;
            (now.to_owned(), ended(1, "Error"), 10 + random.below(900))
        }
        State::Done => (ended(0, "Completed"), "{}".to_owned(), 0),
    };
    let is_there = state != State::Waiting;
    let image_id = format!("{repository}@sha256:{}", workload.digest);
    style.text(vec![
        ("name", quoted(name)),
        ("state", now),
        ("lastState", before),
        ("ready", (state == State::Running).to_string()),
        ("restartCount", restarts.to_string()),
        ("image", quoted(&image)),
        ("imageID", quoted(if is_there { &image_id } else { "" })),
        (
            "containerID",
            if is_there { quoted(&id) } else { String::new() },
        ),
        ("started", (state == State::Running).to_string()),
    ])
}
