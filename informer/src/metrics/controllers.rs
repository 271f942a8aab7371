//! Metrics of controllers, their queues, and elections. Names and labels are those of client-go and
//! controller-runtime, so that their dashboards and alerts work.

use std::fmt;
use std::time::Duration;

use prometheus_client::encoding::DescriptorEncoder;

use super::write::{Row, Subject, seconds, write_all};
use crate::controller::ControllerStatus;
use crate::election::ElectionStatus;
use crate::inspect::{ControllerPart, ElectionPart, Named};
use crate::meters::QueueMeters;

struct Seen {
    status: ControllerStatus<String>,
    meters: QueueMeters,
}

impl Seen {
    /// How long the workers have had their keys.
    fn times(&self) -> impl Iterator<Item = Duration> {
        self.status.working.iter().map(|working| working.time)
    }
}

pub(super) fn write(
    parts: &[Named<dyn ControllerPart>],
    encoder: &mut DescriptorEncoder<'_>,
) -> fmt::Result {
    let subjects = |label: &'static str| -> Vec<_> {
        let subject = |Named { name, part }: &Named<dyn ControllerPart>| Subject {
            labels: vec![(label, name.clone())],
            of: Seen {
                status: part.status(),
                meters: part.measure(),
            },
        };
        parts.iter().map(subject).collect()
    };
    write_all(WORKQUEUE, &subjects("name"), encoder)?;
    write_all(CONTROLLER, &subjects("controller"), encoder)
}

pub(super) fn write_elections(
    parts: &[Named<dyn ElectionPart>],
    encoder: &mut DescriptorEncoder<'_>,
) -> fmt::Result {
    let subject = |Named { name, part }: &Named<dyn ElectionPart>| Subject {
        labels: vec![("name", name.clone())],
        of: part.status(),
    };
    let subjects: Vec<_> = parts.iter().map(subject).collect();
    write_all(ELECTION, &subjects, encoder)
}

const WORKQUEUE: &[Row<Seen>] = &[
    Row::gauge(
        "workqueue_depth",
        "Keys that are ready for a worker",
        |it| it.status.queued.into(),
    ),
    Row::counter(
        "workqueue_adds",
        "Keys queued; a key that is queued already does not count",
        |it| it.status.adds.into(),
    ),
    seconds(Row::histogram(
        "workqueue_queue_duration",
        "Time that a key was queued before a worker took it",
        |it| &it.meters.queued,
    )),
    seconds(Row::histogram(
        "workqueue_work_duration",
        "Time that a worker had a key",
        |it| &it.meters.worked,
    )),
    seconds(Row::gauge(
        "workqueue_unfinished_work",
        "Time that workers have had their current keys, in total; it grows if one is stuck",
        |it| it.times().sum::<Duration>().into(),
    )),
    seconds(Row::gauge(
        "workqueue_longest_running_processor",
        "Time that a worker has had its current key, the longest",
        |it| it.times().max().unwrap_or_default().into(),
    )),
    Row::counter(
        "workqueue_retries",
        "Keys to be queued after a delay: after a failure, or by request",
        |it| it.status.retries.into(),
    ),
];

const CONTROLLER: &[Row<Seen>] = &[
    Row::counters(
        "controller_runtime_reconcile",
        "Reconciliations by result",
        "result",
        |it| {
            let ControllerStatus {
                succeeded,
                requeued,
                failed,
                ..
            } = it.status;
            vec![
                ("success", succeeded.saturating_sub(requeued).into()),
                ("requeue_after", requeued.into()),
                ("error", failed.into()),
            ]
        },
    ),
    Row::counter(
        "controller_runtime_reconcile_errors",
        "Reconciliations that failed",
        |it| it.status.failed.into(),
    ),
    Row::counter(
        "controller_runtime_terminal_reconcile_errors",
        "Reconciliations that failed and whose key was given up",
        |it| it.status.given_up.into(),
    ),
    Row::counter(
        "controller_runtime_reconcile_panics",
        "Reconciliations that panicked",
        |it| it.status.panics.into(),
    ),
    seconds(Row::histogram(
        "controller_runtime_reconcile_time",
        "Time of a reconciliation",
        |it| &it.meters.reconciled,
    )),
    Row::gauge(
        "controller_runtime_active_workers",
        "Workers that have a key",
        |it| it.status.working.len().into(),
    ),
    Row::gauge(
        "controller_runtime_max_concurrent_reconciles",
        "Workers",
        |it| it.status.workers.into(),
    ),
];

const ELECTION: &[Row<ElectionStatus>] = &[Row::gauge(
    "leader_election_master_status",
    "Whether this replica holds the Lease",
    |it| it.leads.into(),
)];
