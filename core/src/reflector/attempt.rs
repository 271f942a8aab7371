//! Progress of the current attempt.

/// Progress of the current attempt: read a full state, with as many requests as it takes, then follow
/// the changes. An attempt ends when only another full state can help.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Attempt {
    /// The full state has been read.
    pub(super) live: bool,
    /// A watch has been answered, and nothing has failed since.
    pub(super) following: bool,
    /// The next request must ask for the newest state: the server does not have the known version, or
    /// a state was used in part. Holds until a full state has been read.
    pub(super) newest_only: bool,
    /// A streamed state broke. Holds until a full state has been read.
    stream_broke: bool,
    /// The server closed a streamed state without its end bookmark, although it had the time to send
    /// one. Holds until a full state has been read.
    unannounced: bool,
}

impl Attempt {
    /// Records that the full state has been read completely.
    pub(super) fn complete(&mut self) {
        *self = Self {
            live: true,
            following: self.following,
            ..Self::default()
        };
    }

    /// Records that the changes are no longer followed. What is known of the next full state stays.
    pub(super) fn suspend(&mut self) {
        *self = Self {
            newest_only: self.newest_only,
            ..Self::default()
        };
    }

    /// Records that a streamed state broke. Returns whether it is the first time.
    pub(super) const fn stream_broke(&mut self) -> bool {
        !core::mem::replace(&mut self.stream_broke, true)
    }

    /// Records that a streamed state was closed without its end bookmark. Returns whether it is the
    /// first time.
    pub(super) const fn ended_unannounced(&mut self) -> bool {
        !core::mem::replace(&mut self.unannounced, true)
    }
}
