//! A server whose certificate is not trusted.

use informer::Failure;
use informer_transport_mock::http::{HttpConfig, serve};

use crate::client;
use crate::files::File;
use crate::followed::{Followed, WAYS, impatient, server};

#[tokio::test]
async fn a_wrong_authority_is_named_and_the_right_one_trusted() {
    for way in WAYS {
        let server = server();
        let mut http = HttpConfig::new();
        http.tls = true;
        let running = serve(server.clone(), http.clone()).await.unwrap();
        let stranger = serve(server.clone(), http).await.unwrap();
        let file = File::new("authority");
        file.write(stranger.ca_pem().unwrap());
        let client = client::with_authority(running.url(), file.path());
        let pods = Followed::new(&client, impatient(way));
        pods.fails(Failure::Unreachable, "the wrong authority")
            .await;
        let said = pods.informer.status().last_failure.unwrap().message;
        assert!(said.contains("certificate"), "{said}");
        assert_eq!(pods.informer.status().objects, 0);

        file.write(running.ca_pem().unwrap());
        let client = client::with_authority(running.url(), file.path());
        let mut pods = Followed::new(&client, impatient(way));
        pods.catches_up(&server, "the right authority").await;
        running.stop().await;
        stranger.stop().await;
    }
}
