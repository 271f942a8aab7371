//! Borrowed and owned commands, and pointers to transports.
#![allow(clippy::unwrap_used, reason = "tests")]

use core::task::{Context, Poll, Waker};
use core::time::Duration;

use informer_core::Instant;
use informer_core::reflector::{Reflector, ReflectorConfig};
use informer_core::storage::{Full, Heap};
use informer_core::transport::{At, Command, ExchangeId, OwnedCommand, Request, Signal, Transport};

fn exchange() -> ExchangeId {
    let mut reflector: Reflector<Heap> = Reflector::new(ReflectorConfig::new(), 1).unwrap();
    reflector.start(Instant::default());
    match reflector.poll_command(Instant::default()) {
        Some(Command::Open { exchange, .. }) => exchange,
        other => unreachable!("{other:?}"),
    }
}

fn commands() -> Vec<Command<'static>> {
    let exchange = exchange();
    let mut commands = vec![Command::Abort(exchange)];
    for version in [
        At::Latest,
        At::Any,
        At::Version("1234567"),
        At::Exact("1234567"),
    ] {
        for page in [None, Some("token")] {
            let request = Request::List {
                version,
                limit: page.map(|_| 500),
                page,
            };
            commands.push(Command::Open { exchange, request });
        }
        for initial_events in [false, true] {
            let request = Request::Watch {
                version,
                timeout: Duration::from_secs(300),
                initial_events,
            };
            commands.push(Command::Open { exchange, request });
        }
    }
    commands
}

#[test]
fn an_owned_command_equals_the_borrowed_one() {
    for command in commands() {
        assert_eq!(command.to_owned().as_command(), command);
        let fixed: OwnedCommand<heapless::String<7>> = command.try_to_owned().unwrap();
        assert_eq!(fixed.as_command(), command);
        if let Command::Open { request, .. } = command {
            assert_eq!(request.to_owned().as_request(), request);
        }
    }
}

#[test]
fn a_command_that_does_not_fit_is_an_error() {
    let fits = |command: &Command<'_>| command.try_to_owned::<heapless::String<4>>() != Err(Full);
    let kept: Vec<_> = commands().into_iter().filter(fits).collect();
    // The abort, and all requests without a version and a page token.
    assert_eq!(kept.len(), 1 + 2 * 3);
}

/// Records its calls.
#[derive(Default)]
struct Calls(Vec<String>);

impl Transport for Calls {
    fn execute(&mut self, _: Command<'_>) {
        self.0.push("execute".to_owned());
    }

    fn poll_signal(&mut self, _: &mut Context<'_>) -> Poll<(ExchangeId, Signal<'_>)> {
        self.0.push("poll".to_owned());
        Poll::Pending
    }

    fn consume(&mut self, n: usize) {
        self.0.push(format!("consume {n}"));
    }
}

#[test]
fn pointers_to_transports_are_transports() {
    fn drive(mut transport: impl Transport) {
        transport.execute(Command::Abort(exchange()));
        let mut cx = Context::from_waker(Waker::noop());
        assert!(transport.poll_signal(&mut cx).is_pending());
        transport.consume(7);
    }
    let mut calls = Calls::default();
    drive(&mut calls);
    drive(&mut calls as &mut dyn Transport);
    drive(Box::new(&mut calls) as Box<dyn Transport + '_>);
    assert_eq!(calls.0, ["execute", "poll", "consume 7"].repeat(3));
}
