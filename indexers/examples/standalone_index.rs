//! An indexed store by itself: no informer, no transport, no runtime.
//!
//! Reads pods, one JSON object per line, and shows every way to query them.
//!
//! ```text
//! cargo run --example standalone_index [FILE]
//! ```
//!
//! To create such a file, run `kubectl get pods -A -o json | jq -c '.items[]'`. Without a file, the
//! example uses a few built-in pods.
#![allow(clippy::print_stderr, reason = "a program")]

use std::error::Error;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::process::ExitCode;

use informer_core::Object;
use informer_core::decode::form::LeanBody;
use informer_core::decode::{Lean, decode_object};
use informer_core::indexer::Indexer;
use informer_core::storage::{Heap, Seed};
use informer_indexers::{KeyFormat, Keyed, Query, by};

/// The built-in pods.
pub(crate) const PODS: &str = include_str!("pods.jsonl");

/// A pod as the server sent it, under our own key: `namespace---name`.
type Pod = Keyed<String, Object<LeanBody>>;

/// Reads the pods and runs all queries.
pub(crate) fn run(lines: impl BufRead, out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    let dashes = KeyFormat::new("---");
    let mut store: Indexer<Pod, Heap> = Indexer::new(Seed::new(1));
    for (number, line) in lines.lines().enumerate() {
        let line = line?;
        if line.trim().is_empty() {
            continue;
        }
        let pod = decode_object(&mut Lean, line.as_bytes())
            .map_err(|error| format!("line {}: {error}", number + 1))?;
        store.put(Keyed::by(|pod| dashes.key_of(pod), pod))?;
    }

    // You can add indices before or after the objects.
    store.add_index("namespace", by::namespace())?;
    store.add_index("app", by::label("app"))?;
    store.add_index("key", by::key().ordered())?;
    let priority = by::integer("spec.priority".parse()?).ordered();
    let priority = priority.add_to(&mut store, "priority")?;

    writeln!(out, "{} pods, version {}", store.len(), store.version())?;

    let web = "app in (cart, orders), tier != db".parse()?;
    let query = Query::new().labels(&web);
    writeln!(out, "\nby label, {web}: {}", query.plan(&store))?;
    show(out, query.select(&store))?;

    let query = Query::new().namespace("shop").labels(&web);
    writeln!(out, "\nthe same in namespace shop: {}", query.plan(&store))?;
    show(out, query.select(&store))?;

    writeln!(out, "\nby range, priority from 1 on, highest first:")?;
    show(out, priority.range(&store, 1..)?.objects().rev())?;

    writeln!(out, "\nby key shop---cart-2:")?;
    show(out, store.get(&"shop---cart-2".to_owned()))?;

    writeln!(out, "\nin the order of the keys, two by two:")?;
    let mut after = None;
    loop {
        let page = Query::new().page_by_key(&store, after.as_deref(), 2)?;
        let keys: Vec<_> = page.objects.iter().map(|pod| dashes.key_of(*pod)).collect();
        writeln!(out, "  {}", keys.join(" "))?;
        after = page.next;
        if after.is_none() {
            break;
        }
    }

    writeln!(
        out,
        "\nthe table of the index app:\n{}",
        store.table("app")?
    )?;
    Ok(())
}

fn show<'a>(out: &mut impl Write, pods: impl IntoIterator<Item = &'a Pod>) -> std::io::Result<()> {
    for pod in pods {
        writeln!(out, "  {}", pod.key())?;
    }
    Ok(())
}

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let mut out = std::io::stdout().lock();
    let outcome = match arguments.as_slice() {
        [] => run(PODS.as_bytes(), &mut out),
        [file] if file != "--help" && file != "-h" => match File::open(file) {
            Ok(opened) => run(BufReader::new(opened), &mut out)
                .map_err(|error| format!("{}: {error}", file.display()).into()),
            Err(error) => Err(format!("cannot open {}: {error}", file.display()).into()),
        },
        _ => {
            eprintln!("usage: standalone_index [FILE with one pod as JSON per line]");
            return ExitCode::from(2);
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("standalone_index: {error}");
            ExitCode::FAILURE
        }
    }
}
