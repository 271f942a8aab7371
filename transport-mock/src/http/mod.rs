//! The server over HTTP.
//!
//! [`serve`] puts a [`SharedServer`] on a port, plain or with TLS, in HTTP/1.1 and HTTP/2. It sends
//! the answers of [`Server::handle`](crate::Server::handle) with headers, compresses them where the
//! real server does, and injects [faults](faults::FaultScript). A write wakes the open watches. For a
//! slow reader the server waits; it does not buffer.
//!
//! # From the shell
//!
//! The program `mock-apiserver` is the server with a command line, for any client that reads a
//! kubeconfig or speaks HTTP:
//!
//! ```console
//! $ cargo run -p informer-transport-mock --features http --bin mock-apiserver -- --port 8001 --pods 3
//! ```
//!
//! In another shell (`…` marks omissions):
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
//! $ curl -s -H 'Accept: application/vnd.kubernetes.protobuf' http://127.0.0.1:8001/api/v1/pods -o /dev/null -w '%{content_type}\n'
//! application/vnd.kubernetes.protobuf
//! ```
//!
//! `kubectl` works with the kubeconfig whose path the program prints: `get` with `-w`, `-o` and
//! selectors, `describe`, `label`, `annotate`, `patch`, `delete`, `wait`, `run`, and `create`,
//! `apply` and `replace` of files. Add `--validate=false` if it asks for a schema. Objects that
//! kubectl builds from flags and sends as protobuf (`kubectl create configmap`) are refused with
//! 415. Write them to a file first, with `--dry-run=client -o yaml`.

// A server shared by several tasks.
mod shared;

// Scripts of faults.
pub mod faults;

// HTTP configuration.
mod config;

// Errors at the start.
mod error;

// Certificates.
mod tls;

// The kubeconfig.
mod kubeconfig;

// Health, version, OpenAPI.
mod about;

// API discovery.
mod discovery;

// Compression.
mod gzip;

// Bodies for hyper.
mod body;

// Status and headers of answers.
mod response;

// The state of a fault script.
mod trouble;

// A watch on its way to a client.
mod stream;

// One request.
mod front;

// A running server.
mod running;

pub use config::HttpConfig;
pub use error::ServeError;
pub use running::{Running, serve};
pub use shared::SharedServer;
