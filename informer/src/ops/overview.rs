//! The status of everything, as JSON.

use std::time::Duration;

#[cfg(feature = "hyper")]
use informer_transport_hyper::ClientStatus;
use serde::Serialize;

use super::port::Port;
#[cfg(feature = "hyper")]
use crate::connect::Client;
use crate::controller::ControllerStatus;
use crate::election::ElectionStatus;
use crate::inspect::{ControllerPart, ElectionPart, InformerPart, Named, Parts};
use crate::status::Status;

/// The program that the port is part of.
#[derive(Serialize)]
pub(super) struct Program {
    name: String,
    pid: u32,
    /// Seconds since the port was opened.
    uptime: f64,
    /// The version of this crate.
    version: &'static str,
}

impl Program {
    fn new(uptime: Duration) -> Self {
        let path = std::env::current_exe().unwrap_or_default();
        let name = path.file_name().unwrap_or_default();
        Self {
            name: name.to_string_lossy().into_owned(),
            pid: std::process::id(),
            uptime: uptime.as_secs_f64(),
            version: env!("CARGO_PKG_VERSION"),
        }
    }
}

/// What `/status` says.
#[derive(Serialize)]
pub(super) struct Overview {
    program: Program,
    informers: Vec<InformerView>,
    controllers: Vec<View<ControllerStatus<String>>>,
    elections: Vec<View<ElectionStatus>>,
    #[cfg(feature = "hyper")]
    clients: Vec<View<ClientStatus>>,
}

#[derive(Serialize)]
struct InformerView {
    #[serde(flatten)]
    view: View<Status>,
    fresh: bool,
    indices: Vec<String>,
    bodies: bool,
    history: bool,
}

#[derive(Serialize)]
struct View<S> {
    id: String,
    #[serde(flatten)]
    status: S,
    explain: Vec<String>,
}

impl Overview {
    pub(super) fn of(port: &Port, parts: &Parts) -> Self {
        let informers = parts.informers.iter().map(|it| informer(port, it));
        Self {
            program: Program::new(port.opened.elapsed()),
            informers: informers.collect(),
            controllers: parts.controllers.iter().map(controller).collect(),
            elections: parts.elections.iter().map(election).collect(),
            #[cfg(feature = "hyper")]
            clients: parts.clients.iter().map(client).collect(),
        }
    }
}

fn informer(port: &Port, it: &Named<dyn InformerPart>) -> InformerView {
    let contents = port.contents(it);
    let status = it.part.status();
    InformerView {
        view: View {
            id: it.name.clone(),
            explain: status.explain(),
            status,
        },
        fresh: it.part.is_fresh(port.fresh_within),
        indices: contents.indices(),
        bodies: contents.why_no_bodies().is_none(),
        history: port.hub.keeps_history(),
    }
}

fn controller(it: &Named<dyn ControllerPart>) -> View<ControllerStatus<String>> {
    let status = it.part.status();
    View {
        id: it.name.clone(),
        explain: status.explain(),
        status,
    }
}

fn election(it: &Named<dyn ElectionPart>) -> View<ElectionStatus> {
    let status = it.part.status();
    View {
        id: it.name.clone(),
        explain: status.explain(),
        status,
    }
}

#[cfg(feature = "hyper")]
fn client(it: &Named<Client>) -> View<ClientStatus> {
    let status = it.part.status();
    View {
        id: it.name.clone(),
        explain: vec![format!("{status}.")],
        status,
    }
}
