//! An informer in a program without std, an allocator or a runtime. It lists, watches, relists and
//! stops, and prints what it received. The proof is that it links and that it runs.
#![no_std]
#![no_main]

#[cfg(feature = "let-std-in")]
extern crate std;

mod decoder;

use core::fmt::{self, Write};
use core::time::Duration;

use decoder::{Pod, PodDecoder};
use informer_core::indexer::IndexFn;
use informer_core::processor::{Backlog, ListenerConfig, Resync};
use informer_core::reflector::FirstState;
use informer_core::storage::Fixed;
use informer_core::transport::{Command, Request, Signal};
use informer_core::{Encoding, Informer, InformerConfig, Instant, Notification};
use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags, open};

/// Sixteen objects, four listeners and indexes, texts of 64 bytes.
type Memory = Fixed<16, 4, 64>;

/// The answers of the server, one per request.
const ANSWERS: [&str; 3] = [
    r#"{"metadata":{"resourceVersion":"10"},"items":[
        {"metadata":{"namespace":"default","name":"web","uid":"a","resourceVersion":"3","labels":{"app":"web"}}},
        {"metadata":{"namespace":"default","name":"db","uid":"b","resourceVersion":"7","labels":{"app":"db"}}}]}"#,
    r#"{"type":"ADDED","object":{"metadata":{"namespace":"default","name":"web-2","uid":"c","resourceVersion":"11","labels":{"app":"web"}}}}
{"type":"MODIFIED","object":{"metadata":{"namespace":"default","name":"web","uid":"a","resourceVersion":"12","labels":{"app":"web"}}}}
{"type":"DELETED","object":{"metadata":{"namespace":"default","name":"web-2","uid":"c","resourceVersion":"13","labels":{"app":"web"}}}}
{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"15"}}}
{"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired"}}
"#,
    // Meanwhile `db` was deleted, and `web` was replaced by another pod of the same name.
    r#"{"metadata":{"resourceVersion":"30"},"items":[
        {"metadata":{"namespace":"default","name":"web","uid":"z","resourceVersion":"25","labels":{"app":"web"}}}]}"#,
];

#[unsafe(no_mangle)]
extern "C" fn main() -> i32 {
    // Standard output without std.
    let Ok(out) = open("/dev/stdout", OFlags::WRONLY, Mode::empty()) else {
        return 2;
    };
    match run(&mut Out(out)) {
        Ok(()) => 0,
        Err(Failed) => 1,
    }
}

struct Failed;

impl<E: core::error::Error> From<E> for Failed {
    fn from(_: E) -> Self {
        Self
    }
}

fn by_app(pod: &Pod, file: &mut dyn FnMut(&[u8])) {
    file(pod.app.as_bytes());
}

fn run(out: &mut Out) -> Result<(), Failed> {
    let mut config = InformerConfig::new();
    config.reflector.first_state = FirstState::Listed;
    let mut now = Instant::from_micros(0);
    let mut informer: Informer<PodDecoder, Memory> = Informer::new(PodDecoder::new(), config, 7)?;
    informer.add_index("app", IndexFn::plain(by_app))?;
    let listener = informer.add_listener(
        ListenerConfig {
            resync: Resync::Never,
            backlog: Backlog::Stall { at: 2 },
        },
        now,
    )?;
    informer.start(now);
    let mut answers = ANSWERS.into_iter();
    loop {
        informer.advance(now);
        while let Some(command) = informer.poll_command(now) {
            let Command::Open { exchange, request } = command else {
                writeln!(out, "abort")?;
                continue;
            };
            match &request {
                Request::List { version, .. } => writeln!(out, "list from {:?}", version.as_str())?,
                Request::Watch { version, .. } => {
                    writeln!(out, "watch from {:?}", version.as_str())?
                }
            }
            let Some(answer) = answers.next() else {
                informer.stop(now);
                let store = informer.store();
                write!(
                    out,
                    "stop with {} objects\n{}",
                    store.len(),
                    store.table("app")?
                )?;
                return Ok(());
            };
            // No notification is pending here, so the listener cannot be full.
            let opened = Signal::Opened(Encoding::Json);
            informer.signal(exchange, opened, now).ok_or(Failed)?;
            let mut rest = answer.as_bytes();
            while !rest.is_empty() {
                let piece = rest.get(..7).unwrap_or(rest);
                // `None`: the listener is full. The loop below empties it.
                let used = informer.signal(exchange, Signal::Bytes(piece), now);
                rest = rest.get(used.unwrap_or(0)..).unwrap_or_default();
                while let Some(notification) = informer.poll_notification(listener) {
                    tell(out, &notification)?;
                }
            }
        }
        now = informer
            .next_deadline()
            .unwrap_or(now.after(Duration::from_secs(1)));
    }
}

fn tell(out: &mut Out, notification: &Notification<Pod>) -> fmt::Result {
    match notification {
        Notification::Added {
            object,
            initial,
            cause,
        } => {
            writeln!(
                out,
                "add {}@{} initial={initial} {cause:?}",
                object.key, object.version
            )
        }
        Notification::Updated { old, new, cause } => {
            writeln!(
                out,
                "update {} {} to {} {cause:?}",
                new.key, old.version, new.version
            )
        }
        Notification::Deleted {
            key,
            certainty,
            cause,
            ..
        } => {
            writeln!(out, "delete {key} {certainty:?} {cause:?}")
        }
    }
}

struct Out(OwnedFd);

impl Write for Out {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let mut rest = text.as_bytes();
        while !rest.is_empty() {
            let written = rustix::io::write(&self.0, rest).map_err(|_| fmt::Error)?;
            rest = rest.get(written..).unwrap_or_default();
        }
        Ok(())
    }
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    let myself = rustix::process::getpid();
    let _ = rustix::process::kill_process(myself, rustix::process::Signal::ABORT);
    loop {}
}

/// `core` refers to this symbol, although nothing here unwinds.
#[unsafe(no_mangle)]
extern "C" fn rust_eh_personality() {}
