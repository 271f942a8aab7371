//! Deliberate bugs on the wire.

use super::tamper::Mutant;
use crate::fault::body::is_end_bookmark;
use crate::frame::{WatchEventType, WatchFrame};
use crate::random::Random;
use crate::wire::list_body::{items, key_of, with_items};
use crate::wire::tap::Tap;

/// Applies one mutant to what is sent.
#[derive(Debug)]
pub(super) struct TamperedWire {
    mutant: Mutant,
    random: Random,
    /// How many full states were requested.
    full_states: u64,
    /// Whether a full state is being streamed.
    is_streaming: bool,
    /// Whether to tamper with the next object.
    is_armed: bool,
    /// The last event, and the last deleted object.
    last: Option<WatchFrame>,
    deleted: Option<WatchFrame>,
}

impl TamperedWire {
    pub(super) const fn new(mutant: Mutant, random: Random) -> Self {
        Self {
            mutant,
            random,
            full_states: 0,
            is_streaming: false,
            is_armed: false,
            last: None,
            deleted: None,
        }
    }

    fn is_relist(&self) -> bool {
        self.full_states > 1 && self.is_armed
    }
}

impl Tap for TamperedWire {
    fn open(&mut self, target: &str) {
        let is_watch = target.contains("watch=true");
        let is_page = target.contains("continue=");
        self.is_streaming = target.contains("sendInitialEvents");
        self.full_states += u64::from(self.is_streaming || !(is_watch || is_page));
        self.is_armed = true;
        self.last = None;
    }

    fn frame(&mut self, frame: WatchFrame, out: &mut Vec<WatchFrame>) {
        let event = frame.event();
        let is_object = !matches!(event, WatchEventType::Bookmark | WatchEventType::Error);
        if event == WatchEventType::Bookmark && is_end_bookmark(&frame) {
            self.is_streaming = false;
        }
        if !is_object {
            out.push(frame);
            return;
        }
        let strikes = self.random.one_in(3);
        match self.mutant {
            Mutant::SkippedEvent if self.is_armed && self.full_states > 0 => {
                self.is_armed = self.is_streaming;
                if self.is_streaming {
                    out.push(frame);
                }
            }
            Mutant::ReorderedEvents if !self.is_streaming => {
                let last = self.last.replace(frame.clone());
                out.push(frame.clone());
                let is_same = |last: &WatchFrame| key_of(last.object()) == key_of(frame.object());
                if event == WatchEventType::Modified {
                    out.extend(last.filter(is_same));
                }
            }
            Mutant::ResurrectedObject if event == WatchEventType::Deleted && strikes => {
                let ghost = frame.with_event(WatchEventType::Added);
                out.push(frame);
                out.push(ghost);
            }
            Mutant::LostItem if self.is_streaming && self.is_relist() => self.is_armed = false,
            Mutant::LostDeleteAtRelist => {
                if self.is_streaming && self.is_relist() {
                    self.is_armed = false;
                    let ghost = self.deleted.take();
                    out.extend(ghost.map(|frame| frame.with_event(WatchEventType::Added)));
                }
                if event == WatchEventType::Deleted {
                    self.deleted = Some(frame.clone());
                }
                out.push(frame);
            }
            _ => out.push(frame),
        }
    }

    fn list(&mut self, body: &mut Vec<u8>) {
        if !self.is_relist() {
            return;
        }
        let mut items = items(body);
        match self.mutant {
            Mutant::LostItem if !items.is_empty() => {
                items.remove(0);
            }
            Mutant::LostDeleteAtRelist => {
                items.extend(self.deleted.as_ref().map(WatchFrame::object));
            }
            _ => return,
        }
        *body = with_items(body, &items);
    }
}
