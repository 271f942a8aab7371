//! How far the current attempt has come.

/// The current attempt: to read a full state, however many requests that takes, and to follow the
/// changes from there. It ends when only another full state can help.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Attempt {
    /// Its full state has been read.
    live: bool,
    /// A watch has been answered, and nothing has failed since.
    following: bool,
    /// What is asked for must be the newest: the server does not have the version that is known, or a
    /// state was used in part. Until the full state has been read.
    newest_only: bool,
    /// A streamed state broke. Until the full state has been read.
    stream_broke: bool,
    /// A streamed state was ended by the server without being announced as complete, though there was
    /// time. Until the full state has been read.
    unannounced: bool,
}

impl Attempt {
    /// The full state has been read completely.
    pub(super) const fn completed(&mut self) {
        *self = Self {
            live: true,
            following: self.following,
            newest_only: false,
            stream_broke: false,
            unannounced: false,
        };
    }

    /// The watch has begun: the changes reach us.
    pub(super) const fn watch_began(&mut self) {
        self.following = true;
    }

    /// Something failed. What has been read stays good.
    pub(super) const fn failed(&mut self) {
        self.following = false;
    }

    /// Only another full state can help. What is known of the requests for it is kept.
    pub(super) const fn given_up(&mut self) {
        self.live = false;
    }

    /// Nothing but the newest state is good enough from here on.
    pub(super) const fn needs_newest(&mut self) {
        self.newest_only = true;
    }

    /// A streamed state broke. Says whether it was the first one.
    pub(super) const fn stream_broke(&mut self) -> bool {
        !core::mem::replace(&mut self.stream_broke, true)
    }

    /// A streamed state ended unannounced. Says whether it was the first one.
    pub(super) const fn ended_unannounced(&mut self) -> bool {
        !core::mem::replace(&mut self.unannounced, true)
    }

    /// Whether the full state has been read.
    pub(super) const fn is_live(&self) -> bool {
        self.live
    }

    /// Whether the changes reach us now.
    pub(super) const fn is_following(&self) -> bool {
        self.following
    }

    /// Whether to ask for the newest state.
    pub(super) const fn is_newest_only(&self) -> bool {
        self.newest_only
    }
}
