//! Elections over HTTP.

use std::time::Duration;

use informer::ObjectKey;
use informer::election::{Election, ElectionBuilder, ElectionConfig};
use informer_transport_mock::http::{HttpConfig, SharedServer, serve};
use informer_transport_mock::{Server, ServerConfig};

use crate::client;

fn server() -> SharedServer {
    SharedServer::new(Server::new(ServerConfig::new(1)))
}

fn replica(url: &str, identity: &str, config: ElectionConfig) -> Election {
    ElectionBuilder::new(ObjectKey::new("web", "shop"))
        .identity(identity)
        .config(config)
        .start(&client::plain(url))
        .unwrap()
}

#[tokio::test]
async fn replicas_lead_one_after_the_other() {
    let server = server();
    let running = serve(server.clone(), HttpConfig::new()).await.unwrap();
    let mut config = ElectionConfig::new();
    config.retry_period = Duration::from_millis(200);
    let first = replica(running.url(), "a", config);
    let guard = first.leading().await.unwrap();
    let second = replica(running.url(), "b", config);
    assert!(guard.holds());
    first.stop().await;
    assert!(!guard.holds());
    let next = second.leading().await.unwrap();
    assert!(next.fencing_token() > guard.fencing_token());
    assert_eq!(second.holder().as_deref(), Some("b"));
    let holder = server.with(|server| {
        let lease = server.get("leases", "web/shop").unwrap();
        lease.field("spec.holderIdentity").into_owned()
    });
    assert_eq!(holder, "b");
    second.stop().await;
    running.stop().await;
}

#[tokio::test]
async fn a_leader_whose_server_is_gone_stops_leading() {
    let running = serve(server(), HttpConfig::new()).await.unwrap();
    let config = ElectionConfig {
        lease_duration: Duration::from_secs(2),
        renew_deadline: Duration::from_secs(1),
        retry_period: Duration::from_millis(200),
        release_on_stop: true,
    };
    let election = replica(running.url(), "a", config);
    let guard = election.leading().await.unwrap();
    running.stop().await;
    guard.lost().await;
    assert!(!guard.holds());
    assert!(!election.is_leader());
    let failure = election.status().failure.unwrap();
    assert!(
        failure
            .message
            .contains("leases.coordination.k8s.io web/shop"),
        "{failure}"
    );
}
