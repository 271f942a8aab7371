//! The server and its faults.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use informer::{Client, Config};
use informer_transport_mock::churn::Churn;
use informer_transport_mock::http::{HttpConfig, Running, SharedServer, serve};
use informer_transport_mock::{Server, ServerConfig};
use tokio::task::JoinHandle;
use tokio::time::interval;

use crate::run::Failed;

/// About how many pods there are.
const PODS: usize = 200;

/// How often one of them changes.
const CHANGE: Duration = Duration::from_millis(5);

/// The faults in turn, one per second.
const FAULTS: [&str; 10] = [
    "reset",
    "refuse 3 429",
    "delay 200ms",
    "expire",
    "reset",
    "refuse 2 503",
    "stall",
    "restart",
    "compact",
    "refuse 1 401",
];

/// One server, reached in two ways.
pub(crate) struct World {
    pub(crate) server: SharedServer,
    plain: Running,
    secure: Running,
    authority: PathBuf,
    churn: JoinHandle<()>,
}

impl World {
    /// Starts a server with faults for this long.
    pub(crate) async fn start(time: Duration) -> Result<Self, Failed> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let server = SharedServer::new(Server::new(ServerConfig::new(42)));
        let mut churn = Churn::new(PODS, 42);
        server.with(|server| churn.fill(server));
        let mut config = HttpConfig::new();
        config.faults = script(time).parse()?;
        let plain = serve(server.clone(), config.clone()).await?;
        config.tls = true;
        let secure = serve(server.clone(), config).await?;
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("informer-soak-{}-{count}.pem", std::process::id());
        let authority = std::env::temp_dir().join(name);
        std::fs::write(&authority, secure.ca_pem().unwrap_or_default())?;
        let churn = tokio::spawn(change(server.clone(), churn));
        Ok(Self {
            server,
            plain,
            secure,
            authority,
            churn,
        })
    }

    /// A separate client. Every second one uses TLS.
    pub(crate) fn client(&self, number: u64) -> Result<Client, Failed> {
        let config = if number.is_multiple_of(2) {
            Config::new(self.plain.url())?
        } else {
            Config::new(self.secure.url())?.with_ca_file(&self.authority)
        };
        Ok(Client::new(config)?)
    }

    pub(crate) async fn stop(self) {
        self.churn.abort();
        // The task ends with a cancellation error, as intended.
        let _ = self.churn.await;
        self.plain.stop().await;
        self.secure.stop().await;
        // It may be gone already.
        let _ = std::fs::remove_file(&self.authority);
    }
}

/// One fault per second.
fn script(time: Duration) -> String {
    let mut script = String::new();
    let faults = FAULTS.into_iter().cycle();
    for (second, fault) in (1..=time.as_secs()).zip(faults) {
        // Writing to a String cannot fail.
        let _ = writeln!(script, "at {second}s {fault}");
    }
    script
}

async fn change(server: SharedServer, mut churn: Churn) {
    let mut ticks = interval(CHANGE);
    loop {
        ticks.tick().await;
        server.with(|server| churn.step(server));
    }
}
