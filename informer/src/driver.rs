//! The driver task: passes signals from the transport to the core and commands from the core to the
//! transport, and waits.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use informer_core::transport::{Signal, Target, Transport};
use informer_core::{Instant, Object, SourceId, Timer};
use tracing::Span;

use crate::engine::{Engine, State, Turn, Woken};
use crate::hooks::{Hooks, Report};
use crate::panics::panic_text;
use crate::room::make_room;
use crate::spans::{Change, Spans};
use crate::sparing::{Say, Sparing};

/// How many signals the driver takes before it yields to other tasks.
const BUDGET: usize = 32;
/// How many bytes the driver takes before it yields. A turn must not bring more changes than a handler
/// takes in its turn, or even fast handlers would fall behind. Objects below 300 bytes are rare.
const BYTES: usize = 128 << 10;
/// The same until the informer is synced. Handlers are behind anyway then, and with each turn the driver may move to
/// another thread.
const FIRST_BYTES: usize = 1 << 20;
/// A turn before that also ends when it has taken this long.
const FIRST_TURN: Duration = Duration::from_millis(1);
/// How many bytes the core gets at once until then. An object that crosses the border of two is read twice.
const FIRST_PORTION: usize = 256 << 10;

/// Drives one source of an informer until it is removed or the informer is stopped.
pub(crate) struct Driver<K: Send + Sync + 'static, T> {
    engine: Arc<Engine<K>>,
    source: SourceId,
    target: Target,
    transport: T,
    hooks: Hooks,
    /// Limits log lines about panics of hooks.
    panics: Sparing,
    spans: Spans,
    /// What handlers are done with.
    spent: Vec<Object<K>>,
    /// Handlers to wake when it is their turn.
    woken: Woken,
    /// Whether the informer was synced after the last step.
    synced: bool,
    timer: Box<dyn Timer>,
}

enum Step {
    /// Made progress, with this many bytes.
    Moved(usize),
    /// Nothing to do until the next wake-up.
    Idle,
    /// The source is gone, or the informer was stopped.
    Ended,
}

impl<K: Send + Sync + 'static, T: Transport> Driver<K, T> {
    pub(crate) fn new(
        engine: Arc<Engine<K>>,
        (source, target): (SourceId, Target),
        transport: T,
        hooks: Hooks,
    ) -> Self {
        Self {
            timer: engine.clock.timer(),
            engine,
            source,
            target,
            transport,
            hooks,
            panics: Sparing::default(),
            spans: Spans::new(),
            spent: Vec::new(),
            woken: Woken::default(),
            synced: false,
        }
    }

    /// Passes on what the transport has, and does what the core asks for.
    fn step(&mut self, cx: &mut Context<'_>) -> Step {
        let now = self.engine.clock.now();
        let ((turn, change), reports) = self.turn(cx, now);
        self.spent.clear();
        if let Some(used) = turn.used {
            self.transport.consume(used);
        }
        self.synced = turn.synced;
        if let Some(change) = change {
            self.spans.follow(&change, &self.engine.name, &self.target);
        }
        let span = self.spans.span();
        let _entered = span.as_ref().map(Span::enter);
        for command in turn.commands {
            self.transport.execute(command.as_command());
        }
        self.tell(reports, now);
        if turn.ended {
            return Step::Ended;
        }
        let Some(until) = turn.waits else {
            return Step::Moved(turn.used.unwrap_or_default());
        };
        match until.map(|until| self.timer.poll_until(until, cx)) {
            Some(Poll::Ready(())) => Step::Moved(0),
            Some(Poll::Pending) | None => Step::Idle,
        }
    }

    /// The part under the lock.
    fn turn(
        &mut self,
        cx: &mut Context<'_>,
        now: Instant,
    ) -> ((Turn, Option<Box<Change>>), Vec<Report>) {
        let span = self.spans.span();
        let _entered = span.as_ref().map(Span::enter);
        let offered = match self.transport.poll_signal(cx) {
            Poll::Ready((exchange, signal)) => Some((exchange, portion(signal, self.synced))),
            Poll::Pending => None,
        };
        let (source, clock) = (self.source, &*self.engine.clock);
        let change = |state: &mut State<K>| {
            let turn = state.turn(source, offered, cx.waker(), clock, now);
            state.swap_spent(&mut self.spent);
            let change = || self.spans.change(&state.core, source);
            let change = turn.turned.then(change).flatten();
            (turn, change)
        };
        self.engine
            .update_and(&mut self.woken, change, State::take_reports)
    }

    /// Calls the user's hooks. Handlers do not wait for them.
    fn tell(&mut self, reports: Vec<Report>, now: Instant) {
        if !reports.is_empty() {
            self.woken.wake();
        }
        self.hooks.call(reports, |panic| {
            if let Some(Say { not_logged }) = self.panics.say(now) {
                let informer = &self.engine.name;
                tracing::error!(informer, panic, not_logged, "a hook panicked");
            }
        });
    }

    /// Takes steps until there is nothing to do, or it is the turn of other tasks.
    fn run(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let began = self.engine.clock.now();
        let mut bytes = 0;
        for _ in 0..BUDGET {
            match self.step(cx) {
                Step::Moved(used) => bytes += used,
                Step::Idle => return Poll::Pending,
                Step::Ended => return Poll::Ready(()),
            }
            let is_over = if self.synced {
                bytes >= BYTES
            } else {
                bytes >= FIRST_BYTES || self.engine.clock.now().since(began) >= FIRST_TURN
            };
            if is_over {
                break;
            }
        }
        self.engine.update(State::publish);
        // Handlers come before the next turn.
        self.woken.wake();
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

/// As much of a signal as the core gets at once. Until the informer is synced, also makes room for new objects;
/// later, changes take the place of what they replace.
fn portion(signal: Signal<'_>, synced: bool) -> Signal<'_> {
    let Signal::Bytes(bytes) = signal else {
        return signal;
    };
    let most = if synced { BYTES } else { FIRST_PORTION };
    let bytes = bytes.get(..most).unwrap_or(bytes);
    if !synced {
        make_room(bytes);
    }
    Signal::Bytes(bytes)
}

/// A driver that is dropped while its source is needed is lost, and ends the informer with a reason.
impl<K: Send + Sync + 'static, T> Drop for Driver<K, T> {
    fn drop(&mut self) {
        self.engine.lock().swap_spent(&mut self.spent);
        self.engine.lose_driver(self.source);
    }
}

impl<K: Send + Sync + 'static, T: Transport + Unpin> Future for Driver<K, T> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        // A transport can be user code, too.
        let polled = catch_unwind(AssertUnwindSafe(|| self.run(cx)));
        self.woken.wake();
        match polled {
            Ok(polled) => polled,
            Err(panic) => {
                self.engine.break_off(panic_text(&*panic));
                Poll::Ready(())
            }
        }
    }
}
