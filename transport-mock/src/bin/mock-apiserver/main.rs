//! An in-memory Kubernetes API server as a program: see `--help`.

// The command line.
mod flags;

// The private folder.
mod files;

use std::error::Error;
use std::future;
use std::io::{self, Write as _};
use std::num::NonZeroU32;
use std::pin::pin;
use std::process::ExitCode;
use std::time::{Duration, SystemTime};
use std::{env, fs};

use files::Folder;
use flags::{Flags, USAGE};
use informer_transport_mock::churn::Churn;
use informer_transport_mock::http::faults::FaultScript;
use informer_transport_mock::http::{HttpConfig, SharedServer, serve};
use informer_transport_mock::status::ApiError;
use informer_transport_mock::{Server, ServerConfig, Timestamp};
use serde_json::json;

/// The seed of uids and pod changes: every run creates the same pods.
const SEED: u64 = 1;

fn main() -> ExitCode {
    let arguments = env::args_os().skip(1);
    let flags = match Flags::parse(arguments.map(|text| text.to_string_lossy().into_owned())) {
        Ok(flags) => flags,
        Err(sentence) => return failed(&sentence, 2),
    };
    if flags.help {
        let printed = writeln!(io::stdout(), "{USAGE}");
        return printed.map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS);
    }
    let faults = match faults(&flags) {
        Ok(faults) => faults,
        Err(sentence) => return failed(&sentence, 2),
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build();
    let served = match runtime {
        Ok(runtime) => runtime.block_on(run(flags, faults)),
        Err(error) => Err(error.into()),
    };
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failed(&error.to_string(), 1),
    }
}

fn failed(sentence: &str, status: u8) -> ExitCode {
    // If stderr is closed, the exit status still reports the failure.
    let _ = writeln!(io::stderr(), "mock-apiserver: {sentence}");
    ExitCode::from(status)
}

fn faults(flags: &Flags) -> Result<FaultScript, String> {
    let Some(path) = &flags.faults else {
        return Ok(FaultScript::default());
    };
    let of_file = |error: &dyn Error| format!("--faults {}: {error}", path.display());
    let text = fs::read_to_string(path).map_err(|error| of_file(&error))?;
    text.parse().map_err(|error| of_file(&error))
}

async fn run(flags: Flags, faults: FaultScript) -> Result<(), Box<dyn Error>> {
    let mut churn = Churn::new(flags.pods, SEED);
    let mut server = server()?;
    churn.fill(&mut server);
    let server = SharedServer::new(server);

    let mut config = HttpConfig::new();
    config.address.set_port(flags.port);
    config.tls = flags.tls;
    config.token = flags.token;
    config.faults = faults;
    let running = serve(server.clone(), config).await?;

    // The first poll installs the handler. Ctrl-C may come as soon as something is printed.
    let mut interrupt = pin!(tokio::signal::ctrl_c());
    tokio::select! {
        biased;
        interrupted = &mut interrupt => return Ok(interrupted?),
        () = future::ready(()) => {}
    }

    let folder = Folder::create()?;
    let kubeconfig = folder.write("kubeconfig", running.kubeconfig())?;
    let mut out = io::stdout();
    writeln!(out, "serving on {}", running.url())?;
    writeln!(out, "kubeconfig {}", kubeconfig.display())?;
    if let Some(pem) = running.ca_pem() {
        writeln!(out, "authority  {}", folder.write("ca.pem", pem)?.display())?;
    }
    out.flush()?;

    let churning = async {
        match flags.churn {
            Some(rate) => keep_changing(churn, &server, rate).await,
            None => future::pending().await,
        }
    };
    tokio::select! {
        () = churning => {}
        interrupted = interrupt => interrupted?,
    }
    running.stop().await;
    Ok(())
}

/// A server on this machine's clock, with the namespaces of every cluster.
fn server() -> Result<Server, ApiError> {
    let mut config = ServerConfig::new(SEED);
    // A clock before 1970 counts as 1970.
    let since_1970 = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
    config.epoch = Timestamp::from_unix(since_1970.as_secs());
    let mut server = Server::new(config);
    for name in ["default", "kube-system"] {
        server.create("namespaces", json!({"metadata": {"name": name}}))?;
    }
    Ok(server)
}

/// Makes `rate` changes per second, forever. Changes that are due together are made together.
async fn keep_changing(mut churn: Churn, server: &SharedServer, rate: NonZeroU32) {
    let period = Duration::from_secs(1) / rate.get();
    let mut due = tokio::time::Instant::now();
    loop {
        due += period;
        tokio::time::sleep_until(due).await;
        server.with(|server| churn.step(server));
    }
}
