//! Generated pods: the same for the same seed, and each one on its own, so that a list of millions
//! needs no memory.
//!
//! The seed also decides the order of the members, how much of everything a pod has, and so its
//! size ([`Pods::style`]). Nothing should be tuned to one of them.
#![forbid(unsafe_code)]

// Random numbers.
mod random;

// What the seed decides for all pods.
mod style;

// Workloads: what the pods of one owner have in common.
mod workload;

// Parts of a pod.
mod metadata;
mod spec;
mod status;

// A list in pieces.
mod list;

use std::fmt;

pub use list::Pieces;
pub use random::Random;
use style::Style;
use workload::Workload;

/// The name of the last pod. Load servers change it last, so a client knows that it has seen all.
pub const MARKER: &str = "zz-bench-marker";

/// The annotation for the time at which an event was sent, in ns since 1970, in 19 digits.
pub const SENT: &str = "bench.example/sent-ns";

/// The resource version of the pod before the first; each has the next, in ten digits.
pub const FIRST_VERSION: u64 = 1_000_000_000;

/// Pods of a cluster that does not exist.
#[derive(Debug)]
pub struct Pods {
    seed: u64,
    count: usize,
    namespaces: usize,
    style: Style,
    /// The first pod of each workload.
    firsts: Vec<usize>,
}

/// Where a pod's text has the digits that change with each event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Digits {
    /// Ten digits of the resource version.
    pub version: usize,
    /// 19 digits of [`SENT`].
    pub sent: usize,
}

impl Pods {
    /// So many pods in so many namespaces. There is at least one of each, and no more namespaces
    /// than pods.
    #[must_use]
    pub fn new(seed: u64, count: usize, namespaces: usize) -> Self {
        let count = count.max(1);
        let namespaces = namespaces.clamp(1, count);
        let mut pods = Self {
            seed,
            count,
            namespaces,
            style: Style::new(seed),
            firsts: Vec::new(),
        };
        let mut random = Random::new(seed, 1);
        for namespace in 0..namespaces {
            let (mut next, end) = (pods.start(namespace), pods.start(namespace + 1));
            while next < end {
                pods.firsts.push(next);
                next += Workload::replicas(&mut random);
            }
        }
        pods.firsts.shrink_to_fit();
        pods
    }

    /// The number of pods.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.count
    }

    /// There is always one.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        false
    }

    /// The names of all namespaces, in order.
    pub fn namespaces(&self) -> impl Iterator<Item = String> {
        (0..self.namespaces).map(namespace_name)
    }

    /// What the seed decided for all pods, in words.
    #[must_use]
    pub const fn style(&self) -> &impl fmt::Display {
        &self.style
    }

    /// The number of a pod's namespace.
    #[must_use]
    pub const fn namespace_of(&self, pod: usize) -> usize {
        ((pod + 1) * self.namespaces - 1) / self.count
    }

    /// Appends a pod as an element of a list, which has neither `kind` nor `apiVersion`.
    pub fn write(&self, pod: usize, out: &mut String) {
        let number = self.firsts.partition_point(|first| *first <= pod) - 1;
        let first = self.firsts.get(number).copied().unwrap_or_default();
        let workload = Workload::new(self.seed, number, self.namespace_of(pod), &self.style);
        let name = if pod + 1 == self.count {
            MARKER.to_owned()
        } else {
            workload.pod_name(pod - first)
        };
        let random = &mut Random::new(self.seed, 1 << 40 | pod as u64);
        let this = ThisPod {
            name: &name,
            number: pod,
            workload: &workload,
            created: random.time(),
            node: random.below(1 + self.count as u64 / 40),
            token: random.word(5),
        };
        let style = &self.style;
        style.object(
            out,
            vec![
                ("metadata", metadata::metadata(style, random, &this)),
                ("spec", spec::spec(style, random, &this)),
                ("status", status::status(style, random, &this)),
            ],
        );
    }

    /// Where the text of a pod has its changing digits.
    #[must_use]
    pub fn digits(text: &str) -> Option<Digits> {
        let after = |mark: &str| Some(text.find(mark)? + mark.len());
        Some(Digits {
            version: after("\"resourceVersion\":\"")?,
            sent: after(&format!("\"{SENT}\":\""))?,
        })
    }

    /// All pods as the body of a list, in pieces of about this size.
    #[must_use]
    pub const fn list(&self, piece: usize) -> Pieces<'_> {
        Pieces::new(self, piece)
    }

    /// The first pod of a namespace.
    const fn start(&self, namespace: usize) -> usize {
        self.count * namespace / self.namespaces
    }
}

/// What all parts of a pod need.
struct ThisPod<'a> {
    name: &'a str,
    number: usize,
    workload: &'a Workload,
    created: String,
    node: u64,
    token: String,
}

fn namespace_name(number: usize) -> String {
    format!("bench-{number:02}")
}

#[cfg(test)]
mod tests;
