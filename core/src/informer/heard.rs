//! What the server has sent, and when.

use super::status::Counts;
use crate::flow::Fact;
use crate::object::Resource;
use crate::time::Instant;

/// What the server has sent, and when.
#[derive(Clone, Copy, Default)]
pub(super) struct Heard {
    pub(super) last_byte: Option<Instant>,
    pub(super) last_event: Option<Instant>,
    pub(super) last_bookmark: Option<Instant>,
    /// When the server last sent something other than a failure.
    pub(super) last_fact: Option<Instant>,
    pub(super) counts: Counts,
}

impl Heard {
    /// Notes a fact that is not a failure.
    pub(super) fn note<T: Resource>(&mut self, fact: &Fact<'_, T>, now: Instant) {
        self.last_fact = Some(now);
        match fact {
            Fact::Bookmark { .. } | Fact::InitialEnd { .. } => {
                self.counts.bookmarks += 1;
                self.last_bookmark = Some(now);
            }
            Fact::Item(_) | Fact::Added(_) | Fact::Modified(_) | Fact::Deleted(_) => {
                self.counts.objects += 1;
                self.last_event = Some(now);
            }
            Fact::Opened
            | Fact::Rejected(_)
            | Fact::PageEnd { .. }
            | Fact::Closed
            | Fact::Failed { .. } => {}
        }
    }
}
