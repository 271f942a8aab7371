//! Tokens that change while an informer runs.

use std::path::Path;
use std::time::Duration;

use informer::{Connect, Failure};
use informer_transport_mock::Server;
use informer_transport_mock::http::{HttpConfig, Running, SharedServer, serve};

use crate::client;
use crate::files::File;
use crate::followed::{Followed, Way, change, impatient, in_every_way, server, touch};

async fn serve_with(server: &SharedServer, token: &str, before: Option<Running>) -> Running {
    let mut http = HttpConfig::new();
    http.token = Some(token.to_owned());
    if let Some(before) = before {
        http.address = before.address();
        before.stop().await;
    }
    serve(server.clone(), http).await.unwrap()
}

#[tokio::test]
async fn a_token_is_rotated_while_a_watch_runs() {
    in_every_way(|way| is_rotated(way, client::with_token_file, client::REREADS_WITHIN)).await;
}

/// Replaces the token of a client twice. `rereads_within` says how long it may use the old one.
pub(crate) async fn is_rotated<C: Connect>(
    way: Way,
    connect: impl Fn(&str, &Path) -> C,
    rereads_within: Duration,
) {
    let server = server();
    let running = serve_with(&server, "one", None).await;
    let file = File::new("token");
    file.write("one");
    let client = connect(running.url(), file.path());
    let mut pods = Followed::new(&client, impatient(way));
    pods.catches_up(&server, "the first token").await;
    // Not only the list, the watch too was opened with it.
    touch(&server, "a");
    pods.catches_up(&server, "the first token").await;

    // First the file, then the server: no request fails, if the file is read at once.
    file.write("two");
    touch(&server, "a");
    pods.catches_up(&server, "the first watch").await;
    assert!(!pods.has_failed(Failure::Unauthorized));
    let running = serve_with(&server, "two", Some(running)).await;
    touch(&server, "a");
    pods.catches_up(&server, "the second token").await;
    let is_late = !rereads_within.is_zero();
    assert!(is_late || !pods.has_failed(Failure::Unauthorized));
    pods.forget_failures();

    // First the server, then the file.
    let running = serve_with(&server, "three", Some(running)).await;
    change(&server, "d");
    pods.fails(Failure::Unauthorized, "the old token").await;
    server.with(Server::restart);
    file.write("three");
    pods.catches_up(&server, "the third token").await;
    pods.knows_who_vanished("the third token");
    running.stop().await;
}
