//! How much memory an informer takes for very many pods, and how fast it then answers.
//!
//! There is no server: a list is generated in pieces, and each piece goes straight into the core.
//! So this process holds what the informer holds, and one piece.
#![forbid(unsafe_code)]

// Memory and CPU time of this process.
mod process;

// An informer that is fed by hand.
mod feed;

use std::alloc::System;
use std::error::Error;
use std::hint::black_box;
use std::io::Write as _;
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use cap::Cap;
use clap::{Parser, ValueEnum};
#[cfg(feature = "typed")]
use informer::informer_core::decode::Typed;
use informer::informer_core::decode::{Form, Lean, MetadataOnly, Packed};
use informer::informer_core::pack::Packer;
use informer::informer_core::queue::Transform;
use informer::{FirstState, Object, ObjectKey, PackedBody, by};
use informer_bench_pods::{FIRST_VERSION, Pods, Random};
use serde_json::{Value, json};

use crate::feed::Feed;
use crate::process::{cpu, peak, resident};

/// Counts what is allocated. It costs some time, so measure times with `bench-informer`.
#[global_allocator]
static ALLOCATOR: Cap<System> = Cap::new(System, usize::MAX);

/// The label of the second index, besides the namespace.
const LABEL: &str = "app.kubernetes.io/name";

/// How many different keys are looked up.
const LOOKED_UP: usize = 100_000;

