//! Resources by name, over a kube client.

use informer::informer_transport_kube::KubeClient;
use informer_transport_mock::api::ApiKind;

use crate::client;

#[tokio::test]
async fn names_become_resources() {
    let (server, running) = client::server().await;
    server.with(|server| {
        server.register(ApiKind::custom("example.com", "v1", "widgets", "Widget"));
    });
    let client = KubeClient::new(client::plain(running.url())).unwrap();
    let widgets = client.resolve("Widget").await.unwrap();
    assert_eq!(widgets.to_string(), "widgets.example.com");
    let path = widgets.target(Some("web")).unwrap().path();
    assert_eq!(path, "/apis/example.com/v1/namespaces/web/widgets");
    let error = client.resolve("widgts").await.unwrap_err().to_string();
    assert!(
        error.contains("did you mean `widgets.example.com`?"),
        "{error}"
    );
    let version = client.get("/version").await.unwrap();
    assert!(version.starts_with(b"{"));
    running.stop().await;
}
