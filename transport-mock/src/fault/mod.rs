//! What can go wrong between a server and its clients, on purpose.

// What a fault does to a body.
pub(crate) mod body;

// Answers that no server means.
pub(crate) mod forged;

// Which request gets which fault.
mod plan;

use std::time::Duration;

pub use plan::FaultPlan;

/// What goes wrong with one request or its answer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Fault {
    /// Nobody listens at the address.
    Refuse,
    /// The server asks for patience: 429 with `Retry-After` in seconds.
    Throttle {
        /// So long.
        retry_after: u32,
    },
    /// The version or the page has expired: 410.
    Expire,
    /// The server fails: 500.
    Fail,
    /// The answer comes so much later than it was made.
    Delay(Duration),
    /// The connection breaks after so many bytes of the body, in the middle of whatever that is.
    Reset {
        /// So many.
        after: usize,
    },
    /// Nothing more comes after so many bytes of the body, and nobody says so.
    Stall {
        /// So many.
        after: usize,
    },
    /// A watch ends in good order after so many events, before its time.
    Close {
        /// So many.
        after: usize,
    },
    /// A watch sends no bookmarks but the one that ends a streamed list.
    DropBookmarks,
    /// A streamed list never says that it is complete.
    NoEndBookmark,
    /// One object cannot be read.
    Corrupt {
        /// Which one of the list or of the watch, from 0.
        nth: usize,
        /// Not even its name can be read.
        nameless: bool,
    },
    /// What may come twice comes twice: the objects of a streamed list, bookmarks.
    Duplicate,
    /// What has no order comes in another one: the objects of a list, streamed or not.
    Reorder {
        /// Which order.
        seed: u64,
    },
    /// A watch that goes on from a version brings one line and ends at once.
    Flicker(Line),
    /// A list has no objects, and always another page.
    EndlessPages {
        /// Its token is always the same.
        repeats: bool,
    },
}

/// What a watch brings before it ends at once.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Line {
    /// A bookmark at the version where the watch began.
    Bookmark,
    /// A bookmark at a version that the server does not accept.
    Garbage,
    /// A bookmark at a version of a hundred thousand digits.
    Long,
    /// An event of a type that nobody knows.
    Strange,
}

impl Fault {
    /// A word for it, for counting.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Refuse => "refuse",
            Self::Throttle { .. } => "throttle",
            Self::Expire => "expire",
            Self::Fail => "fail",
            Self::Delay(_) => "delay",
            Self::Reset { .. } => "reset",
            Self::Stall { .. } => "stall",
            Self::Close { .. } => "close",
            Self::DropBookmarks => "drop-bookmarks",
            Self::NoEndBookmark => "no-end-bookmark",
            Self::Corrupt { nameless: true, .. } => "corrupt-name",
            Self::Corrupt { .. } => "corrupt",
            Self::Duplicate => "duplicate",
            Self::Reorder { .. } => "reorder",
            Self::Flicker(Line::Bookmark) => "flicker-bookmark",
            Self::Flicker(Line::Garbage) => "flicker-garbage",
            Self::Flicker(Line::Long) => "flicker-long",
            Self::Flicker(Line::Strange) => "flicker-strange",
            Self::EndlessPages { repeats: false } => "endless-pages",
            Self::EndlessPages { repeats: true } => "repeated-page",
        }
    }
}
