//! The command line.

use std::ops::RangeFrom;
use std::path::PathBuf;
use std::time::Duration;

use informer_fuzz::{TARGETS, Target};

/// The text of `--help`, without the names of the targets.
pub(crate) const HELP: &str = "\
Mutates a corpus and checks what our parsers make of it.

Usage: informer-fuzz [--seconds N] [--seeds A..B] [TARGET…]
       informer-fuzz --replay FILE [TARGET]

  --seconds N    how long to run, shared by all targets (default 60; no limit if --seeds has an end)
  --seeds A..B   the seeds to run for each target, without B; A.. has no end (default 0..)
  --replay FILE  run one input; its folder names the target, unless TARGET is given
  --help         print this text

The same seed gives the same input from the same corpus. A finding is shrunk and written to
fuzz/findings/TARGET/; when it is fixed, move it to fuzz/fixtures/TARGET/.
Exit codes: 0 nothing found, 1 something found, 2 wrong usage.

Targets:";

/// What to do.
#[derive(Debug)]
pub(crate) enum Task {
    Help,
    Replay { file: PathBuf, target: Target },
    Run(Run),
}

/// What to run, and for how long.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) targets: Vec<Target>,
    pub(crate) from: u64,
    /// Exclusive.
    pub(crate) to: Option<u64>,
    pub(crate) time: Option<Duration>,
}

impl Task {
    pub(crate) fn parse(args: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut args = args;
        let (mut seconds, mut seeds, mut replay) = (None, (0.., None), None);
        let mut targets = Vec::new();
        while let Some(arg) = args.next() {
            let mut value = || {
                let value = args.next();
                value.ok_or_else(|| format!("{arg} needs a value; see --help"))
            };
            match arg.as_str() {
                "--help" | "-h" => return Ok(Self::Help),
                "--seconds" => seconds = Some(number(&arg, &value()?)?),
                "--seeds" => seeds = seeds_of(&value()?)?,
                "--replay" => replay = Some(PathBuf::from(value()?)),
                flag if flag.starts_with('-') => {
                    return Err(format!("unknown flag {flag:?}; see --help"));
                }
                name => targets.push(named(name)?),
            }
        }
        if let Some(file) = replay {
            let target = match targets.as_slice() {
                [] => target_of(&file)?,
                [target] => *target,
                _ => return Err("--replay takes one target".to_owned()),
            };
            return Ok(Self::Replay { file, target });
        }
        if targets.is_empty() {
            targets = TARGETS.to_vec();
        }
        let (RangeFrom { start: from }, to) = seeds;
        let seconds = seconds.or_else(|| to.is_none().then_some(60));
        Ok(Self::Run(Run {
            targets,
            from,
            to,
            time: seconds.map(Duration::from_secs),
        }))
    }
}

fn named(name: &str) -> Result<Target, String> {
    Target::named(name).ok_or_else(|| {
        let names: Vec<_> = TARGETS.iter().map(|target| target.name).collect();
        format!("unknown target {name:?}; use one of {}", names.join(", "))
    })
}

/// The folder of an input has the name of its target.
fn target_of(file: &std::path::Path) -> Result<Target, String> {
    let folder = file.parent().and_then(|folder| folder.file_name());
    let target = folder.and_then(|name| Target::named(&name.to_string_lossy()));
    target.ok_or_else(|| {
        format!(
            "the folder of {} names no target; add a TARGET",
            file.display()
        )
    })
}

fn number(what: &str, text: &str) -> Result<u64, String> {
    text.parse()
        .map_err(|_| format!("{what} needs a number, not {text:?}"))
}

fn seeds_of(text: &str) -> Result<(RangeFrom<u64>, Option<u64>), String> {
    let wrong = || format!("--seeds needs a range such as 0..1000 or 5000.., not {text:?}");
    let (from, to) = text.split_once("..").ok_or_else(wrong)?;
    let from: u64 = from.parse().map_err(|_| wrong())?;
    let to = match to {
        "" => None,
        to => Some(to.parse().map_err(|_| wrong())?),
    };
    if to.is_some_and(|to| to <= from) {
        return Err(wrong());
    }
    Ok((from.., to))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, reason = "tests")]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Task, String> {
        Task::parse(line.split_whitespace().map(str::to_owned))
    }

    fn run(line: &str) -> Run {
        match parse(line) {
            Ok(Task::Run(run)) => run,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn without_flags_everything_runs_for_a_minute() {
        let all = run("");
        assert_eq!(all.targets.len(), TARGETS.len());
        assert_eq!((all.from, all.to), (0, None));
        assert_eq!(all.time, Some(Duration::from_secs(60)));
        let some = run("--seeds 5..9 gzip");
        assert_eq!((some.from, some.to, some.time), (5, Some(9), None));
        assert_eq!(some.targets.first().unwrap().name, "gzip");
        assert_eq!(run("--seeds 7..").time, Some(Duration::from_secs(60)));
    }

    #[test]
    fn the_folder_of_a_file_names_its_target() {
        let Ok(Task::Replay { target, .. }) = parse("--replay fixtures/exec/a") else {
            panic!();
        };
        assert_eq!(target.name, "exec");
        assert!(parse("--replay a").unwrap_err().contains("names no target"));
        assert!(matches!(parse("--replay a exec"), Ok(Task::Replay { .. })));
    }

    #[test]
    fn errors_name_the_wrong_argument() {
        for (line, complaint) in [
            ("--second 5", "unknown flag \"--second\""),
            ("--seconds", "--seconds needs a value"),
            ("--seconds x", "--seconds needs a number, not \"x\""),
            ("--seeds 5", "needs a range"),
            ("--seeds 5..5", "needs a range"),
            ("gunzip", "unknown target \"gunzip\"; use one of signals, "),
            ("--replay f exec gzip", "--replay takes one target"),
        ] {
            let error = parse(line).unwrap_err();
            assert!(error.contains(complaint), "{error}");
        }
    }
}
