//! Which request gets which fault.

use std::collections::VecDeque;
use std::time::Duration;

use crate::fault::{Fault, Line};
use crate::random::Random;

/// Which request gets which fault: as written down, drawn from a seed, or always the same.
///
/// ```
/// use informer_transport_mock::fault::{Fault, FaultPlan};
///
/// // The first request is answered, the second is refused, all others are answered.
/// let _script = FaultPlan::script([None, Some(Fault::Refuse)]);
/// // One request in five meets a fault.
/// let _drawn = FaultPlan::drawn(42, 5);
/// // All of them meet the same.
/// let _always = FaultPlan::always(Fault::Fail);
/// ```
#[derive(Clone, Debug)]
pub struct FaultPlan {
    script: VecDeque<Option<Fault>>,
    drawn: Option<(Random, u64)>,
    always: Option<Fault>,
}

impl FaultPlan {
    /// Nothing goes wrong.
    #[must_use]
    pub const fn none() -> Self {
        Self {
            script: VecDeque::new(),
            drawn: None,
            always: None,
        }
    }

    /// What happens to the next requests, in the order in which they come.
    #[must_use]
    pub fn script(faults: impl IntoIterator<Item = Option<Fault>>) -> Self {
        Self {
            script: faults.into_iter().collect(),
            ..Self::none()
        }
    }

    /// Every fault may happen; one request in `one_in` meets one.
    #[must_use]
    pub const fn drawn(seed: u64, one_in: u64) -> Self {
        Self {
            script: VecDeque::new(),
            drawn: Some((Random::new(seed), one_in)),
            always: None,
        }
    }

    /// Every request meets this fault.
    #[must_use]
    pub const fn always(fault: Fault) -> Self {
        Self {
            script: VecDeque::new(),
            drawn: None,
            always: Some(fault),
        }
    }

    /// Every request meets the same fault, whichever the seed chooses.
    #[must_use]
    pub fn stuck(seed: u64) -> Self {
        Self::always(draw(&mut Random::new(seed)))
    }

    /// The next request without a fault of its own gets this one.
    pub fn push(&mut self, fault: Fault) {
        self.script.push_back(Some(fault));
    }

    /// The fault of a request that comes now.
    pub(crate) fn next(&mut self) -> Option<Fault> {
        if let Some(fault) = self.script.pop_front() {
            return fault;
        }
        let Some((random, one_in)) = self.drawn.as_mut() else {
            return self.always;
        };
        random.one_in(*one_in).then(|| draw(random))
    }
}

impl Default for FaultPlan {
    fn default() -> Self {
        Self::none()
    }
}

fn draw(random: &mut Random) -> Fault {
    match random.below(20) {
        0 => Fault::Refuse,
        1 => Fault::Throttle {
            retry_after: u32::try_from(random.below(20)).unwrap_or(0),
        },
        2 => Fault::Expire,
        3 => Fault::Fail,
        4 => Fault::Delay(Duration::from_millis(random.below(20_000))),
        5 => Fault::Reset {
            after: random.index(4_000),
        },
        6 => Fault::Stall {
            after: random.index(4_000),
        },
        7 => Fault::Close {
            after: random.index(8),
        },
        8 => Fault::DropBookmarks,
        9 => Fault::NoEndBookmark,
        10 => Fault::Corrupt {
            nth: random.index(8),
            nameless: false,
        },
        11 => Fault::Corrupt {
            nth: random.index(8),
            nameless: true,
        },
        12 => Fault::Duplicate,
        13 => Fault::Reorder {
            seed: random.draw(),
        },
        14 => Fault::Flicker(Line::Bookmark),
        15 => Fault::Flicker(Line::Garbage),
        16 => Fault::Flicker(Line::Long),
        17 => Fault::Flicker(Line::Strange),
        18 => Fault::EndlessPages { repeats: false },
        _ => Fault::EndlessPages { repeats: true },
    }
}
