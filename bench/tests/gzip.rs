//! A list as gzip has no peak either: the counting allocator sees the whole client.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::alloc::System;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{self, Sender};
use std::thread;
use std::time::Duration;

use cap::Cap;
use flate2::Compression;
use flate2::write::GzEncoder;
use informer::{Client, Config, FirstState, InformerBuilder, InformerConfig, Target};
use informer_bench_pods::Pods;

#[global_allocator]
static ALLOCATOR: Cap<System> = Cap::new(System, usize::MAX);

/// What a connection and a driver hold while they read, 2.3 MB however long the list is, must be less than a tenth.
const PODS: usize = 6000;

/// A list as gzip. It is packed in pieces, so that it is never in memory as text.
fn packed_list() -> Vec<u8> {
    let pods = Pods::new(18, PODS, 4);
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    let (mut pieces, mut piece) = (pods.list(64 << 10), Vec::new());
    while pieces.next_into(&mut piece) {
        packed.write_all(&piece).unwrap();
    }
    packed.finish().unwrap()
}

/// Answers a list with `body`, and never answers a watch, but says that one was asked for.
fn serve(listener: &TcpListener, body: &[u8], watched: &Sender<()>) {
    let mut watches = Vec::new();
    for stream in listener.incoming() {
        let mut stream = stream.unwrap();
        let head = head_of(&stream);
        if head.contains("watch=") {
            watches.push(stream);
            watched.send(()).unwrap();
            continue;
        }
        assert!(head.contains("accept-encoding: gzip"), "{head}");
        let length = body.len();
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\n\
             Content-Length: {length}\r\nConnection: close\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(body).unwrap();
    }
}

fn head_of(stream: &TcpStream) -> String {
    let mut lines = BufReader::new(stream).lines().map(Result::unwrap);
    let head: Vec<String> = lines.by_ref().take_while(|line| !line.is_empty()).collect();
    head.join("\n").to_lowercase()
}

#[test]
fn a_compressed_list_has_no_peak() {
    let body: &'static [u8] = packed_list().leak();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (watched, is_watched) = mpsc::channel();
    thread::spawn(move || serve(&listener, body, &watched));
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let mut preset = InformerConfig::new();
        preset.reflector.first_state = FirstState::Listed;
        let before = ALLOCATOR.allocated();
        let client = Client::new(Config::new(&format!("http://{address}")).unwrap()).unwrap();
        let pods = InformerBuilder::lean_at(Target::new("", "v1", "pods"))
            .preset(preset)
            .start(&client)
            .unwrap();
        pods.synced(Duration::from_secs(60)).await.unwrap();
        assert_eq!(pods.lister().len(), PODS);
        // By then, what was needed to read the list is gone.
        let waiting = tokio::task::spawn_blocking(move || is_watched.recv());
        waiting.await.unwrap().unwrap();
        let settled = ALLOCATOR.allocated() - before;
        let peak = ALLOCATOR.max_allocated() - before;
        assert!(settled > 3 * body.len(), "{settled}: is it not compressed?");
        assert!(peak <= settled + settled / 10, "{peak}, then {settled}");
    });
}
