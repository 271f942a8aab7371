//! Our informer in a benchmark: it follows the pods of a load server, measures itself, and prints one
//! line of JSON with the keys that the programs beside it print. See `docs/performance.md`.
#![forbid(unsafe_code)]

// What can be asked for.
mod options;

// Pods in each of our forms.
mod pods;

// What the handlers write down.
mod board;

// Memory and processor time of this process.
mod process;

// The load server is told to change its pods.
mod control;

// How fast the store is read.
mod reads;

// What comes out.
mod report;

// The run, from the first byte to the report.
mod run;

use std::error::Error;
use std::io::Write as _;
use std::process::ExitCode;

use clap::Parser as _;
use informer::{LeanBody, MetadataBody};

use crate::options::{Form, Options};
use crate::run::run;

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
            Form::Typed | Form::Slim => run::<k8s_openapi::api::core::v1::Pod>(options).await,
            Form::Lean => run::<LeanBody>(options).await,
            Form::Metadata => run::<MetadataBody>(options).await,
        }
    })?;
    let mut line = serde_json::to_vec(&report)?;
    line.push(b'\n');
    std::io::stdout().write_all(&line)?;
    Ok(())
}
