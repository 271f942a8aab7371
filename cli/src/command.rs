//! The command line.

use std::error::Error;
use std::process::ExitCode;

use clap::{CommandFactory as _, Parser, Subcommand};
use tokio::runtime::Builder;

use crate::{completions, outcome, tail, top, verify};

/// See a cluster as an informer sees it
///
/// Installed as `kubectl-informer`, it is also `kubectl informer`.
#[derive(Parser)]
#[command(name = "kubectl-informer", version, after_help = EXIT_STATUS)]
pub(crate) struct Program {
    #[command(subcommand)]
    command: Command,
}

const EXIT_STATUS: &str = "\
Exit status:
  0  done, or ended by Ctrl-C or SIGTERM; for verify: all are the same
  1  verify: something differs
  2  wrong usage, or the command cannot run; one sentence on standard error says why";

#[derive(Subcommand)]
enum Command {
    Tail(tail::Flags),
    Top(top::Flags),
    Verify(verify::Flags),
    Completions(completions::Flags),
}

/// Runs the command.
pub(crate) fn run(program: Program) -> ExitCode {
    let mut builder = match program.command {
        // One thread: the driver does not run while a line is printed, so that no status line is left out. If the
        // output is blocked, so is the driver.
        Command::Tail(_) => Builder::new_current_thread(),
        _ => Builder::new_multi_thread(),
    };
    let ran = builder.enable_all().build().map_err(Into::into);
    outcome::exit(ran.and_then(|runtime| runtime.block_on(start(program.command))))
}

async fn start(command: Command) -> Result<ExitCode, Box<dyn Error>> {
    match command {
        Command::Tail(flags) => tail::run(&flags).await,
        Command::Top(flags) => top::run(&flags).await,
        Command::Verify(flags) => verify::run(&flags).await,
        Command::Completions(flags) => completions::run(&flags, Program::command()),
    }
}
