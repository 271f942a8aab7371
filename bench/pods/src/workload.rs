//! Workloads: what the pods of one owner have in common.

use crate::random::{Random, word};
use crate::style::Style;

/// A deployment, or another thing that makes pods.
#[derive(Debug)]
pub(crate) struct Workload {
    pub(crate) kind: Kind,
    pub(crate) namespace: usize,
    pub(crate) name: String,
    /// The hash of the pod template.
    pub(crate) hash: String,
    /// What its pods' names end with.
    ends: u64,
    pub(crate) owner_uid: String,
    pub(crate) team: &'static str,
    pub(crate) version: String,
    pub(crate) image: String,
    /// The digest of the image.
    pub(crate) digest: String,
    pub(crate) port: u64,
    pub(crate) env: u64,
    pub(crate) labels: u64,
    pub(crate) annotations: u64,
    /// Containers besides the first.
    pub(crate) sidecars: u64,
    pub(crate) is_applied: bool,
    pub(crate) applied: String,
}

#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) enum Kind {
    #[default]
    ReplicaSet,
    StatefulSet,
    DaemonSet,
    Job,
}

const TEAMS: [&str; 8] = [
    "billing",
    "catalogue",
    "delivery",
    "fraud",
    "insights",
    "messaging",
    "platform",
    "storage",
];
const SUBJECTS: [&str; 14] = [
    "account",
    "basket",
    "coupon",
    "document",
    "events",
    "inventory",
    "invoice",
    "mail",
    "orders",
    "parcel",
    "quota",
    "report",
    "tenant",
    "voucher",
];
const ROLES: [&str; 7] = [
    "api", "web", "worker", "sync", "importer", "gateway", "cache",
];

impl Workload {
    /// How many pods the next workload has: mostly a few, sometimes many.
    pub(crate) fn replicas(random: &mut Random) -> usize {
        let most = random.one_of(&[3, 3, 6, 12, 24, 60]);
        1 + random.below(most) as usize
    }

    pub(crate) fn new(seed: u64, number: usize, namespace: usize, style: &Style) -> Self {
        let random = &mut Random::new(seed, 1 << 50 | number as u64);
        let kind = match random.below(100) {
            0..75 => Kind::ReplicaSet,
            75..85 => Kind::StatefulSet,
            85..95 => Kind::DaemonSet,
            _ => Kind::Job,
        };
        let (subject, role) = (random.one_of(&SUBJECTS), random.one_of(&ROLES));
        let version = format!(
            "{}.{}.{}",
            random.below(8),
            random.below(60),
            random.below(12)
        );
        let sidecars = if random.percent(style.sidecars) {
            1 + random.below(2)
        } else {
            0
        };
        Self {
            kind,
            namespace,
            name: format!("{subject}-{role}-{}", word(number as u64, seed, 4)),
            hash: word(number as u64, !seed, 10),
            ends: random.number(),
            owner_uid: random.uid(),
            team: random.one_of(&TEAMS),
            image: format!("images.example/{subject}/{role}:{version}"),
            digest: random.hex(64),
            version,
            port: 1024 + random.below(20_000),
            env: random.within(&style.env),
            labels: random.within(&style.labels),
            annotations: random.within(&style.annotations),
            sidecars,
            is_applied: random.percent(style.applied),
            applied: random.time(),
        }
    }

    /// The name of its pod with this number.
    pub(crate) fn pod_name(&self, number: usize) -> String {
        match self.kind {
            Kind::StatefulSet => format!("{}-{number}", self.name),
            Kind::ReplicaSet | Kind::DaemonSet | Kind::Job => {
                let end = word(number as u64, self.ends, 5);
                format!("{}-{end}", self.owner())
            }
        }
    }

    /// The name of what owns the pods.
    pub(crate) fn owner(&self) -> String {
        match self.kind {
            Kind::ReplicaSet => format!("{}-{}", self.name, self.hash),
            Kind::StatefulSet | Kind::DaemonSet | Kind::Job => self.name.clone(),
        }
    }

    /// The names of the containers.
    pub(crate) fn containers(&self) -> impl Iterator<Item = &str> {
        let sidecars = ["proxy", "log-shipper"].into_iter();
        std::iter::once(self.name.as_str()).chain(sidecars.take(self.sidecars as usize))
    }

    /// The image of a container.
    pub(crate) fn image_of(&self, container: &str) -> String {
        if container == self.name {
            self.image.clone()
        } else {
            format!("images.example/mesh/{container}:2.11.{}", self.port % 4)
        }
    }
}

impl Kind {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::ReplicaSet => "ReplicaSet",
            Self::StatefulSet => "StatefulSet",
            Self::DaemonSet => "DaemonSet",
            Self::Job => "Job",
        }
    }

    pub(crate) const fn group(self) -> &'static str {
        match self {
            Self::ReplicaSet | Self::StatefulSet | Self::DaemonSet => "apps/v1",
            Self::Job => "batch/v1",
        }
    }
}
