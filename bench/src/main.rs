//! Our side of a benchmark. It follows the pods of a load server, measures itself, and prints one
//! line of JSON with the same keys as the other programs. See `docs/performance.md`.
#![forbid(unsafe_code)]

// The command line.
mod options;

// Pods in each form.
mod pods;

// What the handlers record.
mod board;

// Memory and CPU time of this process.
mod process;

// Control of the load server.
mod control;

// Read speed of the store.
mod reads;

// The report.
mod report;

// The run, from the first byte to the report.
mod run;

// The same without an informer.
mod received;

// What was received.
mod seen;

use std::error::Error;
use std::io::Write as _;
use std::process::ExitCode;

use clap::Parser as _;
use informer::{LeanBody, MetadataBody, PackedBody};

use crate::options::{Form, Options};
use crate::received::receive;
use crate::run::run;

#[cfg(feature = "mimalloc")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let options = Options::parse();
    match measure(&options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "bench-informer: {error}");
            ExitCode::FAILURE
        }
    }
}

fn measure(options: &Options) -> Result<(), Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    let report = runtime.block_on(async {
        match options.form {
            #[cfg(feature = "typed")]
            Form::Typed | Form::Full => run::<k8s_openapi::api::core::v1::Pod>(options).await,
            Form::Lean | Form::LeanProtobuf => run::<LeanBody>(options).await,
            Form::Packed | Form::PackedProtobuf => run::<PackedBody>(options).await,
            Form::Metadata => run::<MetadataBody>(options).await,
            Form::Received | Form::ReceivedProtobuf => receive(options).await,
        }
    })?;
    let mut line = serde_json::to_vec(&report)?;
    line.push(b'\n');
    std::io::stdout().write_all(&line)?;
    Ok(())
}
