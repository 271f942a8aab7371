//! A decorator that counts the requests and bytes of any transport. It shows what an informer of metadata
//! saves.
#![expect(clippy::print_stdout, reason = "the example prints what it does")]

use std::error::Error;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::task::{Context, Poll};

use informer::informer_core::transport::{Command, ExchangeId, Signal};
use informer::runtime::Manual;
use informer::{InformerBuilder, Target, Transport};
use informer_examples::{exit, no_flags};
use informer_transport_mock::{MockServer, ServerConfig, VirtualClock};
use serde_json::json;

#[derive(Default)]
struct Counts {
    requests: AtomicUsize,
    bytes: AtomicUsize,
}

struct Counting<T> {
    inner: T,
    counts: Arc<Counts>,
    shows_bytes: bool,
}

impl<T: Transport> Transport for Counting<T> {
    fn execute(&mut self, command: Command<'_>) {
        let opens = matches!(command, Command::Open { .. });
        self.counts.requests.fetch_add(opens.into(), Relaxed);
        self.inner.execute(command);
    }

    fn poll_signal(&mut self, cx: &mut Context<'_>) -> Poll<(ExchangeId, Signal<'_>)> {
        let shown = self.inner.poll_signal(cx);
        self.shows_bytes = matches!(shown, Poll::Ready((_, Signal::Bytes(_))));
        shown
    }

    /// The same signal is returned until it is consumed, so bytes are counted here.
    fn consume(&mut self, n: usize) {
        let bytes = if self.shows_bytes { n } else { 0 };
        self.counts.bytes.fetch_add(bytes, Relaxed);
        self.inner.consume(n);
    }
}

fn main() -> ExitCode {
    no_flags();
    exit(run())
}

fn run() -> Result<(), Box<dyn Error>> {
    let clock = VirtualClock::new();
    let server = MockServer::new(ServerConfig::new(1), clock.clone());
    for n in 0..100 {
        let containers = json!([{"name": "web", "image": "registry.example.org/web:1.27", "env": [
            {"name": "POOL_SIZE", "value": "16"}, {"name": "LOG_LEVEL", "value": "info"}]}]);
        let pod = json!({"metadata": {"name": format!("web-{n}"), "labels": {"app": "web"}},
            "spec": {"nodeName": "node-1", "containers": containers}});
        server.with(|server| server.create("pods", pod))?;
    }
    let runtime = Manual::new(Arc::new(clock));
    let counts = [Arc::new(Counts::default()), Arc::new(Counts::default())];
    let [whole, metadata] = counts.each_ref().map(|counts| {
        // This wraps any function that creates a transport.
        let connect = server.connect();
        move |target: &Target| Counting {
            inner: connect(target),
            counts: Arc::clone(counts),
            shows_bytes: false,
        }
    });
    let pods = Target::new("", "v1", "pods");
    let lean = InformerBuilder::lean_at(pods.clone()).build(&whole, runtime.clone())?;
    let partial = InformerBuilder::metadata_at(pods).build(&metadata, runtime.clone())?;
    lean.start()?;
    partial.start()?;
    runtime.run_until_idle();
    for (what, objects, counts) in [
        ("whole objects", lean.lister().len(), &counts[0]),
        ("metadata only", partial.lister().len(), &counts[1]),
    ] {
        let requests = counts.requests.load(Relaxed);
        let bytes = counts.bytes.load(Relaxed);
        println!("{what}: {objects} pods, {requests} request, {bytes} bytes");
    }
    Ok(())
}
