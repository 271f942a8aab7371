//! The server over HTTP.
//!
//! [`serve`] puts a [`SharedServer`] on a port, plain or with TLS, in HTTP/1.1 and HTTP/2. What is
//! sent is what [`Server::handle`](crate::Server::handle) answers; here it gets headers, gzip where
//! the real server compresses, and [faults](faults::Faults) on the way. A write wakes the open
//! watches; a reader who is slow makes the server wait, and not remember.
//!
//! # From the shell
//!
//! The program `mock-apiserver` is a server with a command line, for everything that has a
//! kubeconfig or speaks HTTP:
//!
//! ```console
//! $ cargo run -p informer-transport-mock --features http --bin mock-apiserver -- --port 8001 --pods 3
//! ```
//!
//! In another shell, with `…` for what is left out here:
//!
//! ```console
//! $ curl -s 'http://127.0.0.1:8001/api/v1/namespaces/default/pods?limit=2'
//! {"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"6","continue":"…","remainingItemCount":1},"items":[{"metadata":{"name":"pod-000001",…
//! $ curl -s 'http://127.0.0.1:8001/api/v1/pods?watch=1&resourceVersion=4&timeoutSeconds=1'
//! {"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"pod-000002",…
//! {"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"pod-000003",…
//! $ curl -s 'http://127.0.0.1:8001/api/v1/pods?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&labelSelector=app%3Dweb&timeoutSeconds=1'
//! {"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"pod-000003",…
//! {"type":"BOOKMARK","object":{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"6","annotations":{"k8s.io/initial-events-end":"true"}},"spec":{"containers":null},"status":{}}}
//! $ curl -s -X PATCH -H 'Content-Type: application/merge-patch+json' -d '{"metadata":{"labels":{"app":"db"}}}' http://127.0.0.1:8001/api/v1/namespaces/default/pods/pod-000003
//! {"kind":"Pod","apiVersion":"v1","metadata":{"name":"pod-000003","namespace":"default","uid":"…","resourceVersion":"7",…"labels":{"app":"db"}},…
//! $ curl -s -X DELETE http://127.0.0.1:8001/api/v1/namespaces/default/pods/pod-000001 -o /dev/null -w '%{http_code}\n'
//! 200
//! $ curl -s http://127.0.0.1:8001/api/v1/namespaces/default/pods/pod-000001
//! {"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"pods \"pod-000001\" not found","reason":"NotFound","details":{"name":"pod-000001","kind":"pods"},"code":404}
//! $ curl -s -H 'Accept: application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io' http://127.0.0.1:8001/api/v1/pods
//! {"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"8"},"items":[{"kind":"PartialObjectMetadata",…
//! $ curl -s --http2-prior-knowledge http://127.0.0.1:8001/readyz
//! ok
//! ```
//!
//! `kubectl` works with the kubeconfig that the program names: `get` with `-w`, `-o` and selectors,
//! `describe`, `label`, `annotate`, `patch`, `delete`, `wait`, `run`, and `create`, `apply` and
//! `replace` of files; with `--validate=false` if it wants to see a schema first. What it makes from
//! flags and sends as protobuf (`kubectl create configmap`) is refused with 415: let it write a file
//! first, with `--dry-run=client -o yaml`.

// A server that several tasks use.
mod shared;

// A script of what goes wrong.
pub mod faults;

// How a server is reached.
mod config;

// Why it could not be started.
mod error;

// A certificate for the occasion.
mod tls;

// What a client needs to know.
mod kubeconfig;

// Health, version, OpenAPI.
mod about;

// What the server serves.
mod discovery;

// Compression, where the real server compresses.
mod gzip;

// The body of an answer, as hyper takes it.
mod body;

// Heads of answers.
mod response;

// The script of faults under way.
mod trouble;

// A watch on its way to a client.
mod stream;

// One request.
mod front;

// A server that runs.
mod running;

pub use config::HttpConfig;
pub use error::ServeError;
pub use running::{Running, serve};
pub use shared::SharedServer;
