//! An index behind HTTP.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, ChildStdout, Stdio};

use serde_json::{Value, json};

use crate::program::{example, run, shown};

/// The running program. It is killed when dropped.
struct Server {
    process: Child,
    address: String,
    _stdout: BufReader<ChildStdout>,
}

impl Server {
    fn start() -> Self {
        let mut process = example("indexer_http")
            .args(["--port", "0"])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdout = BufReader::new(process.stdout.take().unwrap());
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        let address = line.strip_prefix("listening on http://").unwrap().trim();
        Self {
            process,
            address: address.to_owned(),
            _stdout: stdout,
        }
    }

    fn ask(&self, method: &str, target: &str) -> (u16, Value) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let host = &self.address;
        write!(
            stream,
            "{method} {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        assert!(head.contains("content-type: application/json"), "{head}");
        (status, serde_json::from_str(body).unwrap())
    }

    fn get(&self, target: &str) -> (u16, Value) {
        self.ask("GET", target)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn a_query_returns_keys() {
    let server = Server::start();
    let web = json!(["default/web-1", "default/web-2"]);
    assert_eq!(server.get("/?app=web"), (200, web));
    assert_eq!(server.get("/?app=d%62"), (200, json!(["default/db-1"])));
    assert_eq!(server.get("/?app=nobody"), (200, json!([])));
    let all = json!(["default/db-1", "default/web-1", "default/web-2"]);
    assert_eq!(server.get("/"), (200, all));
}

#[test]
fn errors_are_json() {
    let server = Server::start();
    for (method, target, status, words) in [
        (
            "GET",
            "/?zone=a",
            404,
            r#"no index "zone"; there are ["app", "node", "namespace"]"#,
        ),
        ("GET", "/pods?app=web", 404, "nothing at /pods"),
        (
            "GET",
            "/?app=web&node=a",
            400,
            "only one index and one value are allowed",
        ),
        ("GET", "/?app", 400, r#"the index "app" needs a value"#),
        ("POST", "/?app=web", 405, "only GET"),
    ] {
        let (got, body) = server.ask(method, target);
        assert_eq!(got, status, "{target}: {body}");
        let error = body.get("error").and_then(Value::as_str).unwrap();
        assert!(error.contains(words), "{target}: {error}");
    }
}

/// Replays the `curl` commands of the README.
#[test]
fn the_readme_is_right() {
    let server = Server::start();
    let mut lines = shown_lines().into_iter();
    while let Some(line) = lines.next() {
        let url = line.strip_prefix("$ curl -s ").unwrap();
        let target = url.trim_matches('\'').strip_prefix("http://127.0.0.1:8080");
        let (_, body) = server.get(target.unwrap());
        assert_eq!(lines.next().unwrap(), body.to_string());
    }
}

fn shown_lines() -> Vec<String> {
    let shown = shown("indexer_http");
    let (first, curls) = shown.split_once('\n').unwrap();
    assert_eq!(first, "listening on http://127.0.0.1:8080");
    let lines: Vec<_> = curls.lines().map(str::to_owned).collect();
    assert!(lines.len() >= 4, "{lines:?}");
    lines
}

#[test]
fn a_port_that_is_taken_is_named() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let ran = run(example("indexer_http").args(["--port", &port]));
    assert_eq!(ran.status, Some(1));
    assert!(ran.stderr.contains(&port), "{}", ran.stderr);
    assert!(ran.stderr.contains("--port"), "{}", ran.stderr);
    assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
}
