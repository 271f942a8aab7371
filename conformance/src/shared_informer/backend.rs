//! The interface between the script interpreter and an informer, however it is driven.

use alloc::collections::BTreeMap;

use informer_core::processor::ListenerConfig;
use informer_core::reflector::Phase;
use informer_core::{InformerConfig, Instant};
use informer_transport_mock::VirtualClock;

use super::notes::Hear;
use super::scripted_server::ScriptedServer;
use crate::vector::{Thing, TransformName};

/// An informer that runs only on demand.
pub(super) trait Backend: Sized {
    fn new(setup: Setup) -> Result<Self, String>;

    fn start(&mut self) -> Result<(), String>;

    fn stop(&mut self);

    fn add_handler(&mut self, name: &str, config: ListenerConfig, hear: Hear)
    -> Result<(), String>;

    fn remove_handler(&mut self, name: &str) -> Result<(), String>;

    /// Runs everything that can run now.
    fn settle(&mut self) -> Result<(), String>;

    /// The next deadline.
    fn next_deadline(&self) -> Option<Instant>;

    fn phase(&self) -> Phase;

    fn look(&self) -> Seen;
}

/// The parts of an informer.
pub(super) struct Setup {
    pub(super) config: InformerConfig,
    pub(super) transform: TransformName,
    pub(super) seed: u64,
    pub(super) server: ScriptedServer,
    pub(super) clock: VirtualClock,
}

/// The visible state of an informer.
pub(super) struct Seen {
    pub(super) version: String,
    pub(super) store: Vec<Thing>,
    pub(super) store_version: String,
    pub(super) synced: bool,
    /// By handler, whether it has handled its initial state.
    pub(super) handlers: BTreeMap<String, bool>,
}
