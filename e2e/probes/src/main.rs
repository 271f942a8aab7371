//! Compares a real server and the mock with the record: see `--help`.

use std::env;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use informer_probes::compare::compare;
use informer_probes::known::{KNOWN, Known};
use informer_probes::record::Record;
use informer_probes::{ProbeError, Subject, interview};

const USAGE: &str = "\
usage: probes [--mock] [--real KUBECONFIG [--forget COMMAND] [--record]]

Sends the requests of the table to the mock, and to a real server if there is one, and compares the
answers with recorded.json.

  --mock             use only the mock
  --real KUBECONFIG  use this server first; it must be a throw-away one, the objects stay there
  --forget COMMAND   a shell command that compacts etcd and restarts the API server;
                     without it, the requests about a forgotten history are skipped
  --record           write the real server's answers to recorded.json
  --help             print this

exit status: 0 if all answers equal the record, 1 if not, 2 for wrong usage";

/// All answers together take about twenty seconds.
const PATIENCE: Duration = Duration::from_secs(300);

#[derive(Default)]
struct Flags {
    real: Option<PathBuf>,
    forget: Option<String>,
    record: bool,
}

#[tokio::main]
async fn main() -> ExitCode {
    let flags = match parse(env::args().skip(1)) {
        Ok(Some(flags)) => flags,
        Ok(None) => return say(USAGE, ExitCode::SUCCESS),
        Err(sentence) => return say(&format!("probes: {sentence}"), ExitCode::from(2)),
    };
    match tokio::time::timeout(PATIENCE, run(flags)).await {
        Ok(Ok(true)) => ExitCode::SUCCESS,
        Ok(Ok(false)) => ExitCode::FAILURE,
        Ok(Err(error)) => say(&format!("probes: {error}"), ExitCode::FAILURE),
        Err(_) => say("probes: a server did not answer in time", ExitCode::FAILURE),
    }
}

/// Parses the command line; `None` for help. The error is one sentence for the user.
fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Option<Flags>, String> {
    let mut flags = Flags::default();
    while let Some(flag) = arguments.next() {
        let mut value = || {
            arguments
                .next()
                .ok_or_else(|| format!("{flag} needs a value"))
        };
        match flag.as_str() {
            "--help" | "-h" => return Ok(None),
            "--mock" => {}
            "--real" => flags.real = Some(value()?.into()),
            "--forget" => flags.forget = Some(value()?),
            "--record" => flags.record = true,
            _ => return Err(format!("unknown flag {flag}: see --help")),
        }
    }
    if flags.real.is_none() && (flags.record || flags.forget.is_some()) {
        return Err("--record and --forget need --real".to_owned());
    }
    if flags.record && flags.forget.is_none() {
        return Err("--record needs --forget, or the record would have gaps".to_owned());
    }
    Ok(Some(flags))
}

/// Sends the requests and compares. Returns whether everything is as recorded.
async fn run(flags: Flags) -> Result<bool, ProbeError> {
    let mut is_right = true;
    if let Some(kubeconfig) = flags.real {
        let is_partial = flags.forget.is_none();
        let real = Subject::real(&kubeconfig, flags.forget)?;
        let (server, answers) = interview(&real).await?;
        let mut answered = Record::new(server, answers);
        if flags.record {
            answered.write()?;
        }
        let mut record = Record::read()?;
        if is_partial {
            record
                .answers
                .retain(|question, _| answered.answers.contains_key(question));
        }
        // The record may come from another version.
        answered.server.clone_from(&record.server);
        is_right &= judge("the real server", &record, &answered, &[]);
    }
    let (server, answers) = interview(&Subject::mock().await?).await?;
    is_right &= judge(
        "the mock",
        &Record::read()?,
        &Record::new(server, answers),
        KNOWN,
    );
    Ok(is_right)
}

fn judge(who: &str, record: &Record, answered: &Record, known: &[Known]) -> bool {
    let findings = compare(&record.answers, &answered.answers, known);
    for difference in &findings.unknown {
        say(&difference.to_string(), ());
    }
    for entry in &findings.stale {
        say(&format!("obsolete entry: {entry:?}"), ());
    }
    let answers = answered.answers.len();
    let text = format!(
        "{who}: {answers} answers compared with those of {}: {} differences, {} known ones",
        record.server,
        findings.unknown.len(),
        findings.known,
    );
    say(&text, ());
    let passed = answers.saturating_sub(findings.unknown.len());
    let failed = findings.unknown.len() + findings.stale.len();
    say(&format!("{passed} passed, {failed} failed"), failed == 0)
}

/// Prints a text. If stdout is closed, the exit status still counts.
fn say<T>(text: &str, then: T) -> T {
    let _ = writeln!(io::stdout(), "{text}");
    then
}
