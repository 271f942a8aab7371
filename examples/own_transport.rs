//! Your own transport in under 100 lines. It answers with a watch that was recorded in a file, one event
//! per line. This is all you need to use an informer on another network, or without one. To record a watch:
//! `kubectl get --raw '/api/v1/pods?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true'`
#![expect(clippy::print_stdout, reason = "the example prints what it does")]

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::task::{Context, Poll};

use clap::Parser;
use informer::informer_core::transport::{Command, ExchangeId, Signal};
use informer::runtime::Manual;
use informer::{Connect, ConnectError, Failure, InformerBuilder, Target, Transport};
use informer_examples::{exit, flags};
use informer_transport_mock::VirtualClock;

/// Replays a recorded watch of pods
#[derive(Parser)]
struct Recordings {
    /// The recorded watch, one JSON event per line
    #[arg(value_name = "FILE", default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/recorded/pods.jsonl"))]
    file: PathBuf,
}

/// Creates the transport for an informer.
impl Connect for Recordings {
    type Transport = Recording;

    fn connect(&self, _: &Target) -> Result<Recording, ConnectError> {
        let file = File::open(&self.file)
            .map_err(|error| ConnectError::new(format!("{}: {error}", self.file.display())))?;
        Ok(Recording {
            file: BufReader::new(file),
            exchange: None,
            broken: None,
        })
    }
}

struct Recording {
    file: BufReader<File>,
    /// The request that the bytes answer. They are JSON, so `Signal::Opened` is not needed.
    exchange: Option<ExchangeId>,
    /// The error of a file that cannot be read.
    broken: Option<String>,
}

impl Transport for Recording {
    fn execute(&mut self, command: Command<'_>) {
        self.exchange = match command {
            Command::Open { exchange, .. } => Some(exchange),
            Command::Abort(_) => None,
        };
    }

    /// Returns the same bytes again until they are consumed, exactly as `BufRead` does.
    fn poll_signal(&mut self, _: &mut Context<'_>) -> Poll<(ExchangeId, Signal<'_>)> {
        let Some(exchange) = self.exchange else {
            return Poll::Pending;
        };
        let signal = match self.file.fill_buf() {
            // The end of the recording looks like a watch without events.
            Ok([]) => return Poll::Pending,
            Ok(bytes) => Signal::Bytes(bytes),
            Err(error) => Signal::Failed {
                failure: Failure::Broken,
                message: self.broken.insert(error.to_string()),
            },
        };
        Poll::Ready((exchange, signal))
    }

    fn consume(&mut self, n: usize) {
        self.file.consume(n);
        if self.broken.take().is_some() {
            self.exchange = None;
        }
    }
}

fn main() -> ExitCode {
    exit(replay(&flags()))
}

fn replay(recordings: &Recordings) -> Result<(), Box<dyn std::error::Error>> {
    // The tasks run in `run_until_idle`, and the clock stands still.
    let runtime = Manual::new(Arc::new(VirtualClock::new()));
    let pods = InformerBuilder::lean_at(Target::new("", "v1", "pods"))
        .build(recordings, runtime.clone())?;
    pods.on(|notification| println!("{notification}"))?;
    pods.start()?;
    runtime.run_until_idle();
    pods.wait_synced(std::time::Duration::ZERO)?;
    println!("{} pods at the end", pods.lister().len());
    Ok(())
}
