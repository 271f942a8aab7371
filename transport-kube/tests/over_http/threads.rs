//! An informer on plain threads reads the answers of a kube client, whose own tasks run in tokio.

use std::time::Duration;

use informer::{FirstState, InformerBuilder, InformerConfig, Target};
use serde_json::json;
use tokio::runtime::Runtime;

use crate::client;

const LONG: Duration = Duration::from_secs(60);

#[test]
fn a_kube_client_serves_an_informer_outside_of_tokio() {
    let runtime = Runtime::new().unwrap();
    let (server, running) = runtime.block_on(client::server());
    let client = runtime.block_on(async { client::plain(running.url()) });
    let create = |name: &str| {
        let pod = json!({"metadata": {"namespace": "web", "name": name}});
        server.with(|server| server.create("pods", pod)).unwrap();
    };
    create("a");
    for first_state in [FirstState::Listed, FirstState::Streamed] {
        let mut config = InformerConfig::new();
        config.reflector.first_state = first_state;
        let builder = InformerBuilder::lean_at(Target::new("", "v1", "pods")).preset(config);
        let pods = {
            // Only to connect.
            let _inside = runtime.enter();
            builder.start_blocking(&client).unwrap()
        };
        let (told, heard) = std::sync::mpsc::channel();
        pods.on(move |change: informer::Notification<informer::Object<_>>| {
            told.send(change.key().to_string()).unwrap();
        })
        .unwrap();
        pods.wait_synced(LONG).unwrap();
        assert_eq!(heard.recv_timeout(LONG).unwrap(), "web/a");
        let name = format!("{first_state:?}").to_lowercase();
        create(&name);
        while heard.recv_timeout(LONG).unwrap() != format!("web/{name}") {}
    }
    runtime.block_on(running.stop());
}
