//! A first state that is only received: the requests and the transport of our client, without decoder and
//! store. It shows what TLS, HTTP/2 and gzip cost before there is an informer.

use std::error::Error;
use std::future::poll_fn;
use std::time::Instant;

use informer::informer_core;
use informer::informer_core::reflector::Reflector;
use informer::informer_core::storage::Heap;
use informer::informer_core::transport::{Command, Request, Signal};
use informer::{Encodings, Transport};
use tokio::time::{sleep, timeout};

use crate::options::Options;
use crate::pods::pods;
use crate::process::{cpu, peak, resident};
use crate::report::Report;
use crate::run::{ALLOCATOR, PATIENCE, REST, config, connect, millis};
use crate::seen::Seen;

/// Receives the first state and throws it away.
pub(crate) async fn receive(options: &Options) -> Result<Report, Box<dyn Error>> {
    if options.churn > 0 || options.lat_events > 0 {
        return Err("a form that only receives takes no `--churn` and no `--lat-events`".into());
    }
    let rss_baseline = resident();
    let cpu_before = cpu();
    let begin = Instant::now();

    let client = connect(options)?;
    let mut target = pods();
    if options.form.is_protobuf() {
        target.encodings = Encodings::Protobuf;
    }
    let mut transport = client.transport(&target)?;
    let is_streamed = ask(options, &mut transport)?;
    // Spawned, because the driver of an informer is.
    let receiving = tokio::spawn(async move {
        let received = read(&mut transport, is_streamed).await;
        (received, transport)
    });
    let (received, transport) = timeout(PATIENCE, receiving).await??;
    let answer_bytes = received?;
    let synced = begin.elapsed();
    let sync_cpu = cpu() - cpu_before;
    let (rss_after_sync, rss_peak) = (resident(), peak());
    sleep(REST).await;
    let rss_settled = resident();
    drop(transport);

    Ok(Report {
        contender: "informer",
        allocator: ALLOCATOR,
        form: options.form,
        strategy: options.strategy,
        answer_bytes: Some(answer_bytes),
        sync_ms: millis(synced),
        store_ready_ms: millis(synced),
        sync_cpu_ms: millis(sync_cpu),
        rss_baseline,
        rss_after_sync,
        rss_peak,
        rss_settled,
        rss_end: resident(),
        rss_peak_end: peak(),
        ..Report::default()
    })
}

/// Sends the first request of an informer. `true` if it asks for a streamed state.
fn ask(options: &Options, transport: &mut impl Transport) -> Result<bool, Box<dyn Error>> {
    let now = informer_core::Instant::from_micros(0);
    let mut reflector = Reflector::<Heap>::new(config(options).reflector, 1)?;
    reflector.start(now);
    let command = reflector.poll_command(now).ok_or("no request")?;
    let is_streamed = match command {
        Command::Open {
            request: Request::List { page: None, .. },
            ..
        } => false,
        Command::Open {
            request:
                Request::Watch {
                    initial_events: true,
                    ..
                },
            ..
        } => true,
        _ => return Err("the first request is not one for a full state".into()),
    };
    transport.execute(command);
    Ok(is_streamed)
}

/// Reads until the state is complete, and returns the length of the body.
async fn read(transport: &mut impl Transport, is_streamed: bool) -> Result<u64, String> {
    let mut seen = Seen::default();
    loop {
        let next = poll_fn(|cx| {
            let turn = |(_, signal): (_, Signal<'_>)| match signal {
                Signal::Opened(_) => Ok((0, false)),
                Signal::Bytes(bytes) => {
                    let ends = seen.add(bytes, is_streamed);
                    Ok((bytes.len(), ends))
                }
                Signal::Closed if is_streamed => Err("the watch ended within the state".to_owned()),
                Signal::Closed if seen.has_more_pages() => Err(
                    "the server sent the list in pages, and only the first was received".to_owned(),
                ),
                Signal::Closed => Ok((0, true)),
                Signal::Failed { failure, message } => Err(format!("{failure}: {message}")),
            };
            transport.poll_signal(cx).map(turn)
        });
        let (used, ends) = next.await?;
        transport.consume(used);
        if ends {
            return Ok(seen.bytes());
        }
    }
}
