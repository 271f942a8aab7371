//! A hook that may change what is sent.

use crate::frame::WatchFrame;

/// Sees everything that an answer sends, and may change it. The default methods change nothing.
pub(crate) trait Tap: Send {
    /// Called for each request, with its path and query.
    fn open(&mut self, _target: &str) {}

    /// Called for each watch event. The frames in `out` are sent instead.
    fn frame(&mut self, frame: WatchFrame, out: &mut Vec<WatchFrame>) {
        out.push(frame);
    }

    /// Called for each list.
    fn list(&mut self, _body: &mut Vec<u8>) {}
}
