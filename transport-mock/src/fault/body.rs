//! The effect of a fault on a body.

use crate::fault::Fault;
use crate::frame::{WatchEventType, WatchFrame};
use crate::random::Random;
use crate::wire::list_body::{corrupted, items, key_of, with_items};
use crate::wire::tap::Tap;

/// A fault that changes the body of an answer.
#[derive(Debug)]
pub(crate) struct BodyFault {
    fault: Fault,
    /// How many objects have passed.
    objects: usize,
    /// Objects of a streamed list, held back until its end.
    held: Vec<WatchFrame>,
    is_initial: bool,
    /// It has had an effect that is not counted yet.
    has_struck: bool,
    /// Key of the object that was made unreadable.
    corrupted: Option<String>,
}

impl BodyFault {
    /// `is_initial`: the answer is a watch that begins with the state.
    pub(crate) const fn new(fault: Fault, is_initial: bool) -> Self {
        Self {
            fault,
            objects: 0,
            held: Vec::new(),
            is_initial,
            has_struck: false,
            corrupted: None,
        }
    }

    /// Whether it has had an effect since the last call.
    pub(crate) const fn take_struck(&mut self) -> bool {
        std::mem::replace(&mut self.has_struck, false)
    }

    /// Takes the key of the object that was made unreadable.
    pub(crate) const fn take_corrupted(&mut self) -> Option<String> {
        self.corrupted.take()
    }

    fn corrupt(&mut self, object: &[u8], nameless: bool) -> Vec<u8> {
        self.has_struck = true;
        self.corrupted = key_of(object);
        corrupted(object, nameless)
    }

    /// The state is complete: sends what was held back, in another order.
    fn release(&mut self, seed: u64, out: &mut Vec<WatchFrame>) {
        self.has_struck |= self.held.len() > 1;
        Random::new(seed).shuffle(&mut self.held);
        out.append(&mut self.held);
    }
}

impl Tap for BodyFault {
    fn frame(&mut self, frame: WatchFrame, out: &mut Vec<WatchFrame>) {
        let is_bookmark = frame.event() == WatchEventType::Bookmark;
        let is_end = is_bookmark && is_end_bookmark(&frame);
        let is_object = !is_bookmark && frame.event() != WatchEventType::Error;
        let nth = self.objects;
        self.objects += usize::from(is_object);
        match self.fault {
            Fault::DropBookmarks if is_bookmark && !is_end => self.has_struck = true,
            Fault::NoEndBookmark if is_end => self.has_struck = true,
            Fault::Corrupt { nth: at, nameless } if is_object && nth == at => {
                let object = self.corrupt(frame.object(), nameless);
                out.push(frame.with_object(object));
            }
            Fault::Duplicate if is_bookmark || (is_object && self.is_initial) => {
                self.has_struck = true;
                out.push(frame.clone());
                out.push(frame);
            }
            Fault::Reorder { seed } if self.is_initial => {
                if is_object {
                    self.held.push(frame);
                } else {
                    self.release(seed, out);
                    out.push(frame);
                }
            }
            _ => out.push(frame),
        }
        if is_end {
            self.is_initial = false;
        }
    }

    fn list(&mut self, body: &mut Vec<u8>) {
        let items = items(body);
        let changed = match self.fault {
            Fault::Corrupt { nth, nameless } => {
                let Some(item) = items.get(nth) else { return };
                let bad = self.corrupt(item, nameless);
                let mut items = items;
                if let Some(place) = items.get_mut(nth) {
                    *place = &bad;
                }
                with_items(body, &items)
            }
            Fault::Reorder { seed } if items.len() > 1 => {
                self.has_struck = true;
                let mut items = items;
                Random::new(seed).shuffle(&mut items);
                with_items(body, &items)
            }
            _ => return,
        };
        *body = changed;
    }
}

/// Whether a frame is the bookmark that ends a streamed list.
pub(crate) fn is_end_bookmark(frame: &WatchFrame) -> bool {
    let mark = b"k8s.io/initial-events-end";
    frame
        .object()
        .windows(mark.len())
        .any(|window| window == mark)
}
