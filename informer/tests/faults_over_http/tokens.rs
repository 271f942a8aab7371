//! Tokens that change while an informer runs.

use informer::Failure;
use informer_transport_mock::Server;
use informer_transport_mock::http::{HttpConfig, Running, SharedServer, serve};

use crate::client;
use crate::files::File;
use crate::followed::{Followed, WAYS, change, impatient, server, touch};

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
    for way in WAYS {
        let server = server();
        let running = serve_with(&server, "one", None).await;
        let file = File::new("token");
        file.write("one");
        let client = client::with_token_file(running.url(), file.path());
        let mut pods = Followed::new(&client, impatient(way));
        pods.catches_up(&server, "the first token").await;
        // Not only the list, the watch too was opened with it.
        touch(&server, "a");
        pods.catches_up(&server, "the first token").await;

        // First the file, then the server: no request fails.
        file.write("two");
        touch(&server, "a");
        pods.catches_up(&server, "the first watch").await;
        let running = serve_with(&server, "two", Some(running)).await;
        touch(&server, "a");
        pods.catches_up(&server, "the second token").await;
        assert!(!pods.has_failed(Failure::Unauthorized));

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
}
