//! An index behind HTTP: an informer indexes pods by their label `app` and by their node.
//! `GET /?INDEX=VALUE` returns the keys of the pods with this value, as JSON, and `GET /` all keys. Any number
//! of clients read the same cache, without a request to the API server.

use std::convert::Infallible;
use std::error::Error;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::CONTENT_TYPE;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use informer::{InformerBuilder, Kind as _, LeanBody, Lister, by};
use informer_examples::pods::{self, Pod};
use informer_examples::screen::line;
use informer_examples::{Cluster, ClusterArgs, exit, flags};
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// Serves an index of pods over HTTP: `GET /?app=NAME` returns the keys of the pods with this label
#[derive(Parser)]
struct Flags {
    /// Listen on this port of the loopback interface; 0 chooses a free port
    #[arg(long, default_value_t = 8080)]
    port: u16,

    #[command(flatten)]
    cluster: ClusterArgs,
}

#[tokio::main]
async fn main() -> ExitCode {
    exit(run(flags()).await)
}

async fn run(flags: Flags) -> Result<(), Box<dyn Error>> {
    let cluster = Cluster::open(&flags.cluster).await?;
    cluster.play(pods::some)?;
    let pods = InformerBuilder::lean_at(Pod::target())
        .index("app", by::label("app"))
        .index("node", by::node_name())
        .start(cluster.client())?;
    pods.synced(Duration::from_secs(30)).await?;

    let port = flags.port;
    let listener = TcpListener::bind(("127.0.0.1", port))
        .await
        .map_err(|error| {
            format!("cannot listen on port {port}: {error}; choose another one with --port")
        })?;
    line(format!("listening on http://{}", listener.local_addr()?));
    tokio::select! {
        failed = serve(listener, pods.lister()) => failed,
        pressed = tokio::signal::ctrl_c() => pressed.map_err(Into::into),
    }
}

async fn serve(listener: TcpListener, pods: Lister<LeanBody>) -> Result<(), Box<dyn Error>> {
    loop {
        let (connection, _) = listener.accept().await?;
        let pods = pods.clone();
        let service = service_fn(move |request| {
            let response = respond(&request, &pods);
            async { Ok::<_, Infallible>(response) }
        });
        let connection = http1::Builder::new().serve_connection(TokioIo::new(connection), service);
        // A client that hangs up is not an error.
        tokio::spawn(async { connection.await.unwrap_or_default() });
    }
}

fn respond(request: &Request<Incoming>, pods: &Lister<LeanBody>) -> Response<Full<Bytes>> {
    let (status, body) = match answer(request, pods) {
        Ok(keys) => (StatusCode::OK, json!(keys)),
        Err((status, error)) => (status, json!({"error": error})),
    };
    json_response(status, &body)
}

/// Returns the keys, or what is wrong with the request.
fn answer(
    request: &Request<Incoming>,
    pods: &Lister<LeanBody>,
) -> Result<Vec<String>, (StatusCode, String)> {
    if request.method() != Method::GET {
        return Err((StatusCode::METHOD_NOT_ALLOWED, "only GET is allowed".into()));
    }
    if request.uri().path() != "/" {
        let error = format!(
            "there is nothing at {}; ask for /?app=NAME",
            request.uri().path()
        );
        return Err((StatusCode::NOT_FOUND, error));
    }
    let store = pods.snapshot();
    let query = request.uri().query().unwrap_or_default();
    let mut pairs = form_urlencoded::parse(query.as_bytes());
    let mut keys: Vec<_> = match (pairs.next(), pairs.next()) {
        (None, _) => store.keys().map(ToString::to_string).collect(),
        (Some((index, value)), None) if value.is_empty() => {
            let error = format!("the index {index:?} needs a value, as in /?app=web");
            return Err((StatusCode::BAD_REQUEST, error));
        }
        (Some((index, value)), None) => {
            let found = store.by_index(&*index, value.as_bytes()).map_err(|_| {
                let names: Vec<_> = store.indices().map(|(_, name, _)| name).collect();
                let error = format!("there is no index {index:?}; there are {names:?}");
                (StatusCode::NOT_FOUND, error)
            })?;
            found.map(|pod| pod.key().to_string()).collect()
        }
        (Some(_), Some(_)) => {
            let error =
                format!("only one index and one value are allowed, as in /?app=web, not {query:?}");
            return Err((StatusCode::BAD_REQUEST, error));
        }
    };
    keys.sort();
    Ok(keys)
}

fn json_response(status: StatusCode, body: &Value) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(format!("{body}\n"))));
    *response.status_mut() = status;
    let json = hyper::header::HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, json);
    response
}
