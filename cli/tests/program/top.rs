//! `top`.

use informer_transport_mock::http::HttpConfig;
use serde_json::{Value, json};

use crate::cluster::{cluster, cluster_with, create};
use crate::program::{fails, is_refused, program, run};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn outside_of_a_terminal_it_prints_one_table() {
    let (server, running) = cluster().await;
    create(&server, "deployments", "web/d");
    let flags = [
        "top",
        "pods",
        "deploy",
        "nodes",
        "-A",
        "--server",
        running.url(),
    ];
    let ran = run(&mut program(&flags));
    assert_eq!((ran.status, ran.stderr.as_str()), (Some(0), ""));
    let lines: Vec<_> = ran.stdout.lines().collect();
    assert_eq!(
        lines[0],
        "RESOURCE         PHASE     FRESH OBJECTS LAST RELISTS FAILURES"
    );
    assert_eq!(
        lines[1],
        "pods             watching  yes         3   0s       0        0"
    );
    assert_eq!(
        lines[2],
        "deployments.apps watching  yes         1   0s       0        0"
    );
    assert_eq!(
        lines[3],
        "nodes            watching  yes         0    -       0        0"
    );
    assert_eq!(lines.len(), 4);
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn json_has_a_line_per_informer() {
    let (_, running) = cluster().await;
    let flags = [
        "top", "pods", "nodes", "-n", "web", "-l", "app=a", "-o", "json",
    ];
    let with_nodes = [&flags[..], &["--server", running.url()]].concat();
    // Nodes are in no namespace.
    fails(
        &with_nodes,
        &["nodes are cluster-scoped; leave the namespace out"],
    );
    let flags: Vec<_> = with_nodes.into_iter().filter(|it| *it != "nodes").collect();
    let ran = run(&mut program(&flags));
    assert_eq!((ran.status, ran.stderr.as_str()), (Some(0), ""));
    assert_eq!(ran.stdout.lines().count(), 1);
    let mut line: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert!(line["last_event_seconds"].is_number(), "{line}");
    assert_eq!(line["handlers"].as_array().unwrap().len(), 1);
    line["last_event_seconds"] = Value::Null;
    line["handlers"] = Value::Null;
    assert_eq!(
        line,
        json!({
            "resource": "pods", "phase": "watching", "fresh": true, "why": null, "objects": 1,
            "relists": 0, "failures": 0, "last_event_seconds": null, "handlers": null,
        })
    );
    running.stop().await;
}

/// It does not wait for what will not come.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_says_why_an_informer_is_not_fresh() {
    let mut config = HttpConfig::new();
    config.faults = "after 0 requests refuse 9 403".parse().unwrap();
    let (_, running) = cluster_with(config).await;
    let ran = run(&mut program(&[
        "top",
        "pods",
        "-n",
        "web",
        "--server",
        running.url(),
    ]));
    assert_eq!((ran.status, ran.stderr.as_str()), (Some(0), ""));
    let lines: Vec<_> = ran.stdout.lines().collect();
    assert!(
        lines[1].starts_with("pods     waiting   NO          0    -"),
        "{lines:?}"
    );
    assert!(lines[2].starts_with("  tries again in "), "{lines:?}");
    assert!(
        lines[2].contains("missing permission to list pods"),
        "{lines:?}"
    );
    assert_eq!(lines.len(), 3);
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn errors_say_what_is_wrong() {
    let (_, running) = cluster().await;
    let url = running.url();
    is_refused(&["top"], "RESOURCE");
    is_refused(&["top", "pods", "-o", "yaml"], "json");
    fails(
        &["top", "pods", "podz", "--server", url],
        &["did you mean `pods`?"],
    );
    fails(
        &["top", "pods", "--server", "http://127.0.0.1:1"],
        &["127.0.0.1:1", "refused"],
    );
    running.stop().await;
}

#[cfg(target_os = "linux")]
mod on_a_terminal {
    use std::process::Command;
    use std::sync::mpsc::channel;

    use informer_transport_mock::Server;
    use informer_transport_mock::http::serve;

    use super::*;
    use crate::cluster::touch;
    use crate::server;
    use crate::terminal::Terminal;

    /// Waits for a line that begins like this.
    fn line(terminal: &mut Terminal, begin: &str) -> String {
        let is_it = |line: &String| line.starts_with(begin);
        let screen = terminal.screen(|lines| lines.iter().any(is_it));
        screen.into_iter().find(is_it).unwrap()
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn it_follows_until_a_key_is_pressed() {
        let (server, running) = cluster().await;
        for key in ["q", "\u{3}"] {
            let flags = ["top", "pods", "-A", "--server", running.url()];
            let mut terminal = Terminal::run(program(&flags).env("NO_COLOR", "1"));
            line(&mut terminal, "pods     watching  yes         3");
            assert!(terminal.is_raw());
            // The first state does not count as events.
            assert!(!terminal.output(|_| true).contains('█'));
            touch(&server, "web/a");
            line(&mut terminal, "pods #1       0         4");
            terminal.output(|seen| seen.contains('█'));
            terminal.press(key);
            assert_eq!(terminal.end().code(), Some(0), "{key:?}");
            assert!(!terminal.is_raw());
            let output = terminal.rest();
            assert!(output.contains("\u{1b}[?1049l"), "{output:?}");
            assert!(!output.contains("\u{1b}[38;5;"), "{output:?}");
        }
        running.stop().await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_lost_connection_is_shown_and_overcome() {
        let (server, running) = cluster().await;
        let flags = ["top", "pods", "-A", "--server", running.url()];
        let mut terminal = Terminal::run(&mut program(&flags));
        line(&mut terminal, "1 informer, all fresh; ");
        let mut config = HttpConfig::new();
        config.address = running.address();
        running.stop().await;
        line(&mut terminal, "1 informer, 1 not fresh; ");
        line(&mut terminal, "pods     waiting   NO ");
        let says_why = |line: &String| {
            line.starts_with("  tries again in ") && line.contains("s: connection refused by ")
        };
        terminal.screen(|lines| lines.iter().any(says_why));
        // The server no longer has the changes since the version that the informer has.
        touch(&server, "web/a");
        server.with(Server::restart);
        let running = serve(server, config).await.unwrap();
        let overcame = |line: &String| {
            let mut counts = line.split_whitespace().rev();
            let (failures, relists) = (counts.next(), counts.next());
            line.starts_with("pods     watching  yes ")
                && relists == Some("1")
                && failures.is_some_and(|it| it != "0")
        };
        terminal.screen(|lines| lines.iter().any(overcame));
        running.stop().await;
    }

    #[test]
    fn it_says_what_it_waits_for() {
        let (answer, wait) = channel::<()>();
        let url = server::serve(move |_| {
            // The test ends before the server answers.
            let _ = wait.recv();
            String::new()
        });
        let mut terminal = Terminal::run(&mut program(&["top", "pods", "--server", &url]));
        line(&mut terminal, "  reads the first state, 0 objects so far");
        terminal.press("q");
        assert_eq!(terminal.end().code(), Some(0));
        drop(answer);
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_signal_restores_the_terminal() {
        let (_, running) = cluster().await;
        let flags = ["top", "pods", "-A", "--server", running.url()];
        let mut terminal = Terminal::run(program(&flags).env_remove("NO_COLOR"));
        // Green, because it is fresh.
        terminal.output(|seen| seen.contains("\u{1b}[38;5;2;"));
        let pid = terminal.pid().to_string();
        assert!(
            Command::new("kill")
                .args(["-TERM", &pid])
                .status()
                .unwrap()
                .success()
        );
        assert_eq!(terminal.end().code(), Some(0));
        assert!(!terminal.is_raw());
        running.stop().await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn it_fits_the_size_of_the_terminal() {
        if std::fs::File::open("/dev/tty").is_ok() {
            // The program would ask that terminal for its size: the one in which you run this test.
            return;
        }
        let (_, running) = cluster().await;
        let mut terminal = Terminal::run(&mut program(&[
            "top",
            "pods",
            "-A",
            "--server",
            running.url(),
        ]));
        line(&mut terminal, "RESOURCE PHASE     FRESH");
        terminal.resize(40, 12);
        line(&mut terminal, "RESOURCE FRESH");
        terminal.resize(80, 24);
        line(&mut terminal, "RESOURCE PHASE     FRESH");
        terminal.press("q");
        assert_eq!(terminal.end().code(), Some(0));
        running.stop().await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn once_is_enough_if_you_say_so() {
        let (_, running) = cluster().await;
        let flags = ["top", "pods", "-A", "--once", "--server", running.url()];
        let mut terminal = Terminal::run(&mut program(&flags));
        let output = terminal.rest();
        assert!(
            output.contains("\r\npods     watching  yes         3"),
            "{output:?}"
        );
        assert!(!output.contains('\u{1b}'), "{output:?}");
        assert_eq!(terminal.end().code(), Some(0));
        running.stop().await;
    }
}
