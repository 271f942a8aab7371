//! Errors: one sentence and an exit status.

use informer_transport_mock::api::ApiKind;
use informer_transport_mock::http::HttpConfig;

use crate::cluster::{cluster, cluster_with};
use crate::file::File;
use crate::program;

fn fails(flags: &[&str], said: &[&str]) {
    program::fails(&[&["tail"], flags].concat(), said);
}

fn is_refused(flags: &[&str], said: &str) {
    program::is_refused(&[&["tail"], flags].concat(), said);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn errors_say_what_is_wrong_with_the_cluster() {
    let (_, running) = cluster().await;
    fails(
        &["pods"],
        &[
            "no configuration for a Kubernetes cluster was found",
            "KUBECONFIG",
        ],
    );
    fails(
        &["pods", "--kubeconfig", "/nonexistent/config"],
        &["/nonexistent/config"],
    );
    let file = File::new("errors", running.kubeconfig());
    fails(
        &["pods", "--kubeconfig", file.path(), "--context", "nosuch"],
        &["nosuch", "mock"],
    );
    fails(
        &["pods", "--server", "http://127.0.0.1:1"],
        &["127.0.0.1:1", "refused"],
    );
    let url = running.url();
    fails(
        &["widgets", "--server", url],
        &["the server has no resource `widgets`"],
    );
    fails(&["podz", "--server", url], &["did you mean `pods`?"]);
    running.stop().await;

    // A token is only read and sent over TLS.
    let mut config = HttpConfig::new();
    config.tls = true;
    let (_, running) = cluster_with(config).await;
    let authority = File::new("errors-ca", running.ca_pem().unwrap());
    let flags = ["pods", "--server", running.url(), "--ca", authority.path()];
    fails(
        &[&flags[..], &["--token-file", "/nonexistent/token"]].concat(),
        &["/nonexistent/token"],
    );
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_missing_permission_is_named() {
    for strategy in ["streaming", "listwatch"] {
        for output in ["table", "json"] {
            let mut config = HttpConfig::new();
            config.faults = "after 0 requests refuse 2 403".parse().unwrap();
            let (_, running) = cluster_with(config).await;
            let flags = ["pods", "-n", "web", "--strategy", strategy, "-o", output];
            fails(
                &[&flags[..], &["--server", running.url()]].concat(),
                &["missing permission to list pods in namespace `web` (grant it with RBAC): "],
            );
            running.stop().await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn failed_authentication_is_an_error() {
    for (tls, said) in [
        (
            true,
            "not authenticated; check the credentials (Unauthorized)",
        ),
        // Without TLS, not even a valid token is sent.
        (
            false,
            "the credentials were withheld because http://127.0.0.1:",
        ),
    ] {
        let mut config = HttpConfig::new();
        config.token = Some("let-me-in".to_owned());
        config.tls = tls;
        let (_, running) = cluster_with(config).await;
        let token = File::new("token", "let-me-out");
        let authority = running.ca_pem().map(|pem| File::new("authority", pem));
        let mut flags = vec![
            "pods",
            "--server",
            running.url(),
            "--token-file",
            token.path(),
        ];
        if let Some(file) = &authority {
            flags.extend(["--ca", file.path()]);
        }
        fails(&flags, &[said]);
        running.stop().await;
    }
}

/// The kubeconfig of the mock server allows credentials over plain http, which are withheld by default.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_kubeconfig_of_the_mock_sends_its_token_without_tls() {
    let mut config = HttpConfig::new();
    config.token = Some("let-me-in".to_owned());
    let (_, running) = cluster_with(config).await;
    let file = File::new("plain", running.kubeconfig());
    is_refused(
        &["nodes", "-n", "web", "--kubeconfig", file.path()],
        "nodes are cluster-scoped; leave the namespace out",
    );
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn invalid_flags_are_rejected() {
    let (server, running) = cluster().await;
    server.with(|server| server.register(ApiKind::custom("acme.org", "v1", "widgets", "Widget")));
    let url = running.url();
    for (flags, said) in [
        (&[][..], "RESOURCE"),
        (&[""], "RESOURCE"),
        (&["pods", "--nosuch"], "--nosuch"),
        (&["pods", "-n", ""], "--namespace"),
        (&["pods", "-n", ".."], "cannot be a namespace"),
        (&["pods", "-n", "a/b"], "cannot be a namespace"),
        (
            &["pods", "--server", "http://127.0.0.1:80010"],
            "has an invalid port",
        ),
        (&["pods", "-n", "web", "-A"], "--all-namespaces"),
        (&["pods", "-l", "app in web"], "app in web"),
        (
            &["pods", "--field-selector", "spec.nodeName"],
            "spec.nodeName",
        ),
        (&["pods", "--strategy", "poll"], "streaming"),
        (&["pods", "--queue", "stack"], "inorder"),
        (&["pods", "--form", "yaml"], "metadata"),
        (&["pods", "-o", "yaml"], "json"),
        (&["pods", "--server", "ftp://a"], "must begin with https://"),
        (&["pods", "--server", url, "--context", "c"], "--context"),
        // Only the server can tell that these are wrong.
        (
            &["nodes", "-n", "web", "--server", url],
            "nodes are cluster-scoped; leave the namespace out",
        ),
        (
            &["widgets", "--form", "typed", "--server", url],
            if cfg!(feature = "k8s-openapi") {
                "this program has no Rust type for widgets.acme.org; use `--form lean` or `--form metadata`"
            } else {
                "built without Rust types; install it with `--features k8s-openapi`"
            },
        ),
    ] {
        is_refused(flags, said);
    }
    running.stop().await;
}
