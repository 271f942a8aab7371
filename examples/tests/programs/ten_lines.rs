//! The program that stands alone.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use informer_examples::pods;
use informer_transport_mock::http::{HttpConfig, SharedServer, serve};
use informer_transport_mock::{Server, ServerConfig};

use crate::program::{example, run, shown};

const SOURCE: &str = include_str!("../../pods_in_ten_lines.rs");

/// It finds the cluster as kubectl does, here by `KUBECONFIG`.
#[tokio::test(flavor = "multi_thread")]
async fn it_lists_gets_and_follows() {
    let server = SharedServer::new(Server::new(ServerConfig::new(42)));
    server.with(pods::some).unwrap();
    let running = serve(server.clone(), HttpConfig::new()).await.unwrap();
    let kubeconfig = std::env::temp_dir().join(format!("ten-lines-{}", std::process::id()));
    fs::write(&kubeconfig, running.kubeconfig()).unwrap();
    let mut program = example("pods_in_ten_lines")
        .env("KUBECONFIG", &kubeconfig)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(program.stdout.take().unwrap()).lines();
    for expected in shown("pods_in_ten_lines").lines() {
        // It has seen the first state when it shows the last pod of it.
        assert_eq!(lines.next().unwrap().unwrap(), expected);
        if expected == "added default/web-2 (initial, replay)" {
            server.with(pods::nettool).unwrap();
        }
    }
    program.kill().unwrap();
    program.wait().unwrap();
    fs::remove_file(&kubeconfig).unwrap();
}

#[test]
fn without_a_cluster_it_says_so() {
    let ran = run(&mut example("pods_in_ten_lines"));
    assert_eq!((ran.status, ran.stdout.as_str()), (Some(1), ""));
    assert!(ran.stderr.starts_with("Error: "), "{}", ran.stderr);
}

#[test]
fn it_needs_nothing_but_informer_and_tokio() {
    let imports: Vec<_> = SOURCE.lines().filter(|it| it.starts_with("use ")).collect();
    let of = |it: &&str| it.starts_with("use informer::") || it.starts_with("use std::");
    assert!(imports.len() >= 2 && imports.iter().all(of), "{imports:?}");
    for other in ["informer_", "serde"] {
        assert!(!SOURCE.contains(other), "{other}");
    }
}

#[test]
fn the_ten_lines_are_ten() {
    let (_, body) = SOURCE.split_once("async fn main()").unwrap();
    let (_, body) = body.split_once("{\n").unwrap();
    let body = body.strip_suffix("}\n").unwrap();
    assert_eq!(body.lines().count(), 10, "{body}");
}
