//! Requests that the client itself repeats (`Config::default_retry`).

use informer::Failure;
use informer::informer_transport_kube::kube;
use informer_transport_mock::http::{HttpConfig, serve};
use kube::{Client, Config};

use crate::followed::{Followed, WAYS, change, impatient, server};
use crate::wire::{Answer, Wire};

#[tokio::test]
async fn a_client_that_repeats_requests_hides_an_overload_and_nothing_is_lost() {
    for way in WAYS {
        let what = format!("{way:?}");
        let server = server();
        let running = serve(server.clone(), HttpConfig::new()).await.unwrap();
        let wire = Wire::new(running.address()).await;
        let config = Config::new(wire.url().parse().unwrap());
        assert!(config.default_retry, "kube has changed its default");
        let client = Client::try_from(config).unwrap();
        let mut pods = Followed::new(&client, impatient(way));
        pods.catches_up(&server, &what).await;

        let busy = "HTTP/1.1 503 Busy\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
        wire.answer([Answer::Text(busy.to_owned()), Answer::Text(busy.to_owned())]);
        change(&server, "d");
        pods.catches_up(&server, &what).await;
        pods.knows_who_vanished(&what);
        assert!(wire.is_used_up(), "{what}");
        assert!(!pods.has_failed(Failure::Unavailable), "{what}");
        running.stop().await;
    }
}
