//! Facts learned about the server.

/// Facts learned about the server. They hold for the life of the reflector, across full states. Only
/// an answered watch clears one of them.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Server {
    /// The server has no cache: it answered a list at version 0 in pages. Ask for pages from now on.
    pub(super) pages_always: bool,
    /// Its pages never end. Ask for lists in one piece.
    pub(super) never_pages: bool,
    /// It does not send the end bookmark of a streamed state. Ask for lists instead.
    pub(super) never_streams: bool,
    /// The server, or a proxy in front of it, broke a watch without an answer, and no watch has been
    /// answered since.
    pub(super) unanswered: bool,
}
