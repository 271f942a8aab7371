//! What has been learned about the server.

/// What has been learned about the server. It holds for as long as the reflector lives, whatever full
/// states are read meanwhile; only an answered watch takes something back.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Server {
    /// It has no cache: a list of whatever it had at hand came in pages.
    pages_always: bool,
    /// Its pages have no end.
    never_pages: bool,
    /// It does not announce the end of a streamed state.
    never_streams: bool,
    /// It, or something before it, broke a watch without an answer, and has answered none since.
    unanswered: bool,
}

impl Server {
    /// A list of whatever it had at hand came in pages.
    pub(super) const fn paged_its_cache(&mut self) {
        self.pages_always = true;
    }

    /// A list had no end of pages. Says whether that is news.
    pub(super) const fn paged_without_end(&mut self) -> bool {
        !core::mem::replace(&mut self.never_pages, true)
    }

    /// A streamed state was not announced as complete, though there was time.
    pub(super) const fn streamed_without_end(&mut self) {
        self.never_streams = true;
    }

    /// A watch broke before it was answered. Says whether that is news: then it may have been the
    /// connection.
    pub(super) const fn left_unanswered(&mut self) -> bool {
        !core::mem::replace(&mut self.unanswered, true)
    }

    /// A watch was answered, or a streamed state, which is one.
    pub(super) const fn answered(&mut self) {
        self.unanswered = false;
    }

    /// Whether to ask for pages even where it should have the state at hand.
    pub(super) const fn pages_always(&self) -> bool {
        self.pages_always
    }

    /// Whether to ask for lists in one piece.
    pub(super) const fn never_pages(&self) -> bool {
        self.never_pages
    }

    /// Whether to ask for lists instead of streamed states.
    pub(super) const fn never_streams(&self) -> bool {
        self.never_streams
    }
}
