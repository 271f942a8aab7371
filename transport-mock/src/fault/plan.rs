//! Which request gets which fault.

use std::collections::VecDeque;
use std::time::Duration;

use crate::fault::{Fault, FlickerLine};
use crate::random::Random;

/// Which request gets which fault: a script, random draws from a seed, or always the same.
///
/// ```
/// use informer_transport_mock::fault::{Fault, FaultPlan};
/// use informer_transport_mock::{MockServer, ServerConfig, VirtualClock};
///
/// // The first request is answered, the second is refused, the others are answered.
/// let script = FaultPlan::script([None, Some(Fault::Refuse)]);
/// // One request in five meets a random fault.
/// let drawn = FaultPlan::drawn(42, 5);
/// // Every request fails with 500.
/// let always = FaultPlan::always(Fault::Fail);
///
/// let server = MockServer::new(ServerConfig::new(1), VirtualClock::new());
/// for plan in [script, drawn, always] {
///     server.set_faults(plan);
/// }
/// assert!(server.fault_counts().is_empty(), "no request has come yet");
/// ```
#[derive(Clone, Debug)]
pub struct FaultPlan {
    script: VecDeque<Option<Fault>>,
    drawn: Option<(Random, u64)>,
    always: Option<Fault>,
}

impl FaultPlan {
    /// No faults.
    #[must_use]
    pub const fn none() -> Self {
        Self {
            script: VecDeque::new(),
            drawn: None,
            always: None,
        }
    }

    /// Faults for the next requests, in order of arrival.
    #[must_use]
    pub fn script(faults: impl IntoIterator<Item = Option<Fault>>) -> Self {
        Self {
            script: faults.into_iter().collect(),
            ..Self::none()
        }
    }

    /// Random faults of all kinds, one for every `one_in` requests on average.
    #[must_use]
    pub const fn drawn(seed: u64, one_in: u64) -> Self {
        Self {
            script: VecDeque::new(),
            drawn: Some((Random::new(seed), one_in)),
            always: None,
        }
    }

    /// The same fault for every request.
    #[must_use]
    pub const fn always(fault: Fault) -> Self {
        Self {
            script: VecDeque::new(),
            drawn: None,
            always: Some(fault),
        }
    }

    /// The same fault for every request, chosen by the seed.
    #[must_use]
    pub fn stuck(seed: u64) -> Self {
        Self::always(draw(&mut Random::new(seed)))
    }

    /// Queues a fault for the next request that has no fault of its own.
    pub fn push(&mut self, fault: Fault) {
        self.script.push_back(Some(fault));
    }

    /// The fault of the next request.
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
        14 => Fault::Flicker(FlickerLine::Bookmark),
        15 => Fault::Flicker(FlickerLine::Garbage),
        16 => Fault::Flicker(FlickerLine::Long),
        17 => Fault::Flicker(FlickerLine::Strange),
        18 => Fault::EndlessPages { repeats: false },
        _ => Fault::EndlessPages { repeats: true },
    }
}
