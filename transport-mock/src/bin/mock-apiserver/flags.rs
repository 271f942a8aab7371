//! The command line.

use std::num::NonZeroU32;
use std::path::PathBuf;

pub(crate) const USAGE: &str = "\
usage: mock-apiserver [--port P] [--tls] [--pods N] [--churn R] [--token T] [--faults FILE]

Serves an in-memory Kubernetes API on 127.0.0.1 until Ctrl-C, and prints its address and the path of
a kubeconfig. Only you can read that file; it is deleted at exit. At most 1,024 connections are open
at a time. A connection without a request is closed after 30 s.

  --port P       listen on port P; 0, the default, means any free port
  --tls          use TLS, with a newly generated certificate
  --pods N       start with N pods in the namespace default
  --churn R      create, update and delete about R pods per second
  --token T      refuse requests without the bearer token T; kubectl sends it only with --tls
  --faults FILE  inject the faults in FILE, one per line:
                   after N requests|events, or at 250ms|5s, followed by
                   refuse N CODE, reset, stall, delay TIME, expire, compact, restart or
                   drop-bookmarks
  --help         print this

exit status: 0 after Ctrl-C, 1 if it cannot serve, 2 for wrong usage";

/// The parsed command line.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Flags {
    pub(crate) help: bool,
    pub(crate) port: u16,
    pub(crate) tls: bool,
    pub(crate) pods: usize,
    pub(crate) churn: Option<NonZeroU32>,
    pub(crate) token: Option<String>,
    pub(crate) faults: Option<PathBuf>,
}

impl Flags {
    /// Parses the arguments. The error is one sentence for the user.
    pub(crate) fn parse(arguments: impl IntoIterator<Item = String>) -> Result<Self, String> {
        let mut flags = Self::default();
        let mut arguments = arguments.into_iter();
        while let Some(flag) = arguments.next() {
            let mut value = |what: &str| {
                let value = arguments.next();
                value.ok_or_else(|| format!("{flag} needs {what}"))
            };
            match flag.as_str() {
                "--help" | "-h" => flags.help = true,
                "--tls" => flags.tls = true,
                "--port" => flags.port = number(&flag, &value("a port")?, "a port (0 to 65535)")?,
                "--pods" => flags.pods = number(&flag, &value("a number")?, "a number of pods")?,
                "--churn" => {
                    let rate = value("a number")?;
                    let rate = number(&flag, &rate, "a number of changes per second")?;
                    flags.churn = NonZeroU32::new(rate);
                }
                "--token" => flags.token = Some(value("a token")?),
                "--faults" => flags.faults = Some(value("a file")?.into()),
                _ => return Err(format!("unknown flag {flag}: see --help")),
            }
        }
        Ok(flags)
    }
}

fn number<N: std::str::FromStr>(flag: &str, text: &str, what: &str) -> Result<N, String> {
    text.parse()
        .map_err(|_| format!("{flag} needs {what}, not {text:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Flags, String> {
        Flags::parse(line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn every_flag() {
        let flags = parse("--port 8080 --tls --pods 5 --churn 7 --token t --faults f").unwrap();
        let expected = Flags {
            help: false,
            port: 8080,
            tls: true,
            pods: 5,
            churn: NonZeroU32::new(7),
            token: Some("t".to_owned()),
            faults: Some("f".into()),
        };
        assert_eq!(flags, expected);
        assert_eq!(parse(""), Ok(Flags::default()));
        assert_eq!(parse("--churn 0"), Ok(Flags::default()));
        assert!(parse("--port 1 -h").unwrap().help);
    }

    #[test]
    fn mistakes_are_named() {
        for (line, error) in [
            ("--prot 1", "unknown flag --prot: see --help"),
            ("8080", "unknown flag 8080: see --help"),
            ("--port", "--port needs a port"),
            (
                "--port 70000",
                "--port needs a port (0 to 65535), not \"70000\"",
            ),
            ("--pods -1", "--pods needs a number of pods, not \"-1\""),
            (
                "--churn x",
                "--churn needs a number of changes per second, not \"x\"",
            ),
            ("--token", "--token needs a token"),
            ("--faults", "--faults needs a file"),
        ] {
            assert_eq!(parse(line), Err(error.to_owned()));
        }
    }
}
