//! `completions`: scripts for shells.

use std::error::Error;
use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::{Args, Command};
use clap_complete::Shell;

/// Print a completion script for a shell
///
/// For example, put `source <(kubectl-informer completions bash)` into your ~/.bashrc.
#[derive(Args)]
pub(crate) struct Flags {
    shell: Shell,
}

pub(crate) fn run(flags: &Flags, mut program: Command) -> Result<ExitCode, Box<dyn Error>> {
    let name = program.get_name().to_owned();
    let mut script = Vec::new();
    clap_complete::generate(flags.shell, &mut program, name, &mut script);
    let mut out = io::stdout().lock();
    out.write_all(&script)?;
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}
