//! Runs informers against hostile API servers: `informer-hostile [--quick] [MODE…]`.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "it reports")]

// A way to be hostile.
mod mode;

// A server that is hostile until told to be good.
mod server;

// All modes.
mod modes;

// The program under test.
mod client;

// Runs server and program, and measures both.
mod measure;

// The bounds, and the table of results.
mod table;

use std::error::Error;
use std::process::ExitCode;

use client::Orders;
use informer::informer_transport_hyper::HttpVersion;
use measure::{Plan, Setting, measure_all};
use mode::{Limit, Mode, Program};
use server::tls::Authorities;
use table::{Bounds, Table};

const HELP: &str = "\
Starts a hostile API server and a program with an informer for each mode, and measures the program.

    informer-hostile [--quick] [MODE…]
    informer-hostile --list

A MODE is a name, or a prefix followed by *. Without one, all modes run.
--quick  one second per mode; only modes whose effect shows within it
--list   list the modes, what they do and what must stop them
--help   print this text

The table goes to stdout, in Markdown. The exit code is 1 if a bound is broken.";

/// A server that is good from the beginning.
static GOOD: Mode = Mode::answers("good", "nothing", Limit::Nothing, |_| None);

#[tokio::main]
async fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match run(&words).await {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

async fn run(words: &[String]) -> Result<bool, Box<dyn Error>> {
    if let [first, url, http, ca, program] = words
        && first == "client"
    {
        client::run(orders(url, http, ca, program)?).await?;
        return Ok(true);
    }
    let (flags, names): (Vec<_>, Vec<_>) = words.iter().partition(|word| word.starts_with('-'));
    let is_quick = match flags.as_slice() {
        [] => false,
        [flag] if *flag == "--quick" => true,
        [flag] if *flag == "--list" => {
            list();
            return Ok(true);
        }
        [flag] if *flag == "--help" => {
            println!("{HELP}");
            return Ok(true);
        }
        flags => return Err(format!("unknown flags {flags:?}\n\n{HELP}").into()),
    };
    let chosen = choose(&names, is_quick)?;
    let table = meet(chosen, is_quick)
        .await
        .map_err(|error| error.to_string())?;
    print!("{table}");
    Ok(table.is_good())
}

fn list() {
    for mode in modes::all() {
        let quick = if mode.is_quick { ", quick" } else { "" };
        let Mode {
            name,
            over,
            mechanism,
            limit,
            ..
        } = mode;
        println!("{name:<24} {mechanism} ({over}; {limit}{quick})");
    }
}

/// The modes with these names.
fn choose(names: &[&String], is_quick: bool) -> Result<Vec<&'static Mode>, String> {
    let matches = |mode: &Mode, name: &str| match name.strip_suffix('*') {
        Some(begin) => mode.name.starts_with(begin),
        None => mode.name == name,
    };
    for name in names {
        if !modes::all().any(|mode| matches(mode, name)) {
            return Err(format!("unknown mode {name}: --list shows all modes"));
        }
    }
    let chosen = modes::all().filter(|mode| {
        let is_meant = names.is_empty() || names.iter().any(|name| matches(mode, name));
        is_meant && (mode.is_quick || !is_quick)
    });
    Ok(chosen.collect())
}

async fn meet(
    chosen: Vec<&'static Mode>,
    is_quick: bool,
) -> Result<Table, Box<dyn Error + Send + Sync>> {
    let bounds = Bounds::ALL;
    let plan = if is_quick { Plan::QUICK } else { Plan::FULL };
    let folder = std::env::temp_dir().join(format!("informer-hostile-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let file = folder.join("ca.crt");
    let setting = |plan| -> Result<Setting, Box<dyn Error + Send + Sync>> {
        let authorities = Authorities::new()?;
        std::fs::write(&file, authorities.pem())?;
        Ok(Setting {
            authorities,
            ca: file.display().to_string(),
            plan,
        })
    };
    let good = measure_all(vec![&GOOD], setting(Plan::QUICK)?, |_| {}).await?;
    let baseline = good.first().map_or(0, |good| good.peak);
    let rows = measure_all(chosen, setting(plan)?, |done| {
        let broken = bounds.broken_by(done, baseline);
        let word = if broken.is_empty() { "ok" } else { "BROKEN" };
        eprintln!("{word:<7} {} {}", done.mode.name, broken.join(", "));
    })
    .await?;
    std::fs::remove_dir_all(&folder)?;
    Ok(Table {
        bounds,
        baseline,
        rows,
    })
}

/// Parses the parameters of a client.
fn orders(url: &str, http: &str, ca: &str, program: &str) -> Result<Orders, String> {
    let programs = [
        Program::Informs,
        Program::ReadsProtobuf,
        Program::InformsWithinLimits,
        Program::ResolvesFirst,
    ];
    let program = programs
        .into_iter()
        .find(|known| format!("{known:?}") == program);
    Ok(Orders {
        url: url.to_owned(),
        http: match http {
            "http2" => HttpVersion::Http2,
            _ => HttpVersion::Negotiated,
        },
        ca: ca.to_owned(),
        program: program.ok_or("unknown program")?,
    })
}
