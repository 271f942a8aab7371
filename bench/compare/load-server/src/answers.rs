//! Requests and their answers, as an API server gives them.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use hyper::body::Incoming;
use hyper::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use serde_json::{Value, json};

use crate::body::Body;
use crate::churn::Series;
use crate::parts::Parts;
use crate::query::Query;
use crate::state::World;

/// How long a watch lasts if the client does not say.
const WATCH_SECONDS: u64 = 1_800;

pub(crate) async fn answer(world: Arc<World>, request: Request<Incoming>) -> Response<Body> {
    let query = Query(request.uri().query().unwrap_or_default());
    match (request.method(), request.uri().path()) {
        (&Method::GET, "/api/v1/pods") => {
            let refused = ["labelSelector", "fieldSelector"];
            if refused.iter().any(|name| query.get(name).is_some()) {
                return failure(&world, 400, "BadRequest", "this server has no selectors");
            }
            let encodings = request.headers().get(ACCEPT_ENCODING);
            let gzip =
                encodings.is_some_and(|value| value.as_bytes().windows(4).any(|it| it == b"gzip"));
            if query.is_true("watch") {
                watch(&world, query)
            } else {
                list(&world, query, gzip && world.gzip)
            }
        }
        (&Method::GET, "/version") => ok(
            &world,
            &json!({"major": "1", "minor": "36", "gitVersion": "v1.36.0"}),
        ),
        (&Method::GET, "/bench/info") => {
            let state = world.state();
            let (pods, bytes) = (state.len(), state.bytes());
            drop(state);
            let chunks = world.cutter.describe();
            ok(
                &world,
                &json!({"pods": pods, "bytes": bytes, "style": world.style, "chunks": chunks}),
            )
        }
        (&Method::POST, "/bench/churn") => {
            let series = Series {
                events: query.number("events").unwrap_or(0),
                rate: query.number("rate").unwrap_or(0.0),
                deletes: query.get("kind") == Some("delete_add"),
            };
            let sender = Arc::clone(&world);
            match tokio::task::spawn_blocking(move || series.send(&sender)).await {
                Ok(time) => ok(&world, &json!({"seconds": time.as_secs_f64()})),
                Err(error) => failure(&world, 500, "InternalError", &error.to_string()),
            }
        }
        _ => failure(&world, 404, "NotFound", "this server has nothing but pods"),
    }
}

fn list(world: &World, query: Query<'_>, gzip: bool) -> Response<Body> {
    let state = world.state();
    let (version, pods) = (state.version, state.snapshot());
    drop(state);
    let mut start = 0;
    if let Some(token) = query.get("continue") {
        let parts = token.split_once('.');
        let parts = parts.and_then(|(of, at)| Some((of.parse::<u64>().ok()?, at.parse().ok()?)));
        match parts {
            Some((of, at)) if of == version && at < pods.len() => start = at,
            _ => return failure(world, 410, "Expired", "the continue token is too old"),
        }
    }
    // Like API servers, which answer from their cache if any version will do.
    let limit = query
        .number("limit")
        .filter(|_| query.get("resourceVersion") != Some("0"));
    let limit = limit.filter(|limit| *limit > 0).unwrap_or(usize::MAX);
    let end = pods.len().min(start.saturating_add(limit));
    let mut metadata = json!({"resourceVersion": version.to_string()});
    if end < pods.len() {
        metadata["continue"] = format!("{version}.{end}").into();
        metadata["remainingItemCount"] = (pods.len() - end).into();
    }
    let head = format!(r#"{{"kind":"PodList","apiVersion":"v1","metadata":{metadata},"items":["#);
    let tail = Bytes::from_static(b"]}\n");
    let body = Body::new(Parts::list(
        head.into(),
        pods,
        start..end,
        tail,
        &world.cutter,
    ));
    if gzip {
        let mut response = respond(StatusCode::OK, body.compressed());
        let encoding = HeaderValue::from_static("gzip");
        response.headers_mut().insert(CONTENT_ENCODING, encoding);
        response
    } else {
        respond(StatusCode::OK, body)
    }
}

fn watch(world: &Arc<World>, query: Query<'_>) -> Response<Body> {
    let is_streamed = query.is_true("sendInitialEvents");
    if is_streamed && query.get("resourceVersionMatch") != Some("NotOlderThan") {
        let message = "sendInitialEvents needs resourceVersionMatch=NotOlderThan";
        return failure(world, 422, "Invalid", message);
    }
    let from = query.number("resourceVersion").filter(|from| *from > 0);
    let mut state = world.state();
    let parts = match from {
        Some(from) if !is_streamed => {
            let Some(events) = state.since(from) else {
                drop(state);
                let error = status(410, "Expired", "too old resource version");
                let line = json!({"type": "ERROR", "object": error}).to_string() + "\n";
                return respond(
                    StatusCode::OK,
                    Body::new(Parts::text(line.into(), &world.cutter)),
                );
            };
            Parts::text(events.concat().into(), &world.cutter)
        }
        _ => {
            let end = if is_streamed {
                bookmark(state.version, true)
            } else {
                Bytes::new()
            };
            Parts::added(state.snapshot(), end, &world.cutter)
        }
    };
    let events = state.watch();
    drop(state);
    let seconds = query.number("timeoutSeconds").unwrap_or(WATCH_SECONDS);
    let limit = Duration::from_secs(seconds);
    respond(
        StatusCode::OK,
        Body::new(parts).followed_by(events, Arc::clone(world), limit),
    )
}

/// A bookmark; `is_end` marks the end of a streamed state.
pub(crate) fn bookmark(version: u64, is_end: bool) -> Bytes {
    let mut metadata = json!({"resourceVersion": version.to_string(), "creationTimestamp": null});
    if is_end {
        metadata["annotations"] = json!({"k8s.io/initial-events-end": "true"});
    }
    let object = json!({
        "kind": "Pod", "apiVersion": "v1", "metadata": metadata,
        "spec": {"containers": null}, "status": {},
    });
    let line = json!({"type": "BOOKMARK", "object": object}).to_string() + "\n";
    line.into()
}

fn status(code: u16, reason: &str, message: &str) -> Value {
    json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": message, "reason": reason, "code": code,
    })
}

fn failure(world: &World, code: u16, reason: &str, message: &str) -> Response<Body> {
    let text = status(code, reason, message).to_string();
    let code = StatusCode::from_u16(code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    respond(code, Body::new(Parts::text(text.into(), &world.cutter)))
}

fn ok(world: &World, value: &Value) -> Response<Body> {
    let text = value.to_string();
    respond(
        StatusCode::OK,
        Body::new(Parts::text(text.into(), &world.cutter)),
    )
}

fn respond(code: StatusCode, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() = code;
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, json);
    response
}
