//! Everything that can be done to an informer, as data.

use super::{AddListenerError, Informer, KeyOf, RejectedObject};
use crate::decode::Decode;
use crate::flow::Notification;
use crate::indexer::{IndexError, IndexFn, IndexId, UnknownIndex};
use crate::processor::{ListenerConfig, ListenerId};
use crate::storage::Storage;
use crate::time::Instant;
use crate::transport::{Command, ExchangeId, Signal};

/// One call of a method of an [`Informer`] that changes it, as a value: so a run can be recorded and
/// played again. Polls are among them, since they acknowledge what was given before. The same seed and
/// the same inputs give the same outputs, byte for byte.
///
/// A function cannot be recorded: an index function is named, and looked up when the input is applied.
/// A transform belongs to the informer from its beginning.
#[derive(Clone, Copy, PartialEq, Debug)]
#[expect(
    clippy::exhaustive_enums,
    reason = "whoever replays a recording must see every input"
)]
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
    /// [`Informer::signal`]
    Signal {
        /// Which exchange it is about.
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
        /// How it listens.
        config: ListenerConfig,
        /// The time.
        now: Instant,
    },
    /// [`Informer::remove_listener`]
    RemoveListener(ListenerId),
    /// [`Informer::poll_ready_listener`]
    PollReadyListener,
    /// [`Informer::poll_notification`]
    PollNotification(ListenerId),
    /// [`Informer::poll_notifications`]
    PollNotifications {
        /// Whose notifications.
        listener: ListenerId,
        /// At most this many.
        most: usize,
    },
    /// [`Informer::poll_rejected`]
    PollRejected,
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

/// What an [`Input`] was answered with.
#[derive(Debug)]
#[expect(
    clippy::exhaustive_enums,
    reason = "whoever replays a recording must see every output"
)]
pub enum Output<'a, D: Decode, S: Storage> {
    /// The method gives nothing.
    Done,
    /// How much of a signal was used.
    Used(Option<usize>),
    /// What the transport shall do.
    Command(Option<Command<'a>>),
    /// A listener was added, or not.
    Added(Result<ListenerId, AddListenerError>),
    /// Whether there was such a listener.
    Removed(bool),
    /// A listener with news.
    Ready(Option<ListenerId>),
    /// A notification. [`Input::PollNotifications`] gives any number of these before [`Output::Given`].
    Notification(Option<Notification<D::Object>>),
    /// How many notifications there were.
    Given(usize),
    /// An object that could not be used.
    Rejected(Option<RejectedObject<KeyOf<D>, S::Text>>),
    /// An index was added, or not.
    IndexAdded(Result<IndexId, IndexError>),
    /// An index was removed, or not.
    IndexRemoved(Result<(), UnknownIndex>),
    /// There is no index function of that name. Nothing was done.
    UnknownFunction,
}

impl<D: Decode, S: Storage> Informer<D, S> {
    /// Does what `input` says, as the method of the same name does. `function` finds an index function
    /// by its name; what comes of the input goes to `give`.
    pub fn apply(
        &mut self,
        input: Input<'_>,
        function: impl FnOnce(&str) -> Option<IndexFn<D::Object>>,
        mut give: impl FnMut(Output<'_, D, S>),
    ) {
        let output = match input {
            Input::Start { now } => {
                self.start(now);
                Output::Done
            }
            Input::Stop { now } => {
                self.stop(now);
                Output::Done
            }
            Input::Signal {
                exchange,
                signal,
                now,
            } => Output::Used(self.signal(exchange, signal, now)),
            Input::Advance { now } => {
                self.advance(now);
                Output::Done
            }
            Input::PollCommand { now } => Output::Command(self.poll_command(now)),
            Input::AddListener { config, now } => Output::Added(self.add_listener(config, now)),
            Input::RemoveListener(listener) => Output::Removed(self.remove_listener(listener)),
            Input::PollReadyListener => Output::Ready(self.poll_ready_listener()),
            Input::PollNotification(listener) => {
                Output::Notification(self.poll_notification(listener))
            }
            Input::PollNotifications { listener, most } => {
                Output::Given(self.poll_notifications(listener, most, |notification| {
                    give(Output::Notification(Some(notification)));
                }))
            }
            Input::PollRejected => Output::Rejected(self.poll_rejected()),
            Input::AddIndex {
                name,
                function: named,
            } => match function(named) {
                Some(function) => Output::IndexAdded(self.add_index(name, function)),
                None => Output::UnknownFunction,
            },
            Input::RemoveIndex { name } => Output::IndexRemoved(self.remove_index(name)),
        };
        give(output);
    }
}
