//! Watches that are silent for longer than `Config::read_timeout` of the client allows.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use informer::Failure;
use informer::informer_transport_kube::kube;
use informer_transport_mock::http::{HttpConfig, serve};
use kube::client::{Body, ClientBuilder};
use tower::util::MapRequestLayer;

use crate::client;
use crate::followed::{Followed, WAYS, impatient, server, touch};

#[tokio::test]
async fn a_silent_watch_is_opened_again_and_nothing_is_listed_again() {
    for way in WAYS {
        let what = format!("{way:?}");
        let server = server();
        let running = serve(server.clone(), HttpConfig::new()).await.unwrap();
        let mut config = client::config(running.url());
        // A watch that ends within a second is no watch, and its version is not trusted.
        config.read_timeout = Some(Duration::from_millis(1_100));
        let asked = Arc::new(Mutex::new(Vec::new()));
        let note = Arc::clone(&asked);
        let builder = ClientBuilder::try_from(config).unwrap();
        let layer = MapRequestLayer::new(move |request: http::Request<Body>| {
            note.lock().unwrap().push(request.uri().to_string());
            request
        });
        let client = builder.with_layer(&layer).build();
        let mut pods = Followed::new(&client, impatient(way));
        pods.catches_up(&server, &what).await;
        pods.fails(Failure::TimedOut, &what).await;
        let said = pods.informer.status().last_failure.unwrap().message;
        assert!(said.contains("read_timeout"), "{said}");
        touch(&server, "a");
        pods.catches_up(&server, &what).await;
        assert!(asked.lock().unwrap().len() > 1, "{what}");
        let asked = asked.lock().unwrap().clone();
        let full =
            |uri: &&String| !uri.contains("watch=") || uri.contains("sendInitialEvents=true");
        assert_eq!(asked.iter().filter(full).count(), 1, "{what}: {asked:#?}");
        running.stop().await;
    }
}
