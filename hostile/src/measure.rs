//! Runs one mode: starts server and program, measures both, and turns the server good.

use std::error::Error;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use informer::informer_transport_hyper::HttpVersion;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::time::{Instant, sleep, sleep_until, timeout};

use crate::mode::{Mode, Over};
use crate::server::Server;
use crate::server::tls::Authorities;

/// The time limits of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    /// The beginning, in which a program may try more often.
    pub(crate) burst: Duration,
    /// The steady state, in which requests are counted.
    pub(crate) steady: Duration,
    /// How many programs run at the same time.
    pub(crate) side_by_side: usize,
}

impl Plan {
    pub(crate) const FULL: Self = Self {
        burst: Duration::from_secs(30),
        steady: Duration::from_secs(60),
        side_by_side: 48,
    };
    pub(crate) const QUICK: Self = Self {
        burst: Duration::from_secs(1),
        steady: Duration::ZERO,
        side_by_side: 96,
    };
}

/// A program is killed when its memory exceeds its bound by this much, to protect the machine.
const FATAL: u64 = 1 << 30;

/// How often a program's memory is read.
const LOOK: Duration = Duration::from_millis(250);

/// How long a program may take to report its status.
const PROMPT: Duration = Duration::from_secs(20);

/// The result of a mode.
pub(crate) struct Measured {
    pub(crate) mode: &'static Mode,
    /// The program's peak memory, in bytes.
    pub(crate) peak: u64,
    /// Requests in the beginning.
    pub(crate) burst: usize,
    /// Requests per minute in the steady state.
    pub(crate) per_minute: usize,
    /// The message that a user sees.
    pub(crate) message: String,
    /// How long the recovery took; `None` if it did not finish in time.
    pub(crate) recovered: Option<Duration>,
    /// Connections to the address that no client should contact.
    pub(crate) strays: usize,
}

/// Where the programs find the CA certificate.
pub(crate) struct Setting {
    pub(crate) authorities: Authorities,
    pub(crate) ca: String,
    pub(crate) plan: Plan,
}

pub(crate) async fn measure(
    mode: &'static Mode,
    setting: Arc<Setting>,
) -> Result<Measured, Box<dyn Error + Send + Sync>> {
    let server = Server::start(mode, &setting.authorities).await?;
    let mut program = Running::start(mode, &server, &setting.ca)?;
    let began = Instant::now();
    let middle = began + setting.plan.burst;
    let end = middle + setting.plan.steady;
    program.watch_until(end).await;
    let burst = server.scene.attempts(began, middle).len();
    let per_minute = rate(&server.scene.attempts(middle, end));
    let message = program.message(mode.says).await;
    server.turn_good();
    let recovered = program.ask("recover", mode.recovery + PROMPT).await;
    let seconds = recovered.and_then(|answer| answer.get("seconds")?.as_f64());
    program.look();
    let message = match message {
        _ if program.is_too_large => "killed: it used too much memory".to_owned(),
        None => "it no longer answers".to_owned(),
        Some(message) => message,
    };
    Ok(Measured {
        mode,
        peak: program.peak,
        burst,
        per_minute,
        message,
        recovered: seconds.map(Duration::from_secs_f64),
        strays: server.scene.strays(),
    })
}

/// This many requests are enough to compute a rate from their spacing,
const REGULAR: usize = 10;

/// if they span this much of the minute: from the first to the last of 20.
const REGULAR_SPAN: Duration = Duration::from_secs(57);

/// Requests per minute. A regular series is measured by its spacing, because a minute contains 20
/// or 21 requests that come every three seconds. Few requests are counted.
fn rate(times: &[Instant]) -> usize {
    let (Some(first), Some(last)) = (times.first(), times.last()) else {
        return 0;
    };
    if times.len() < REGULAR {
        return times.len();
    }
    let between = u32::try_from(times.len() - 1).unwrap_or(u32::MAX);
    let span = last.duration_since(*first).max(REGULAR_SPAN);
    let rate = f64::from(between) * 60.0 / span.as_secs_f64();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it saturates"
    )]
    let rounded = rate.round() as usize;
    rounded
}

/// A running program.
struct Running {
    child: Child,
    questions: ChildStdin,
    answers: Lines<BufReader<ChildStdout>>,
    peak: u64,
    is_too_large: bool,
}

