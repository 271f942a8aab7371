//! A place where what is sent can be changed.

use crate::frame::WatchFrame;

/// Sees everything that an answer sends and may change it. Left alone, it changes nothing.
pub(crate) trait Tap: Send {
    /// A request was sent, and this is its path and query.
    fn open(&mut self, _target: &str) {}

    /// A watch sends `frame`; what is in `out` afterwards is sent instead.
    fn frame(&mut self, frame: WatchFrame, out: &mut Vec<WatchFrame>) {
        out.push(frame);
    }

    /// A list is sent.
    fn list(&mut self, _body: &mut Vec<u8>) {}
}
