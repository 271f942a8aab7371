//! Metrics of clients: connections, and who waits for a list.

use std::fmt;

use informer_transport_hyper::{Client, ClientStatus};
use prometheus_client::encoding::DescriptorEncoder;

use super::write::{Row, Subject, seconds, write_all};
use crate::inspect::Named;

pub(super) fn write(parts: &[Named<Client>], encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
    let subject = |Named { name, part }: &Named<Client>| Subject {
        labels: vec![("client", name.clone())],
        of: part.status(),
    };
    let subjects: Vec<_> = parts.iter().map(subject).collect();
    write_all(CLIENT, &subjects, encoder)
}

const CLIENT: &[Row<ClientStatus>] = &[
    Row::gauges(
        "informer_client_connections",
        "Open connections",
        "protocol",
        |it| {
            vec![
                ("http1", it.http1_connections.into()),
                ("http2", it.http2_connections.into()),
            ]
        },
    ),
    Row::gauge(
        "informer_client_streams",
        "Requests and watches that run over HTTP/2 connections",
        |it| it.http2_streams.into(),
    ),
    Row::counter("informer_client_connects", "Connections opened", |it| {
        it.connects.into()
    }),
    Row::counter(
        "informer_client_failed_connects",
        "Attempts to connect that failed",
        |it| it.failed_connects.into(),
    ),
    Row::gauge(
        "informer_client_list_slots",
        "Full states that may be read at the same time",
        |it| it.list_slots.into(),
    ),
    Row::gauge(
        "informer_client_list_slots_in_use",
        "Full states that are being read",
        |it| it.list_slots_in_use.into(),
    ),
    Row::counter(
        "informer_client_list_waits",
        "Full states that had to wait for a slot",
        |it| it.list_waits.into(),
    ),
    seconds(Row::counter(
        "informer_client_list_wait",
        "Time that full states waited for a slot",
        |it| it.list_waited.into(),
    )),
];
