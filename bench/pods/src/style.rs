//! What the seed decides for all pods: the order of members, and how much of everything there is.

use std::fmt;
use std::ops::RangeInclusive;

use crate::random::Random;

/// See the module.
#[derive(Clone, Debug)]
pub(crate) struct Style {
    order: Order,
    pub(crate) labels: RangeInclusive<u64>,
    pub(crate) annotations: RangeInclusive<u64>,
    pub(crate) env: RangeInclusive<u64>,
    /// How many workloads of a hundred have a second and a third container.
    pub(crate) sidecars: u64,
    /// How many workloads of a hundred were applied by kubectl, which leaves a copy of them.
    pub(crate) applied: u64,
}

/// The order of the members of an object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Order {
    /// As API servers write built-in kinds.
    Declared,
    /// As API servers write custom resources.
    Sorted,
    /// As nobody writes them.
    Shuffled(u64),
}

impl Style {
    pub(crate) fn new(seed: u64) -> Self {
        let random = &mut Random::new(seed, 2);
        let order = match random.below(3) {
            0 => Order::Declared,
            1 => Order::Sorted,
            _ => Order::Shuffled(random.number()),
        };
        let mut about = |least: u64, spread: u64| {
            let least = least + random.below(spread);
            least..=least + spread
        };
        Self {
            order,
            labels: about(2, 3),
            annotations: about(1, 3),
            env: about(2, 6),
            sidecars: 15 + random.below(25),
            applied: random.below(12),
        }
    }

    /// Appends an object. The members are given in the order of declaration; empty ones are left
    /// out.
    pub(crate) fn object(&self, out: &mut String, mut members: Vec<(&str, String)>) {
        match self.order {
            Order::Declared => {}
            Order::Sorted => members.sort_by_key(|(name, _)| *name),
            Order::Shuffled(by) => members.sort_by_key(|(name, _)| shuffled(name, by)),
        }
        out.push('{');
        let mut before = false;
        for (name, value) in members {
            if value.is_empty() {
                continue;
            }
            if before {
                out.push(',');
            }
            before = true;
            out.push('"');
            out.push_str(name);
            out.push_str("\":");
            out.push_str(&value);
        }
        out.push('}');
    }

    /// The same as a text.
    pub(crate) fn text(&self, members: Vec<(&str, String)>) -> String {
        let mut out = String::new();
        self.object(&mut out, members);
        out
    }
}

impl fmt::Display for Style {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let order = match self.order {
            Order::Declared => "as declared",
            Order::Sorted => "sorted by name",
            Order::Shuffled(_) => "shuffled",
        };
        write!(
            f,
            "members {order}; {} to {} environment variables; a second container in {} of 100",
            self.env.start(),
            self.env.end(),
            self.sidecars
        )
    }
}

/// A place for each name, the same in all objects.
fn shuffled(name: &str, by: u64) -> u64 {
    let mixed = name.bytes().fold(by, |mixed, byte| {
        (mixed ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
    });
    Random::new(mixed, 0).number()
}
