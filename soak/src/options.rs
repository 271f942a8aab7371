//! The command line.

use std::time::Duration;

use informer_soak::run::Leak;

/// The text of `--help`.
pub(crate) const HELP: &str = "\
Starts and stops informers and handlers while a server misbehaves, and counts what they leak.

Usage: informer-soak [--minutes N] [--leak NAME]

  --minutes N  how long (default 5), after a warm-up of 20 s
  --leak NAME  leak something on purpose, to check the test: objects, task, file or memory
  --help       print this text

Exit codes: 0 no leaks, 1 leaks, 2 the test could not run.
";

/// The parsed command line.
#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) time: Duration,
    pub(crate) leak: Option<Leak>,
}

impl Options {
    /// Parses the arguments; `None` for `--help`.
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
                _ => return Err(format!("unknown flag {flag:?}; see --help")),
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
    fn minutes_and_leak_are_parsed() {
        let options = parse("--minutes 60 --leak task").unwrap().unwrap();
        assert_eq!(options.time, Duration::from_secs(3600));
        assert_eq!(options.leak, Some(Leak::Task));
        assert!(parse("--help").unwrap().is_none());
    }

    #[test]
    fn errors_name_the_wrong_argument() {
        for (line, complaint) in [
            ("--hours 1", "unknown flag \"--hours\""),
            ("--minutes", "--minutes needs a value"),
            ("--minutes 0", "--minutes needs a number from 1, not \"0\""),
            ("--leak gas", "unknown leak \"gas\"; use objects, task"),
        ] {
            assert!(parse(line).unwrap_err().contains(complaint), "{line}");
        }
    }
}
