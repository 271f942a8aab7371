//! What can be asked for.

use std::time::Duration;

use informer_soak::run::Leak;

/// The text of `--help`.
pub(crate) const HELP: &str = "\
Lets informers and handlers come and go while a server misbehaves, and counts what they leave behind.

Usage: informer-soak [--minutes N] [--leak NAME]

  --minutes N  how long (default 5), after a warm-up of 20 s
  --leak NAME  leaves something behind, to see whether it is noticed: objects, task, file or memory
  --help       this text

Exit codes: 0 nothing was left behind, 1 something was, 2 it could not be done.
";

/// What was asked for.
#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) time: Duration,
    pub(crate) leak: Option<Leak>,
}

impl Options {
    /// `None` if help was asked for.
    pub(crate) fn parse(args: impl Iterator<Item = String>) -> Result<Option<Self>, String> {
        let mut args = args;
        let (mut minutes, mut leak) = (5, None);
        while let Some(flag) = args.next() {
            let mut value = || {
                let value = args.next();
                value.ok_or_else(|| format!("{flag} needs a value; see --help"))
            };
            match flag.as_str() {
                "--help" | "-h" => return Ok(None),
                "--minutes" => {
                    let text = value()?;
                    let number: Option<u32> = text.parse().ok().filter(|minutes| *minutes > 0);
                    minutes = number
                        .ok_or_else(|| format!("--minutes needs a number from 1, not {text:?}"))?;
                }
                "--leak" => leak = Some(value()?.parse()?),
                _ => return Err(format!("there is no flag {flag:?}; see --help")),
            }
        }
        Ok(Some(Self {
            time: Duration::from_secs(60) * minutes,
            leak,
        }))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Option<Options>, String> {
        Options::parse(line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn an_hour_can_be_asked_for() {
        let options = parse("--minutes 60 --leak task").unwrap().unwrap();
        assert_eq!(options.time, Duration::from_secs(3600));
        assert_eq!(options.leak, Some(Leak::Task));
        assert!(parse("--help").unwrap().is_none());
    }

    #[test]
    fn what_makes_no_sense_is_said() {
        for (line, complaint) in [
            ("--hours 1", "there is no flag \"--hours\""),
            ("--minutes", "--minutes needs a value"),
            ("--minutes 0", "--minutes needs a number from 1, not \"0\""),
            (
                "--leak gas",
                "there is no leak \"gas\"; there are objects, task",
            ),
        ] {
            assert!(parse(line).unwrap_err().contains(complaint), "{line}");
        }
    }
}
