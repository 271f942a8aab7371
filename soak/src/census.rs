//! Counts of what is alive.

use std::fmt;

use tokio::runtime::Handle;

use crate::counted;

/// Growth up to this, in KiB, is noise: allocators keep freed memory.
const NOISE: usize = 16 << 10;

/// What is alive in this process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Census {
    /// Kubernetes objects.
    pub objects: usize,
    /// Tasks of the runtime.
    pub tasks: usize,
    /// Open files and sockets; 0 if the system does not report them.
    pub files: usize,
    /// Resident memory in KiB; 0 if the system does not report it.
    pub memory: usize,
}

impl Census {
    /// Counts, inside a runtime.
    #[must_use]
    pub fn take() -> Self {
        // The folder itself is open while it is read.
        let files = std::fs::read_dir("/proc/self/fd").map_or(0, |files| files.count() - 1);
        let pages = std::fs::read_to_string("/proc/self/statm").ok();
        let pages = pages.and_then(|text| text.split_whitespace().nth(1)?.parse::<usize>().ok());
        Self {
            objects: counted::alive(),
            tasks: Handle::current().metrics().num_alive_tasks(),
            files,
            memory: pages.unwrap_or_default() * 4,
        }
    }

    /// The counts that have grown since `before`.
    #[must_use]
    pub fn leaks_since(&self, before: &Self) -> Vec<String> {
        let rows = [
            ("live objects", self.objects, before.objects, 0),
            ("tasks", self.tasks, before.tasks, 0),
            ("file descriptors", self.files, before.files, 0),
            ("KiB of memory", self.memory, before.memory, NOISE),
        ];
        let leaked = rows
            .into_iter()
            .filter(|(_, now, then, noise)| *now > then + noise);
        leaked
            .map(|(what, now, then, _)| format!("{now} {what}, before {then}"))
            .collect()
    }
}

impl fmt::Display for Census {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            objects,
            tasks,
            files,
            memory,
        } = self;
        let memory = memory / 1024;
        write!(
            f,
            "{objects} objects, {tasks} tasks, {files} files, {memory} MiB"
        )
    }
}
