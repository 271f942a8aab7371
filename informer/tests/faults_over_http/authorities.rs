//! Certificate authorities that change while an informer runs.

use informer::Failure;
use informer_transport_mock::Server;
use informer_transport_mock::http::{HttpConfig, serve};

use crate::client;
use crate::files::File;
use crate::followed::{Followed, Way, change, impatient, in_every_way, server};

#[tokio::test]
async fn a_wrong_authority_is_replaced_by_the_right_one() {
    in_every_way(is_replaced).await;
}

async fn is_replaced(way: Way) {
    let server = server();
    let mut http = HttpConfig::new();
    http.tls = true;
    let running = serve(server.clone(), http.clone()).await.unwrap();
    let stranger = serve(server.clone(), http.clone()).await.unwrap();
    let file = File::new("ca");
    file.write(stranger.ca_pem().unwrap());
    let client = client::with_authority(running.url(), file.path());
    let mut pods = Followed::new(&client, impatient(way));
    pods.fails(Failure::Unreachable, "the wrong authority")
        .await;
    let said = pods.informer.status().last_failure.unwrap().message;
    assert!(said.contains("certificate"), "{said}");
    assert_eq!(pods.informer.status().objects, 0);
    file.write(running.ca_pem().unwrap());
    pods.catches_up(&server, "the right authority").await;

    // The next server has a certificate of another authority.
    http.address = running.address();
    running.stop().await;
    change(&server, "d");
    server.with(Server::restart);
    let running = serve(server.clone(), http).await.unwrap();
    file.write(running.ca_pem().unwrap());
    pods.catches_up(&server, "the next authority").await;
    pods.knows_who_vanished("the next authority");
    running.stop().await;
    stranger.stop().await;
}
