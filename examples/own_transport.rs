//! A transport of your own, in under 100 lines: it answers with a watch recorded in a file, one event a
//! line. That is all that moves an informer to another network, or to none. To record one of your own:
//! `kubectl get --raw '/api/v1/pods?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true'`
#![expect(clippy::print_stdout, reason = "it is a program that prints")]

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

/// Replays a recorded watch of pods.
#[derive(Parser)]
struct Recordings {
    /// The recording
    #[arg(value_name = "FILE", default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/recorded/pods.jsonl"))]
    file: PathBuf,
}

/// What an informer is connected with: it makes a transport.
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
    /// Whom the bytes are for: JSON, so `Signal::Opened` may be left out.
    exchange: Option<ExchangeId>,
    /// Why the file cannot be read.
    broken: Option<String>,
}

impl Transport for Recording {
    fn execute(&mut self, command: Command<'_>) {
        self.exchange = match command {
            Command::Open { exchange, .. } => Some(exchange),
            Command::Abort(_) => None,
        };
    }

    /// A peek: what is not consumed is shown again, which is just how `BufRead` has it.
    fn poll_signal(&mut self, _: &mut Context<'_>) -> Poll<(ExchangeId, Signal<'_>)> {
        let Some(exchange) = self.exchange else {
            return Poll::Pending;
        };
        let signal = match self.file.fill_buf() {
            // The recording is over; a watch that is quiet looks the same.
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
    // Tasks run when they are told to, and time stands still: nobody waits for a file.
    let runtime = Manual::new(Arc::new(VirtualClock::new()));
    let pods =
        InformerBuilder::lean(Target::new("", "v1", "pods")).build(recordings, runtime.clone())?;
    pods.on(|notification| println!("{notification}"))?;
    pods.start()?;
    runtime.run_until_idle();
    pods.wait_synced(std::time::Duration::ZERO)?;
    println!("{} pods at the end", pods.lister().len());
    Ok(())
}
