//! An informer on embassy: fixed-size storage, no allocator in the core, one task for the network and one
//! for the informer.
//!
//! It runs on your machine with the std platform of embassy. On a chip, `network` would own a socket; here
//! it takes the place of the server. The decoder comes from `proofs/bare`, which has no allocator at all.
#![expect(clippy::print_stdout, reason = "the example prints what it does")]

use std::error::Error;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

use embassy_executor::Executor;
use embassy_futures::select::{Either, select};
use embassy_sync::blocking_mutex::raw::CriticalSectionRawMutex;
use embassy_sync::channel::Channel;
use embassy_time::{Duration, Instant as EmbassyInstant, Timer};
use informer_core::processor::{Backlog, ListenerConfig, ListenerId, Resync};
use informer_core::reflector::FirstState;
use informer_core::storage::Fixed;
use informer_core::transport::{ExchangeId, OwnedCommand, Request, Signal};
use informer_core::{Encoding, Informer, InformerConfig, Instant};
use informer_examples::{exit, no_flags};
use static_cell::StaticCell;

#[expect(unreachable_pub, reason = "the file belongs to another program")]
#[path = "../proofs/bare/src/decoder.rs"]
mod decoder;

use decoder::PodDecoder;

/// Eight pods, two listeners or indices, strings of up to 32 bytes: the limits are part of the type.
type Memory = Fixed<8, 2, 32>;
type Pods = Informer<PodDecoder, Memory>;

/// The memory use is known at compile time.
const _: () = assert!(
    size_of::<Pods>() <= 16 << 10,
    "the informer needs more than 16 KiB"
);

/// A signal from the network.
enum Heard {
    Opened(Encoding),
    Bytes(heapless::Vec<u8, 64>),
}

static INFORMER: StaticCell<Pods> = StaticCell::new();
static EXECUTOR: StaticCell<Executor> = StaticCell::new();
static COMMANDS: Channel<CriticalSectionRawMutex, OwnedCommand<heapless::String<32>>, 2> =
    Channel::new();
static HEARD: Channel<CriticalSectionRawMutex, (ExchangeId, Heard), 2> = Channel::new();
static DONE: AtomicBool = AtomicBool::new(false);

/// The answers of the server, one for each request.
const ANSWERS: [&str; 3] = [
    r#"{"metadata":{"resourceVersion":"10"},"items":[
        {"metadata":{"namespace":"default","name":"web-1","uid":"a","resourceVersion":"3","labels":{"app":"web"}}},
        {"metadata":{"namespace":"default","name":"db-1","uid":"b","resourceVersion":"7","labels":{"app":"db"}}}]}"#,
    r#"{"type":"ADDED","object":{"metadata":{"namespace":"default","name":"web-2","uid":"c","resourceVersion":"11","labels":{"app":"web"}}}}
{"type":"MODIFIED","object":{"metadata":{"namespace":"default","name":"web-1","uid":"a","resourceVersion":"12","labels":{"app":"web"}}}}
{"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired"}}
"#,
    // While there was no watch, db-1 was deleted.
    r#"{"metadata":{"resourceVersion":"30"},"items":[
        {"metadata":{"namespace":"default","name":"web-1","uid":"a","resourceVersion":"12","labels":{"app":"web"}}},
        {"metadata":{"namespace":"default","name":"web-2","uid":"c","resourceVersion":"11","labels":{"app":"web"}}}]}"#,
];

fn main() -> ExitCode {
    no_flags();
    exit(run())
}

fn run() -> Result<(), Box<dyn Error>> {
    let mut config = InformerConfig::new();
    config.reflector.first_state = FirstState::Listed;
    config.reflector.backoff.base = core::time::Duration::from_millis(20);
    let mut pods = Pods::new(PodDecoder::new(), config, 7)?;
    // A listener that does not keep up holds up the network, because there is no room for a backlog.
    let listener = ListenerConfig {
        resync: Resync::Never,
        backlog: Backlog::Stall { at: 2 },
    };
    let listener = pods.add_listener(listener, now())?;
    let (drive, network) = (drive(INFORMER.init(pods), listener)?, network()?);
    EXECUTOR.init(Executor::new()).run_until(
        |spawner| {
            spawner.spawn(drive);
            spawner.spawn(network);
        },
        || DONE.load(Ordering::Relaxed),
    );
    Ok(())
}

/// The driver: passes on commands and bytes, notifies the listener, and waits.
#[embassy_executor::task]
async fn drive(pods: &'static mut Pods, listener: ListenerId) {
    pods.start(now());
    loop {
        pods.advance(now());
        while let Some(command) = pods.poll_command(now()) {
            // The strings fit, because those of the informer have the same capacity.
            if let Ok(command) = command.try_to_owned() {
                COMMANDS.send(command).await;
            }
        }
        let deadline = pods
            .next_deadline()
            .map_or(EmbassyInstant::MAX, |deadline| {
                EmbassyInstant::from_micros(deadline.as_micros())
            });
        if let Either::First((exchange, heard)) = select(HEARD.receive(), Timer::at(deadline)).await
        {
            let mut signal = match &heard {
                Heard::Opened(encoding) => Signal::Opened(*encoding),
                Heard::Bytes(bytes) => Signal::Bytes(bytes),
            };
            loop {
                // `None` means that the listener has to take something first.
                let used = pods.signal(exchange, signal, now());
                while let Some(notification) = pods.poll_notification(listener) {
                    println!("listener  {} pods, {notification}", pods.store().len());
                }
                match (used, signal) {
                    (Some(used), Signal::Bytes(bytes)) if used < bytes.len() => {
                        signal = Signal::Bytes(bytes.get(used..).unwrap_or_default());
                    }
                    (Some(_), _) => break,
                    (None, _) => {}
                }
            }
        }
    }
}

/// The server and the network.
#[embassy_executor::task]
async fn network() {
    let mut answers = ANSWERS.into_iter();
    loop {
        let OwnedCommand::Open { exchange, request } = COMMANDS.receive().await else {
            continue;
        };
        match request.as_request() {
            Request::List { version, .. } => println!("network   list from {:?}", version.as_str()),
            Request::Watch { version, .. } => {
                println!("network   watch from {:?}", version.as_str())
            }
        }
        let Some(answer) = answers.next() else {
            println!("network   the script is over");
            DONE.store(true, Ordering::Relaxed);
            return;
        };
        let opened = Heard::Opened(Encoding::Json);
        HEARD.send((exchange, opened)).await;
        for bytes in answer.as_bytes().chunks(64) {
            Timer::after(Duration::from_millis(1)).await;
            let bytes = Heard::Bytes(bytes.iter().copied().collect());
            HEARD.send((exchange, bytes)).await;
        }
    }
}

fn now() -> Instant {
    Instant::from_micros(EmbassyInstant::now().as_micros())
}
