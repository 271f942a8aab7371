//! A server that says what a test wants it to say.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};

use serde_json::{Value, json};

/// Serves pods: `answer` gives the body for the path of a list or watch. Ends with the test process.
/// Returns the URL.
pub(crate) fn serve(answer: impl Fn(&str) -> String + Send + 'static) -> String {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            // A client that hangs up is not an error.
            let _ = reply(stream.unwrap(), &answer);
        }
    });
    url
}

fn reply(mut stream: TcpStream, answer: &dyn Fn(&str) -> String) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream.try_clone()?).lines();
    let request = lines.next().unwrap()?;
    while lines
        .next()
        .is_some_and(|line| line.is_ok_and(|line| !line.is_empty()))
    {}
    let path = request.split(' ').nth(1).unwrap();
    let body = match path {
        "/api" => json!({"versions": ["v1"]}).to_string(),
        "/apis" => json!({"groups": []}).to_string(),
        "/api/v1" => json!({"resources": [{
            "name": "pods", "singularName": "pod", "namespaced": true, "kind": "Pod",
            "verbs": ["list", "watch"],
        }]})
        .to_string(),
        path => answer(path),
    };
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n";
    writeln!(stream, "{head}{body}")
}

/// A list of objects with this metadata.
pub(crate) fn list(version: &str, metadata: &[Value]) -> String {
    let items: Vec<_> = metadata.iter().map(|it| json!({"metadata": it})).collect();
    json!({"kind": "List", "metadata": {"resourceVersion": version}, "items": items}).to_string()
}
