//! How all programs handle invalid flags and unusable clusters.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use informer_examples::{Cluster, pods};
use informer_transport_mock::http::{HttpConfig, SharedServer, serve};
use informer_transport_mock::{Server, ServerConfig};

use crate::program::{Ran, example, run};

const MANIFEST: &str = include_str!("../../Cargo.toml");

/// The names of all examples, except the one that stands alone: it has no flags.
fn all() -> impl Iterator<Item = &'static str> {
    let entries = MANIFEST.split("[[example]]\nname = \"").skip(1);
    let names = entries.map(|entry| entry.split_once('"').unwrap().0);
    names.filter(|name| *name != "pods_in_ten_lines")
}

/// The examples that can follow a real cluster.
fn with_cluster_flags() -> Vec<&'static str> {
    let takes = |name: &&str| {
        let help = run(example(name).arg("--help"));
        assert_eq!(help.status, Some(0), "{name}: {}", help.stderr);
        help.stdout.contains("--kubeconfig")
    };
    let names: Vec<_> = all().filter(takes).collect();
    assert!(names.contains(&"quickstart"), "{names:?}");
    names
}

/// Asserts that the program failed with a one-line message.
fn assert_sentence(name: &str, ran: &Ran, words: &str) {
    let Ran { stderr, status, .. } = ran;
    assert_eq!(*status, Some(1), "{name}: {stderr}");
    assert!(stderr.starts_with("error: "), "{name}: {stderr}");
    assert!(stderr.contains(words), "{name}: {stderr}");
    assert_eq!(stderr.lines().count(), 1, "{name}: {stderr}");
}

#[test]
fn unknown_flags_are_rejected() {
    for name in all() {
        let ran = run(example(name).arg("--nosuch"));
        assert_eq!(ran.status, Some(2), "{name}: {}", ran.stderr);
        assert!(ran.stderr.contains("--nosuch"), "{name}: {}", ran.stderr);
    }
}

#[test]
fn an_unusable_cluster_is_named_in_one_sentence() {
    for name in with_cluster_flags() {
        let with = |flags: &[&str]| run(example(name).args(flags));
        let silent = with(&["--server", "http://127.0.0.1:1"]);
        assert_sentence(name, &silent, "127.0.0.1:1");
        let missing = with(&["--kubeconfig", "/nonexistent/config"]);
        assert_sentence(name, &missing, "/nonexistent/config");
        let nowhere = with(&["--server", "nowhere"]);
        assert_eq!(nowhere.status, Some(2), "{name}: {}", nowhere.stderr);
        let words = "must begin with https:// or http://";
        assert!(nowhere.stderr.contains(words), "{name}: {}", nowhere.stderr);
    }
}

/// As in Go, the variable in lower case wins, and an empty one is none. Nothing listens on these ports.
#[test]
fn the_environment_of_the_process_names_the_proxy() {
    let flags = ["--server", "http://kube.example.invalid"];
    let with = |variables: &[(&str, &str)]| {
        run(example("list_watch")
            .args(flags)
            .envs(variables.iter().copied()))
    };
    let (one, two) = (
        ("HTTP_PROXY", "http://127.0.0.1:1"),
        ("http_proxy", "127.0.0.1:2"),
    );
    for (variables, words) in [
        (&[one][..], "the proxy 127.0.0.1:1"),
        (&[one, two], "the proxy 127.0.0.1:2"),
        (&[one, ("http_proxy", "")], "the proxy 127.0.0.1:1"),
        (
            &[one, ("no_proxy", "invalid")],
            "the name `kube.example.invalid`",
        ),
        (
            &[("http_proxy", "ftp://x")],
            "`HTTP_PROXY` must begin with http://",
        ),
    ] {
        assert_sentence("list_watch", &with(variables), words);
    }
}

/// Any server outside of the program counts as a real cluster. Here the test makes the changes.
#[tokio::test(flavor = "multi_thread")]
async fn a_real_cluster_is_followed_until_the_program_is_killed() {
    let asks = [
        "GET /api/v1/pods?timeoutSeconds=1&watch=true",
        "GET /api/v1/pods?limit=",
        "GET /api/v1/pods?allowWatchBookmarks=true&",
    ];
    let events = [
        "ADDED    nettool, Pending",
        "MODIFIED nettool, Pending",
        "MODIFIED nettool, Running",
        "DELETED  nettool, Running",
    ];
    let calls = [
        "  OnAdd:    nettool",
        "  OnUpdate: nettool, Pending to Pending",
        "  OnUpdate: nettool, Pending to Running",
        "  OnDelete: nettool",
    ];
    for (name, begins, life) in [
        ("list_watch", &asks[..], events),
        ("my_informer", &["the first state:", "changes:"], calls),
    ] {
        let server = SharedServer::new(Server::new(ServerConfig::new(1)));
        let running = serve(server.clone(), HttpConfig::new()).await.unwrap();
        let mut process = example(name)
            .args(["--server", running.url()])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let mut next = || lines.next().unwrap().unwrap();
        for begin in begins {
            let line = next();
            assert!(line.starts_with(begin), "{name}: {line}");
        }
        for _ in 0..2 {
            server.with(pods::nettool).unwrap();
            for line in life {
                assert_eq!(next(), line, "{name}");
            }
        }
        assert_eq!(process.try_wait().unwrap(), None);
        process.kill().unwrap();
        process.wait().unwrap();
    }
}

/// A program without an async runtime can do the same.
#[tokio::test(flavor = "multi_thread")]
async fn threads_follow_a_real_cluster() {
    let server = SharedServer::new(Server::new(ServerConfig::new(1)));
    let running = serve(server.clone(), HttpConfig::new()).await.unwrap();
    let mut process = example("threads")
        .args(["--server", running.url()])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
    let mut next = || lines.next().unwrap().unwrap();
    assert_eq!(next(), "[main] synced, 0 pods");
    let pod = serde_json::json!({"metadata": {"name": "web-1"}});
    server.with(|server| server.create("pods", pod)).unwrap();
    assert_eq!(next(), "[informer] added default/web-1 (watch)");
    process.kill().unwrap();
    process.wait().unwrap();
}

/// The server answers `/version` without a token, but nothing else. Programs must not retry for ever.
#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_that_denies_access_is_a_failure() {
    let server = SharedServer::new(Server::new(ServerConfig::new(1)));
    let mut http = HttpConfig::new();
    http.token = Some("secret".to_owned());
    let running = serve(server, http).await.unwrap();
    for name in ["quickstart", "list_watch", "reflector_with_indexer"] {
        let url = running.url().to_owned();
        let ran = tokio::task::spawn_blocking(move || run(example(name).args(["--server", &url])));
        assert_sentence(name, &ran.await.unwrap(), "Unauthorized");
    }
}

#[test]
fn programs_end_when_their_time_is_up() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let server = Server::new(ServerConfig::new(1));
    let cluster = runtime.block_on(Cluster::mock(server)).unwrap();
    let url = cluster.client().config().server_url();
    let ran = run(example("list_watch").args(["--for", "0", "--server", &url]));
    assert_eq!((ran.status, ran.stderr.as_str()), (Some(0), ""));
}

/// As in `… | head -1`.
#[test]
fn a_closed_pipe_is_not_a_failure() {
    for name in all() {
        let mut process = example(name)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(process.stdout.take());
        let ended = process.wait_with_output().unwrap();
        let stderr = String::from_utf8(ended.stderr).unwrap();
        assert_eq!(
            (ended.status.code(), stderr.as_str()),
            (Some(0), ""),
            "{name}"
        );
    }
}
