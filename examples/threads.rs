//! An informer without an async runtime: every task is a thread, and `main` blocks.
//!
//! Nothing here is `async` or uses tokio. Without flags, the server is the mock server in memory. With
//! `--kubeconfig` or the like, a real cluster is followed over HTTP: the client has a thread of its own for
//! its connections.
#![expect(clippy::print_stdout, reason = "the example prints what it does")]

use std::error::Error;
use std::process::ExitCode;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use clap::Parser;
use informer::runtime::block_on;
use informer::{Client, InformerBuilder, Query, Target};
use informer_examples::{ClusterArgs, exit, flags};
use informer_transport_mock::status::ApiError;
use informer_transport_mock::{MockServer, ServerConfig, VirtualClock};
use serde_json::{Value, json};

const SOON: Duration = Duration::from_secs(30);

/// Follows pods on plain threads: those of a mock server, or of a real cluster until Ctrl-C.
#[derive(Parser)]
struct Flags {
    #[command(flatten)]
    cluster: ClusterArgs,
}

fn main() -> ExitCode {
    let Flags { cluster } = flags();
    exit(if cluster.is_given() {
        follow(&cluster)
    } else {
        demonstrate()
    })
}

/// Prints every change of the pods of a real cluster.
fn follow(cluster: &ClusterArgs) -> Result<(), Box<dyn Error>> {
    let client = Client::new(cluster.config()?)?;
    // An informer would retry for ever, but a user at a terminal wants an error now.
    block_on(client.get("/version"))?;
    let pods = InformerBuilder::packed_at(Target::new("", "v1", "pods")).start_blocking(&client)?;
    let (tell, told) = mpsc::channel();
    pods.on(move |notification| {
        let _ = tell.send(format!("[{}] {notification}", thread_name()));
    })?;
    pods.wait_synced(SOON)?;
    println!("[{}] synced, {} pods", thread_name(), pods.lister().len());
    told.iter().for_each(|line| println!("{line}"));
    Ok(())
}

fn demonstrate() -> Result<(), Box<dyn Error>> {
    let server = MockServer::new(ServerConfig::new(42), VirtualClock::new());
    server.with(|server| server.create("pods", pod("web-1", "web")))?;

    let pods = InformerBuilder::lean_at(Target::new("", "v1", "pods"))
        .start_blocking(&server.connect())?;
    pods.wait_synced(SOON)?;
    println!("[{}] synced, {} pod", thread_name(), pods.lister().len());

    // The handler runs on its own thread and sends its notifications here through a channel.
    let (tell, told) = mpsc::channel();
    let registration = pods.on(move |notification| {
        // The receiver is gone when `main` has given up.
        let _ = tell.send(format!("[{}] {notification}", thread_name()));
    })?;
    // `block_on` waits for any future.
    block_on(registration.synced(SOON))?;

    let writer = thread::spawn(move || play(&server));
    for _ in 0..5 {
        println!("{}", told.recv_timeout(SOON)?);
    }
    writer.join().map_err(|_| "the writer panicked")??;

    let web = "app=web".parse()?;
    for pod in pods.lister().select(&Query::new().labels(&web)) {
        println!("[{}] app=web: {}", thread_name(), pod.key());
    }

    pods.stop();
    block_on(pods.join());
    println!("[{}] every thread has ended", thread_name());
    Ok(())
}

/// Takes the place of the users of the cluster.
fn play(server: &MockServer) -> Result<(), ApiError> {
    server.with(|server| server.create("pods", pod("web-2", "web")))?;
    server.with(|server| server.create("pods", pod("db-1", "db")))?;
    let image =
        json!({"spec": {"containers": [{"name": "main", "image": "registry.example/web:2"}]}});
    server.with(|server| server.patch("pods", "web-2", image))?;
    server.with(|server| server.delete("pods", "web-1"))?;
    Ok(())
}

fn pod(name: &str, app: &str) -> Value {
    json!({"metadata": {"name": name, "labels": {"app": app}}})
}

fn thread_name() -> String {
    thread::current().name().unwrap_or("unnamed").to_owned()
}
