//! Resources, namespaces and selectors.

use informer_transport_mock::api::ApiKind;
use serde_json::Value;

use super::running::{Tail, tail};
use crate::cluster::{cluster, create};
use crate::file::File;

/// The keys of the initial state.
fn keys(tail: &Tail) -> Vec<String> {
    let lines = tail.synced();
    let key = |line: &String| {
        let line: Value = serde_json::from_str(line).unwrap();
        line["key"].as_str().unwrap().to_owned()
    };
    lines.iter().map(key).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn resources_have_many_names() {
    let (server, running) = cluster().await;
    server.with(|server| server.register(ApiKind::custom("acme.org", "v1", "widgets", "Widget")));
    create(&server, "deployments", "web/d");
    create(&server, "widgets", "web/w");
    create(&server, "nodes", "node-a");
    for (flags, expected) in [
        (&["pods", "-n", "web"][..], &["web/a", "web/b"][..]),
        (&["Pod", "-n", "web"], &["web/a", "web/b"]),
        (&["pods.v1", "--namespace", "db"], &["db/c"]),
        (&["deployments.v1.apps", "-n", "web"], &["web/d"]),
        (&["widgets.acme.org", "-n", "web"], &["web/w"]),
        (&["pods", "-A"], &["db/c", "web/a", "web/b"]),
        // Nodes have no namespace, and `-A` does no harm.
        (&["nodes"], &["node-a"]),
        (&["nodes", "-A"], &["node-a"]),
        (&["pods", "-A", "-l", "app in (a, c)"], &["db/c", "web/a"]),
        (
            &["pods", "-A", "--field-selector", "spec.nodeName=node-b"],
            &["web/b"],
        ),
        // Without a context, the namespace is `default`.
        (&["pods"], &[]),
    ] {
        assert_eq!(
            keys(&Tail::json(running.url(), flags)),
            expected,
            "{flags:?}"
        );
    }
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_context_selects_the_cluster_and_the_namespace() {
    let (_, running) = cluster().await;
    let text = running.kubeconfig().replace(
        "current-context: mock",
        "- name: db\n  context: {cluster: mock, user: mock, namespace: db}\ncurrent-context: mock",
    );
    let file = File::new("context", &text);
    let by_flag = ["--kubeconfig", file.path(), "--context", "db"];
    for flags in [&by_flag[..], &["--context", "db"]] {
        let mut command = tail(&["pods", "-o", "json"]);
        command.args(flags).env("KUBECONFIG", file.path());
        assert_eq!(keys(&Tail::start(&mut command)), ["db/c"], "{flags:?}");
    }
    running.stop().await;
}