/// Feeds a generated list into an informer without a server, and prints memory and read times as
/// one line of JSON.
#[derive(Parser, Debug)]
#[command(name = "bench-memory")]
struct Options {
    /// The number of pods.
    #[arg(long, default_value_t = 100_000)]
    pods: usize,
    /// The number of namespaces.
    #[arg(long, default_value_t = 100)]
    namespaces: usize,
    /// What decides about the pods.
    #[arg(long, default_value_t = 18)]
    seed: u64,
    /// The form in which pods are stored.
    #[arg(long, value_enum, default_value_t = Stored::Lean)]
    form: Stored,
    /// Whether full states are streamed as events, instead of listed.
    #[arg(long)]
    streamed: bool,
    /// How often the full state comes again.
    #[arg(long, default_value_t = 0)]
    relists: usize,
    /// The size of a piece of the list, in bytes.
    #[arg(long, default_value_t = 128 << 10)]
    piece: usize,
    /// How long look-ups of each kind are repeated, in ms.
    #[arg(long, default_value_t = 1_000)]
    look_up: u64,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
enum Stored {
    /// `Pod` of `k8s-openapi`, without `managedFields`.
    #[cfg(feature = "typed")]
    Typed,
    /// The text that the server sent, without `managedFields`.
    Lean,
    /// The same, packed.
    Packed,
    /// The text of the metadata, without `managedFields`.
    Metadata,
}

fn main() -> ExitCode {
    let options = Options::parse();
    let report = match options.form {
        #[cfg(feature = "typed")]
        Stored::Typed => {
            let pod = Typed::<k8s_openapi::api::core::v1::Pod>::new();
            measure(&options, pod, None)
        }
        Stored::Lean => measure(&options, Lean, None),
        Stored::Packed => measure(&options, Packed, Some(packing())),
        Stored::Metadata => measure(&options, MetadataOnly, None),
    };
    match report.and_then(|report| Ok(writeln!(std::io::stdout(), "{report}")?)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "bench-memory: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Packs every object.
fn packing() -> Transform<Object<PackedBody>> {
    let packer = Mutex::new(Packer::new());
    Transform::new(move |object: &mut Object<PackedBody>| {
        let packer = packer.lock();
        packer.unwrap_or_else(PoisonError::into_inner).pack(object);
        Ok(())
    })
}

fn measure<F: Form>(
    options: &Options,
    form: F,
    transform: Option<Transform<Object<F::Body>>>,
) -> Result<Value, Box<dyn Error>> {
    let pods = Pods::new(options.seed, options.pods, options.namespaces);
    let mut piece = Vec::with_capacity(options.piece);
    let (rss_before, live_before) = (resident(), ALLOCATOR.allocated());
    let (begin, cpu_before) = (Instant::now(), cpu());

    let first_state = if options.streamed {
        FirstState::Streamed
    } else {
        FirstState::Listed
    };
    let mut feed = Feed::new(form, transform, first_state)?;
    feed.index("namespace", by::namespace())?;
    feed.index("app", by::label(LABEL))?;
    let (mut bytes, mut live_once) = (0, 0);
    for full_state in 0..=options.relists {
        feed.begin()?;
        bytes = 0_u64;
        let mut give = |piece: &[u8]| {
            bytes += piece.len() as u64;
            feed.bytes(piece)
        };
        if options.streamed {
            stream(&pods, options.piece, &mut piece, give)?;
        } else {
            let mut list = pods.list(options.piece);
            while list.next_into(&mut piece) {
                give(&piece)?;
            }
        }
        feed.end()?;
        if full_state == 0 {
            live_once = ALLOCATOR.allocated();
        }
    }
    drop(piece);
    let (rss, rss_peak, live) = (resident(), peak(), ALLOCATOR.allocated());
    let live_peak = ALLOCATOR.max_allocated();
    let (seconds, cpu_seconds) = (
        begin.elapsed().as_secs_f64(),
        (cpu() - cpu_before).as_secs_f64(),
    );

    let store = feed.store();
    let n = store.len();
    if n != pods.len() {
        return Err(format!("{n} of {} pods are in the store", pods.len()).into());
    }
    let per_pod = |now: u64, before: u64| now.saturating_sub(before) as f64 / n as f64;
    let random = &mut Random::new(options.seed, 5);
    let keys = shuffled(store.keys().cloned().step_by(1 + n / LOOKED_UP), random);
    let apps = shuffled(store.index_values("app")?.map(<[u8]>::to_vec), random);
    let namespaces: Vec<String> = pods.namespaces().collect();
    let time = Duration::from_millis(options.look_up);
    Ok(json!({
        "form": options.form.to_possible_value().map(|value| value.get_name().to_owned()),
        "pods": n,
        "seed": options.seed,
        "list_bytes_per_pod": bytes as f64 / n as f64,
        "seconds_with_generating": seconds,
        "cpu_seconds_with_generating": cpu_seconds,
        "rss": rss,
        "rss_peak": rss_peak,
        "rss_per_pod": per_pod(rss, rss_before),
        "live_bytes": live,
        "live_bytes_after_the_first_state": live_once,
        "live_bytes_per_pod": per_pod(live as u64, live_before as u64),
        "live_bytes_peak": live_peak,
        "get_us": mean(&keys, time, |key: &ObjectKey| usize::from(store.get(key).is_some())).time,
        "by_app": mean(&apps, time, |app| store.by_index("app", app).map_or(0, Iterator::count)).json(),
        "by_namespace": mean(&namespaces, time, |name| {
            store.by_index("namespace", name).map_or(0, Iterator::count)
        })
        .json(),
    }))
}

/// Gives all pods as events of a streamed state, piece by piece.
fn stream<E>(
    pods: &Pods,
    size: usize,
    piece: &mut Vec<u8>,
    mut give: impl FnMut(&[u8]) -> Result<(), E>,
) -> Result<(), E> {
    let mut pod = String::new();
    piece.clear();
    for number in 0..pods.len() {
        pod.clear();
        pods.write(number, &mut pod);
        piece.extend_from_slice(br#"{"type":"ADDED","object":"#);
        piece.extend_from_slice(pod.as_bytes());
        piece.extend_from_slice(b"}\n");
        while piece.len() >= size {
            let rest = piece.split_off(size);
            give(piece)?;
            *piece = rest;
        }
    }
    let version = FIRST_VERSION + pods.len() as u64;
    let end = format!(
        r#"{{"type":"BOOKMARK","object":{{"kind":"Pod","apiVersion":"v1","metadata":{{"resourceVersion":"{version}","annotations":{{"k8s.io/initial-events-end":"true"}}}}}}}}"#
    );
    piece.extend_from_slice(end.as_bytes());
    piece.push(b'\n');
    give(piece)
}

/// In an order that CPU caches cannot predict.
fn shuffled<T>(things: impl Iterator<Item = T>, random: &mut Random) -> Vec<T> {
    let mut things: Vec<T> = things.collect();
    things.sort_by_cached_key(|_| random.number());
    things
}

/// The mean of many calls.
struct Mean {
    /// In µs.
    time: f64,
    found: f64,
}

impl Mean {
    fn json(&self) -> Value {
        json!({"us": self.time, "mean_found": self.found})
    }
}

/// Looks things up, one after the other, for so long.
fn mean<T>(things: &[T], time: Duration, look_up: impl Fn(&T) -> usize) -> Mean {
    let (begin, mut calls, mut found) = (Instant::now(), 0_u32, 0);
    let mut things = things.iter().cycle();
    while calls == 0 || begin.elapsed() < time {
        for thing in things.by_ref().take(64) {
            found += black_box(look_up(thing));
            calls += 1;
        }
    }
    Mean {
        time: begin.elapsed().as_secs_f64() * 1e6 / f64::from(calls),
        found: found as f64 / f64::from(calls),
    }
}
