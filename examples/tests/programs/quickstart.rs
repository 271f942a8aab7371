//! The quickstart.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Command, Stdio};

use informer_examples::pods;
use informer_transport_mock::http::{HttpConfig, SharedServer, serve};
use informer_transport_mock::{Server, ServerConfig};

use crate::program::{example, run, shown};

/// Replaces times, which differ from run to run. Only times have two digits after the point.
fn without_times(text: &str) -> String {
    let is_time = |word: &str| {
        let parts = word.split_once('.');
        parts.is_some_and(|(a, b)| b.len() == 2 && (a.to_owned() + b).parse::<u32>().is_ok())
    };
    let words = text.split_inclusive([' ', '\n']).map(|word| {
        let bare = word.trim_end();
        if is_time(bare) {
            word.replace(bare, "0.00")
        } else {
            word.to_owned()
        }
    });
    words.collect()
}

#[test]
fn it_prints_what_the_readme_shows() {
    let ran = run(example("quickstart").args(["--pace", "1"]));
    assert_eq!((ran.status, ran.stderr.as_str()), (Some(0), ""));
    let shown = shown("quickstart");
    assert_eq!(without_times(&ran.stdout), without_times(&shown));
}

#[test]
fn colours_need_a_terminal_or_a_request() {
    // The first lines are enough: the program ends when nobody reads the rest.
    let coloured = |variable: &str| {
        let mut quickstart = example("quickstart")
            .env_remove("NO_COLOR")
            .env(variable, "1")
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut title = String::new();
        let mut stdout = BufReader::new(quickstart.stdout.take().unwrap());
        stdout.read_line(&mut title).unwrap();
        drop(stdout);
        assert!(quickstart.wait().unwrap().success());
        assert!(title.contains("following a mock API server"), "{title}");
        title.contains('\u{1b}')
    };
    assert!(!coloured("UNRELATED"));
    assert!(coloured("CLICOLOR_FORCE"));
    assert!(!coloured("NO_COLOR"));
}

/// The inspector is there while the program runs.
#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn the_inspector_shows_the_informer() {
    let mut quickstart = example("quickstart")
        .args(["--inspect", "--pace", "20"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(quickstart.stdout.take().unwrap()).lines();
    let mut until = |words: &str| {
        let mut lines = lines.by_ref().map(Result::unwrap);
        lines.find(|line| line.contains(words)).unwrap()
    };
    let address = until("inspector: ");
    let address = address.split_once("http://").unwrap().1.to_owned();
    until("Changes, until Ctrl-C");
    let get = |path: &str| {
        let mut port = TcpStream::connect(&address).unwrap();
        let request =
            format!("GET {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
        port.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        port.read_to_string(&mut answer).unwrap();
        answer
    };
    assert!(get("/").contains("<title>"));
    let status = get("/status");
    assert!(status.contains(r#""id":"pods.v1""#), "{status}");
    assert!(get("/object/pods.v1?key=jobs/worker-90").contains(r#""phase":"Running""#));
    let pid = quickstart.id().to_string();
    let sent = Command::new("kill").args(["-INT", &pid]).status().unwrap();
    assert!(sent.success());
    until("What was seen");
    assert!(quickstart.wait().unwrap().success());
}

/// On a real cluster, nothing is cut and nothing is changed.
#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn a_real_cluster_is_only_followed() {
    let server = SharedServer::new(Server::new(ServerConfig::new(1)));
    server.with(pods::some).unwrap();
    let running = serve(server.clone(), HttpConfig::new()).await.unwrap();
    let before = server.with(|server| server.version());
    let mut quickstart = example("quickstart")
        .args(["--server", running.url()])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(quickstart.stdout.take().unwrap()).lines();
    let mut until = |words: &str| {
        let mut lines = lines.by_ref().map(Result::unwrap);
        lines.find(|line| line.contains(words)).unwrap()
    };
    until("following your cluster");
    until("synced 3 pods");
    until("Changes, until Ctrl-C");
    assert_eq!(server.with(|server| server.version()), before);
    server
        .with(|server| server.delete("pods", "default/web-1"))
        .unwrap();
    until("default/web-1");
    let pid = quickstart.id().to_string();
    let sent = Command::new("kill").args(["-INT", &pid]).status().unwrap();
    assert!(sent.success());
    until("What was seen");
    assert_eq!(
        until("quick    relist"),
        "  quick    relist       3        0        0"
    );
    assert_eq!(
        until("quick    watch"),
        "  quick    watch        0        0        1"
    );
    until("2 pods (failures: 0, full states read: 1)");
    assert!(quickstart.wait().unwrap().success());
}
