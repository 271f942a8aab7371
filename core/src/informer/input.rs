//! The calls that change an informer, as data.

use super::{AddListenerError, AddSourceError, Informer, KeyOf, RejectedObject};
use crate::decode::Decode;
use crate::flow::Notification;
use crate::indexer::{IndexError, IndexFn, IndexId, UnknownIndex};
use crate::processor::{ListenerConfig, ListenerId};
use crate::source::SourceId;
use crate::storage::Storage;
use crate::time::Instant;
use crate::transport::{Command, ExchangeId, Signal};

/// A call that changes an [`Informer`], as a value.
///
/// With inputs you can record a run and replay it. Polls are inputs too, because they acknowledge
/// earlier notifications. The same seed and the same inputs give the same outputs, byte for byte.
///
/// Functions and decoders cannot be recorded. An index function, or the decoder of a source, is recorded by
/// name and looked up among the [`Parts`] when the input is applied. A transform is part of the informer
/// from the start.
///
#[cfg_attr(feature = "json", doc = "```")]
#[cfg_attr(not(feature = "json"), doc = "```ignore")]
/// use informer_core::decode::{Decoder, Dynamic};
/// use informer_core::informer::Input;
/// use informer_core::storage::Heap;
/// use informer_core::{Informer, InformerConfig, Instant};
///
/// let now = Instant::from_micros(0);
/// let recording = [
///     Input::Start { now },
///     Input::PollCommand { now },
///     Input::PollCommand { now },
///     Input::Stop { now },
/// ];
/// let replay = || {
///     let mut informer: Informer<_, Heap> =
///         Informer::new(Decoder::new(Dynamic), InformerConfig::new(), 42).unwrap();
///     let mut outputs = Vec::new();
///     for input in recording {
///         informer.apply(input, &(), |output| outputs.push(format!("{output:?}")));
///     }
///     outputs
/// };
/// assert_eq!(replay(), replay());
/// ```
#[derive(Clone, Copy, PartialEq, Debug)]
#[expect(clippy::exhaustive_enums, reason = "users must handle every case")]
pub enum Input<'a> {
    /// [`Informer::start`]
    Start {
        /// The time.
        now: Instant,
    },
    /// [`Informer::stop`]
    Stop {
        /// The time.
        now: Instant,
    },
    /// [`Informer::suspend`]
    Suspend {
        /// The time.
        now: Instant,
    },
    /// [`Informer::resume`]
    Resume {
        /// The time.
        now: Instant,
    },
    /// [`Informer::hurry`]
    Hurry {
        /// The time.
        now: Instant,
    },
    /// [`Informer::definition_deleted`]
    DefinitionDeleted {
        /// The time.
        now: Instant,
    },
    /// [`Informer::signal`]
    Signal {
        /// The exchange it belongs to.
        exchange: ExchangeId,
        /// What the network did.
        signal: Signal<'a>,
        /// The time.
        now: Instant,
    },
    /// [`Informer::advance`]
    Advance {
        /// The time.
        now: Instant,
    },
    /// [`Informer::poll_command`]
    PollCommand {
        /// The time.
        now: Instant,
    },
    /// [`Informer::add_listener`]
    AddListener {
        /// How it is served.
        config: ListenerConfig,
        /// The time.
        now: Instant,
    },
    /// [`Informer::skip_replay`]
    SkipReplay(ListenerId),
    /// [`Informer::remove_listener`]
    RemoveListener(ListenerId),
    /// [`Informer::pause_listener`]
    PauseListener(ListenerId),
    /// [`Informer::resume_listener`]
    ResumeListener(ListenerId),
    /// [`Informer::poll_ready_listener`]
    PollReadyListener,
    /// [`Informer::poll_notification`]
    PollNotification(ListenerId),
    /// [`Informer::poll_notifications`]
    PollNotifications {
        /// The listener.
        listener: ListenerId,
        /// The most notifications to take.
        most: usize,
    },
    /// [`Informer::poll_rejected`]
    PollRejected,
    /// [`Informer::add_source`]
    AddSource {
        /// The name of its decoder.
        decoder: &'a str,
        /// The time.
        now: Instant,
    },
    /// [`Informer::remove_source`]
    RemoveSource {
        /// The source.
        source: SourceId,
        /// The time.
        now: Instant,
    },
    /// [`Informer::expect_sources`]
    ExpectSources {
        /// Whether more sources are to come.
        more: bool,
        /// The time.
        now: Instant,
    },
    /// [`Informer::poll_command_of`]
    PollCommandOf {
        /// The source.
        source: SourceId,
        /// The time.
        now: Instant,
    },
    /// [`Informer::add_index`]
    AddIndex {
        /// The name of the index.
        name: &'a str,
        /// The name of its function.
        function: &'a str,
    },
    /// [`Informer::remove_index`]
    RemoveIndex {
        /// The name of the index.
        name: &'a str,
    },
}

/// What inputs name and cannot contain: index functions and decoders. `()` knows none.
pub trait Parts<D: Decode> {
    /// The index function with this name.
    fn index_function(&self, name: &str) -> Option<IndexFn<D::Object>>;

    /// A new decoder of the kind with this name.
    fn decoder(&self, name: &str) -> Option<D>;
}

impl<D: Decode> Parts<D> for () {
    fn index_function(&self, _: &str) -> Option<IndexFn<D::Object>> {
        None
    }

    fn decoder(&self, _: &str) -> Option<D> {
        None
    }
}

