//! The timelines of all informers.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Serialize;

use crate::engine::{Moment, MomentKind};
use crate::inspect::{InformerPart, Named};

/// A phase or a failure, for people and scripts.
#[derive(Serialize)]
pub(super) struct Words {
    /// The name of the source.
    source: String,
    kind: &'static str,
    name: &'static str,
    text: String,
}

impl Words {
    pub(super) fn of(moment: &Moment) -> Self {
        let source = moment.source.to_string();
        match &moment.kind {
            MomentKind::Phase(phase) => Self {
                source,
                kind: "phase",
                name: phase.name(),
                text: phase.to_string(),
            },
            MomentKind::Failure(last) => Self {
                source,
                kind: "failure",
                name: last.failure.name(),
                text: match last.message.as_str() {
                    "" => last.failure.describe().to_owned(),
                    message => format!("{}: {message}", last.failure.describe()),
                },
            },
        }
    }
}

#[derive(Serialize)]
struct Aged {
    seconds_ago: f64,
    #[serde(flatten)]
    words: Words,
}

#[derive(Serialize)]
pub(super) struct Timelines {
    informers: BTreeMap<String, Vec<Aged>>,
}

impl Timelines {
    pub(super) fn of(informers: &[Named<dyn InformerPart>]) -> Self {
        let aged = |(age, moment): &(Duration, Moment)| Aged {
            seconds_ago: age.as_secs_f64(),
            words: Words::of(moment),
        };
        let timelines = informers.iter().map(|informer| {
            let (_, moments) = informer.part.timeline(0);
            (informer.name.clone(), moments.iter().map(aged).collect())
        });
        Self {
            informers: timelines.collect(),
        }
    }
}
