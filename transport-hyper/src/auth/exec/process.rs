//! A child process with bounded output, run time and children.

use std::io;
use std::process::ExitStatus;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::{Child, Command};
use tokio::time::timeout;
use zeroize::Zeroizing;

/// The most output to accept. A credential is a few KiB.
pub(super) const MAX_STDOUT: usize = 1 << 20;

/// How much of stderr to keep.
const MAX_STDERR: usize = 4 << 10;

/// How long to read the rest of the output after the process has ended. Only a child that has left the
/// process group can keep the pipes open longer.
const GRACE: Duration = Duration::from_secs(1);

/// The result of a process.
pub(super) struct Output {
    pub(super) status: ExitStatus,
    pub(super) stdout: Zeroizing<Vec<u8>>,
    /// The first part of stderr; empty if it went to the terminal.
    pub(super) stderr: Vec<u8>,
}

/// Why a process gave no output.
pub(super) enum ProcessError {
    NotRun(io::Error),
    /// The output is longer than [`MAX_STDOUT`].
    TooMuch,
}

/// Runs a command to its end.
///
/// When the future completes or is dropped, the process is killed. Without a terminal, so is everything
/// else in its process group.
pub(super) async fn run(mut command: Command, terminal: bool) -> Result<Output, ProcessError> {
    command.kill_on_drop(true);
    #[cfg(unix)]
    if !terminal {
        // Its own group, so that its children can be killed with it. With a terminal it stays in our
        // group, because a background group may not read from the terminal.
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
                // Ignore output that has not arrived by then.
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

/// Reads both pipes to the end. Too much on stdout is an error; excess on stderr is dropped.
async fn read(
    stdout: Option<impl AsyncRead + Unpin>,
    stderr: Option<impl AsyncRead + Unpin>,
    (printed, said): &mut (Zeroizing<Vec<u8>>, Vec<u8>),
) -> Result<(), ProcessError> {
    let stdout = async {
        let Some(stdout) = stdout else {
            return Ok(());
        };
        // Reserve everything up front: growing would leave copies of the secret in freed memory.
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

/// A process group that is killed on drop.
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

    /// Other systems have no process groups; there `kill_on_drop` ends only the process itself.
    #[cfg(not(unix))]
    const fn of(_child: &Child, _terminal: bool) -> Self {
        Self {}
    }

    #[cfg_attr(
        not(unix),
        expect(
            clippy::unused_self,
            clippy::needless_pass_by_ref_mut,
            reason = "no process groups there"
        )
    )]
    fn kill(&mut self) {
        // Only once: when the whole group has ended, its id may be reused.
        #[cfg(unix)]
        if let Some(leader) = self.leader.take() {
            // Fails if the whole group has ended already, which is fine.
            let _ = rustix::process::kill_process_group(leader, rustix::process::Signal::KILL);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}