/// What an [`Input`] returned.
///
#[cfg_attr(feature = "json", doc = "```")]
#[cfg_attr(not(feature = "json"), doc = "```ignore")]
/// use informer_core::decode::{Decoder, Dynamic};
/// use informer_core::informer::{Input, Output};
/// use informer_core::storage::Heap;
/// use informer_core::transport::{Command, Request};
/// use informer_core::{Informer, InformerConfig, Instant};
///
/// let now = Instant::from_micros(0);
/// let mut informer: Informer<_, Heap> =
///     Informer::new(Decoder::new(Dynamic), InformerConfig::new(), 42)?;
/// informer.apply(Input::Start { now }, &(), |output| {
///     assert!(matches!(output, Output::Done));
/// });
/// informer.apply(Input::PollCommand { now }, &(), |output| {
///     let Output::Command(Some(Command::Open { request, .. })) = output else { panic!() };
///     assert!(matches!(request, Request::Watch { initial_events: true, .. }));
/// });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[expect(clippy::exhaustive_enums, reason = "users must handle every case")]
pub enum Output<'a, D: Decode, S: Storage> {
    /// The method returns nothing.
    Done,
    /// How many bytes of a signal were used.
    Used(Option<usize>),
    /// The next command for the transport.
    Command(Option<Command<'a>>),
    /// The new listener, or why there is none.
    Added(Result<ListenerId, AddListenerError>),
    /// Whether the listener or the source existed.
    Removed(bool),
    /// The new source, or why there is none.
    SourceAdded(Result<SourceId, AddSourceError>),
    /// Whether the listener exists.
    Exists(bool),
    /// A listener with news.
    Ready(Option<ListenerId>),
    /// A notification. [`Input::PollNotifications`] makes any number of these before [`Output::Given`].
    Notification(Option<Notification<D::Object>>),
    /// How many notifications there were.
    Given(usize),
    /// An object that could not be used.
    Rejected(Option<RejectedObject<KeyOf<D>, S::Text>>),
    /// The new index, or why there is none.
    IndexAdded(Result<IndexId, IndexError>),
    /// Whether the index was removed.
    IndexRemoved(Result<(), UnknownIndex>),
    /// There is no index function or decoder with that name. Nothing was done.
    UnknownName,
}

impl<D: Decode, S: Storage> Informer<D, S> {
    /// Calls the method that `input` names. `parts` finds index functions and decoders by their names.
    /// Outputs go to `give`.
    pub fn apply(
        &mut self,
        input: Input<'_>,
        parts: &impl Parts<D>,
        mut give: impl FnMut(Output<'_, D, S>),
    ) {
        match input {
            Input::Start { now } => self.start(now),
            Input::Stop { now } => self.stop(now),
            Input::Suspend { now } => self.suspend(now),
            Input::Resume { now } => self.resume(now),
            Input::Hurry { now } => self.hurry(now),
            Input::DefinitionDeleted { now } => self.definition_deleted(now),
            Input::Advance { now } => self.advance(now),
            Input::ExpectSources { more, now } => self.expect_sources(more, now),
            Input::SkipReplay(listener) => self.skip_replay(listener),
            answered => return self.answer(answered, parts, give),
        }
        give(Output::Done);
    }

    /// Calls a method that returns something.
    fn answer(
        &mut self,
        input: Input<'_>,
        parts: &impl Parts<D>,
        mut give: impl FnMut(Output<'_, D, S>),
    ) {
        let output = match input {
            // `apply` has done these.
            Input::Start { .. }
            | Input::Stop { .. }
            | Input::Suspend { .. }
            | Input::Resume { .. }
            | Input::Hurry { .. }
            | Input::DefinitionDeleted { .. }
            | Input::Advance { .. }
            | Input::ExpectSources { .. }
            | Input::SkipReplay(_) => Output::Done,
            Input::Signal {
                exchange,
                signal,
                now,
            } => Output::Used(self.signal(exchange, signal, now)),
            Input::PollCommand { now } => Output::Command(self.poll_command(now)),
            Input::AddListener { config, now } => Output::Added(self.add_listener(config, now)),
            Input::RemoveListener(listener) => Output::Removed(self.remove_listener(listener)),
            Input::PauseListener(listener) => Output::Exists(self.pause_listener(listener)),
            Input::ResumeListener(listener) => Output::Exists(self.resume_listener(listener)),
            Input::PollReadyListener => Output::Ready(self.poll_ready_listener()),
            Input::PollNotification(id) => Output::Notification(self.poll_notification(id)),
            Input::PollNotifications { listener, most } => {
                Output::Given(self.poll_notifications(listener, most, |notification| {
                    give(Output::Notification(Some(notification)));
                }))
            }
            Input::PollRejected => Output::Rejected(self.poll_rejected()),
            Input::AddIndex { name, function } => match parts.index_function(function) {
                Some(function) => Output::IndexAdded(self.add_index(name, function)),
                None => Output::UnknownName,
            },
            Input::AddSource { decoder, now } => match parts.decoder(decoder) {
                Some(decoder) => Output::SourceAdded(self.add_source(decoder, now)),
                None => Output::UnknownName,
            },
            Input::RemoveSource { source, now } => Output::Removed(self.remove_source(source, now)),
            Input::PollCommandOf { source, now } => {
                Output::Command(self.poll_command_of(source, now))
            }
            Input::RemoveIndex { name } => Output::IndexRemoved(self.remove_index(name)),
        };
        give(output);
    }
}
