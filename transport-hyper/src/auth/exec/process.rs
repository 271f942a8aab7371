//! A process whose output, time and offspring are bounded.

use std::io;
use std::process::ExitStatus;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::{Child, Command};
use tokio::time::timeout;
use zeroize::Zeroizing;

/// A credential is a few KiB; nothing that is longer than this is one.
pub(super) const MAX_STDOUT: usize = 1 << 20;

/// So much is kept of what a process complains of.
const MAX_STDERR: usize = 4 << 10;

/// How long we look for the rest of the output after a process has ended. Only somebody who has left
/// its process group can hold the pipes open for so long.
const GRACE: Duration = Duration::from_secs(1);

/// What a process left behind.
pub(super) struct Output {
    pub(super) status: ExitStatus,
    pub(super) stdout: Zeroizing<Vec<u8>>,
    /// The beginning of it; empty if it went to the terminal.
    pub(super) stderr: Vec<u8>,
}

/// Why there is no output.
pub(super) enum ProcessError {
    NotRun(io::Error),
    /// It printed more than [`MAX_STDOUT`].
    TooMuch,
}

/// Runs a command to its end. When this ends, or is dropped, so do the process and, unless it has the
/// terminal, all that it has started and that is still in its process group.
pub(super) async fn run(mut command: Command, terminal: bool) -> Result<Output, ProcessError> {
    command.kill_on_drop(true);
    #[cfg(unix)]
    if !terminal {
        // A group of its own, so that it can be ended with its children. With a terminal it stays in
        // ours: another group may not read from the terminal.
        command.process_group(0);
    }
    let mut child = command.spawn().map_err(ProcessError::NotRun)?;
    let mut group = Group::of(&child, terminal);
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let mut output = (Zeroizing::new(Vec::new()), Vec::new());
    let status = {
        let mut reading = std::pin::pin!(read(stdout, stderr, &mut output));
        tokio::select! {
            status = child.wait() => {
                group.kill();
                // Whatever has not come until then is nobody's.
                if let Ok(read) = timeout(GRACE, reading).await {
                    read?;
                }
                status
            }
            read = &mut reading => {
                read?;
                child.wait().await
            }
        }
    };
    let (stdout, stderr) = output;
    Ok(Output {
        status: status.map_err(ProcessError::NotRun)?,
        stdout,
        stderr,
    })
}

/// Reads both pipes to their ends; too much of the first is an error, too much of the second is dropped.
async fn read(
    stdout: Option<impl AsyncRead + Unpin>,
    stderr: Option<impl AsyncRead + Unpin>,
    (printed, said): &mut (Zeroizing<Vec<u8>>, Vec<u8>),
) -> Result<(), ProcessError> {
    let stdout = async {
        let Some(stdout) = stdout else {
            return Ok(());
        };
        // Room for all of it from the start: a text that moves leaves copies of itself behind.
        printed.reserve_exact(MAX_STDOUT);
        let limit = u64::try_from(MAX_STDOUT).unwrap_or(u64::MAX);
        let mut stdout = stdout.take(limit);
        stdout
            .read_to_end(printed)
            .await
            .map_err(ProcessError::NotRun)?;
        match stdout.into_inner().read_u8().await {
            Ok(_) => Err(ProcessError::TooMuch),
            Err(_) => Ok(()),
        }
    };
    let stderr = async {
        let Some(mut stderr) = stderr else {
            return Ok(());
        };
        let mut piece = [0; 4096];
        while let Ok(count @ 1..) = stderr.read(&mut piece).await {
            let room = MAX_STDERR - said.len();
            said.extend_from_slice(piece.get(..count.min(room)).unwrap_or_default());
        }
        Ok(())
    };
    tokio::try_join!(stdout, stderr).map(drop)
}

/// A process and its offspring, ended at the latest when this is dropped.
struct Group {
    #[cfg(unix)]
    leader: Option<rustix::process::Pid>,
}

impl Group {
    #[cfg(unix)]
    fn of(child: &Child, terminal: bool) -> Self {
        let id = child.id().filter(|_| !terminal);
        let id = id.and_then(|id| i32::try_from(id).ok());
        Self {
            leader: id.and_then(rustix::process::Pid::from_raw),
        }
    }

    /// Elsewhere there are no process groups; `kill_on_drop` ends the process itself.
    #[cfg(not(unix))]
    const fn of(_child: &Child, _terminal: bool) -> Self {
        Self {}
    }

    #[cfg_attr(
        not(unix),
        expect(
            clippy::unused_self,
            clippy::needless_pass_by_ref_mut,
            reason = "no groups there"
        )
    )]
    fn kill(&mut self) {
        // Once only: when all of them have ended, the system may give the number to others.
        #[cfg(unix)]
        if let Some(leader) = self.leader.take() {
            // If all have ended already, there is nothing to do.
            let _ = rustix::process::kill_process_group(leader, rustix::process::Signal::KILL);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}
