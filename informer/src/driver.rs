//! The driver task: passes signals from the transport to the core and commands from the core to the
//! transport, and waits.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use informer_core::transport::{Signal, Target, Transport};
use informer_core::{Instant, Object, SourceId, Timer};
use tracing::Span;

use crate::engine::Engine;
use crate::hooks::{Hooks, Report};
use crate::panics::panic_text;
use crate::room::make_room;
use crate::spans::Spans;
use crate::sparing::{Say, Sparing};

/// How many signals the driver takes before it yields to other tasks.
const BUDGET: usize = 32;
/// How many bytes the driver takes before it yields. A turn must not bring more changes than a handler
/// takes in its turn, or even fast handlers would fall behind. Objects below 300 bytes are rare.
const BYTES: usize = 128 << 10;
/// The same until the informer is synced. Handlers are behind anyway then, and an object that crosses the border
/// of two turns is read twice.
const FIRST_BYTES: usize = 256 << 10;

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
        }
    }

    fn step(&mut self, cx: &mut Context<'_>) -> Step {
        let now = self.engine.clock.now();
        let source = self.source;
        let (commands, reports, change, ended, synced) = self.engine.update(|state| {
            let turned = state.begin_turn(source, cx.waker());
            state.swap_spent(&mut self.spent);
            state.core.advance(now);
            state.touch();
            let mut commands = Vec::new();
            while let Some(command) = state.core.poll_command_of(source, now) {
                commands.push(command.to_owned());
            }
            let turned = turned || !commands.is_empty();
            let change = turned
                .then(|| self.spans.change(&state.core, source))
                .flatten();
            let ended = state.core.is_stopped() || state.core.source_status(source).is_none();
            let synced = state.core.is_synced();
            (commands, state.take_reports(), change, ended, synced)
        });
        self.spent.clear();
        if let Some(change) = change {
            self.spans.follow(&change, &self.engine.name, &self.target);
        }
        let span = self.spans.span();
        let _entered = span.as_ref().map(Span::enter);
        for command in commands {
            self.transport.execute(command.as_command());
        }
        self.tell(reports, now);
        if ended {
            return Step::Ended;
        }
        if let Poll::Ready((exchange, signal)) = self.transport.poll_signal(cx) {
            let signal = match signal {
                Signal::Bytes(bytes) => {
                    let most = if synced { BYTES } else { FIRST_BYTES };
                    let bytes = bytes.get(..most).unwrap_or(bytes);
                    // Later, changes take the place of what they replace.
                    if !synced {
                        make_room(bytes);
                    }
                    Signal::Bytes(bytes)
                }
                other => other,
            };
            let used = self.engine.update(|state| {
                let used = state.signal(exchange, signal, now, &*self.engine.clock);
                state.set_stalled(source, used.is_none());
                state.touch();
                state.follow_stop(now);
                used
            });
            if let Some(used) = used {
                self.transport.consume(used);
                return Step::Moved(used);
            }
        }
        let (deadline, reports) = self.engine.update(|state| {
            state.publish();
            state.swap_spent(&mut self.spent);
            (state.end_turn(source), state.take_reports())
        });
        self.spent.clear();
        // Report what `advance` found now, not at the next wake-up.
        self.tell(reports, now);
        match deadline.map(|deadline| self.timer.poll_until(deadline, cx)) {
            Some(Poll::Ready(())) => Step::Moved(0),
            Some(Poll::Pending) | None => Step::Idle,
        }
    }

    /// Calls the user's hooks.
    fn tell(&mut self, reports: Vec<Report>, now: Instant) {
        self.hooks.call(reports, |panic| {
            if let Some(Say { not_logged }) = self.panics.say(now) {
                let informer = &self.engine.name;
                tracing::error!(informer, panic, not_logged, "a hook panicked");
            }
        });
    }

    fn run(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let mut bytes = 0;
        for _ in 0..BUDGET {
            match self.step(cx) {
                Step::Moved(used) => bytes += used,
                Step::Idle => return Poll::Pending,
                Step::Ended => return Poll::Ready(()),
            }
            if bytes >= BYTES {
                break;
            }
        }
        self.engine.update(|state| state.publish());
        cx.waker().wake_by_ref();
        Poll::Pending
    }
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
        match catch_unwind(AssertUnwindSafe(|| self.run(cx))) {
            Ok(polled) => polled,
            Err(panic) => {
                self.engine.break_off(panic_text(&*panic));
                Poll::Ready(())
            }
        }
    }
}