impl Running {
    fn start(mode: &Mode, server: &Server, ca: &str) -> Result<Self, Box<dyn Error + Send + Sync>> {
        let scheme = match mode.over {
            Over::Tls(_) => "https",
            _ => "http",
        };
        let mut child = Command::new(std::env::current_exe()?)
            .arg("client")
            .arg(format!("{scheme}://{}", server.address))
            .arg(match http(mode.over) {
                HttpVersion::Http2 => "http2",
                _ => "negotiated",
            })
            .arg(ca)
            .arg(format!("{:?}", mode.program))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()?;
        let questions = child.stdin.take().ok_or("the program has no stdin")?;
        let answers = child.stdout.take().ok_or("the program has no stdout")?;
        Ok(Self {
            child,
            questions,
            answers: BufReader::new(answers).lines(),
            peak: 0,
            is_too_large: false,
        })
    }

    async fn watch_until(&mut self, end: Instant) {
        while Instant::now() < end {
            sleep_until(end.min(Instant::now() + LOOK)).await;
            self.look();
        }
    }

    /// Updates the peak memory.
    fn look(&mut self) {
        let status = self
            .child
            .id()
            .and_then(|id| std::fs::read_to_string(format!("/proc/{id}/status")).ok());
        let peak = status.and_then(|status| {
            let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
            let kilobytes = line?.trim().strip_suffix("kB")?.trim().parse::<u64>();
            Some(kilobytes.ok()? << 10)
        });
        self.peak = self.peak.max(peak.unwrap_or_default());
        if self.peak > FATAL && !self.is_too_large {
            self.is_too_large = true;
            // It may have ended by itself.
            let _ = self.child.start_kill();
        }
    }

    /// The message for its user. On a busy machine, wait until it contains `expected`.
    async fn message(&mut self, expected: &str) -> Option<String> {
        let until = Instant::now() + PROMPT;
        loop {
            let status = self.ask("status", PROMPT).await?;
            let message = status.get("message")?.as_str()?;
            if message.contains(expected) || Instant::now() >= until {
                return Some(message.to_owned());
            }
            sleep(LOOK).await;
        }
    }

    /// Its answer to a question; `None` if it does not answer in time.
    async fn ask(&mut self, question: &str, patience: Duration) -> Option<Value> {
        let question = format!("{question}\n");
        self.questions.write_all(question.as_bytes()).await.ok()?;
        let until = Instant::now() + patience;
        loop {
            let look = LOOK.min(until.duration_since(Instant::now()));
            match timeout(look, self.answers.next_line()).await {
                Ok(line) => return serde_json::from_str(&line.ok()??).ok(),
                Err(_) if Instant::now() >= until => return None,
                Err(_) => self.look(),
            }
        }
    }
}

const fn http(over: Over) -> HttpVersion {
    match over {
        Over::Http2 => HttpVersion::Http2,
        _ => HttpVersion::Negotiated,
    }
}

/// Modes that take this long start first.
const PATIENT: Duration = Duration::from_secs(100);

/// The distance in the table between modes that run at the same time.
const STRIDE: usize = 7;

/// Runs all these modes, many at a time, and reports each when it is done.
pub(crate) async fn measure_all(
    modes: Vec<&'static Mode>,
    setting: Setting,
    mut tell: impl FnMut(&Measured),
) -> Result<Vec<Measured>, Box<dyn Error + Send + Sync>> {
    let setting = Arc::new(setting);
    let mut running = tokio::task::JoinSet::new();
    let mut measured = Vec::new();
    // Neighbours in the table are alike. Spread them, so that those which load the machine do not
    // run at once.
    let mut modes: Vec<_> = modes.into_iter().enumerate().collect();
    modes.sort_by_key(|(place, mode)| (mode.recovery < PATIENT, place % STRIDE));
    let mut waiting = modes.into_iter();
    loop {
        while running.len() < setting.plan.side_by_side
            && let Some((place, mode)) = waiting.next()
        {
            let setting = Arc::clone(&setting);
            running.spawn(async move { (place, measure(mode, setting).await) });
            // Programs that start at the same moment would slow each other down.
            sleep(Duration::from_millis(30)).await;
        }
        let Some(done) = running.join_next().await else {
            break;
        };
        let (place, outcome) = done?;
        let outcome = outcome?;
        tell(&outcome);
        measured.push((place, outcome));
    }
    measured.sort_by_key(|(place, _)| *place);
    Ok(measured.into_iter().map(|(_, outcome)| outcome).collect())
}
