//! An API server of generated pods, for measuring clients.
//!
//! It lists (in pages, too), watches, streams its state, and changes pods when it is told to. It
//! prints its URLs as one line of JSON, and ends when its standard input does.

// The command line.
mod options;

// The pods and their history.
mod state;

// What an answer is cut into.
mod cutter;

// Bodies of answers.
mod body;
mod parts;

// Requests and their answers.
mod answers;
mod query;

// Changes on request.
mod churn;

// A certificate for this run.
mod tls;

use std::convert::Infallible;
use std::error::Error;
use std::io::{Read as _, Write as _};
use std::process::ExitCode;
use std::sync::Arc;

use clap::Parser as _;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use serde_json::json;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use options::Options;
use state::World;

fn main() -> ExitCode {
    match start(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("load-server: {error}");
            ExitCode::FAILURE
        }
    }
}

fn start(options: &Options) -> Result<(), Box<dyn Error>> {
    let world = Arc::new(World::new(options)?);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let plain = TcpListener::bind("127.0.0.1:0").await?;
        let secure = TcpListener::bind("127.0.0.1:0").await?;
        let mut said = json!({"http": format!("http://{}", plain.local_addr()?)});
        tokio::spawn(accept(Arc::clone(&world), plain, None));
        if let Some(file) = &options.ca_out {
            let acceptor = tls::acceptor(file)?;
            said["https"] = format!("https://{}", secure.local_addr()?).into();
            tokio::spawn(accept(world, secure, Some(acceptor)));
        }
        println!("{said}");
        std::io::stdout().flush()?;
        let end = || std::io::stdin().read_to_end(&mut Vec::new());
        tokio::task::spawn_blocking(end).await??;
        // Not by the way out of `main`: a churn may still be waiting for a client.
        std::process::exit(0)
    })
}

async fn accept(world: Arc<World>, listener: TcpListener, tls: Option<TlsAcceptor>) {
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            continue;
        };
        let _ = stream.set_nodelay(true);
        let (world, tls) = (Arc::clone(&world), tls.clone());
        tokio::spawn(async move {
            match tls {
                None => serve(world, stream).await,
                Some(tls) => {
                    if let Ok(stream) = tls.accept(stream).await {
                        serve(world, stream).await;
                    }
                }
            }
        });
    }
}

async fn serve(world: Arc<World>, stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) {
    let service = service_fn(move |request| {
        let world = Arc::clone(&world);
        async move { Ok::<_, Infallible>(answers::answer(world, request).await) }
    });
    let server = auto::Builder::new(TokioExecutor::new());
    // It ends with an error whenever a client goes away.
    let _ = server.serve_connection(TokioIo::new(stream), service).await;
}
