//! A mock server with some pods.

use informer_transport_mock::http::{HttpConfig, Running, SharedServer, serve};
use informer_transport_mock::{Server, ServerConfig};
use serde_json::{Value, json};

/// A mock server with two pods in the namespace `web` and one in `db`.
pub(crate) async fn cluster() -> (SharedServer, Running) {
    cluster_with(HttpConfig::new()).await
}

pub(crate) async fn cluster_with(config: HttpConfig) -> (SharedServer, Running) {
    let server = SharedServer::new(Server::new(ServerConfig::new(1)));
    create(&server, "pods", "web/a");
    create(&server, "pods", "web/b");
    create(&server, "pods", "db/c");
    let running = serve(server.clone(), config).await.unwrap();
    (server, running)
}

/// Creates an object with its name as label. Returns its uid and version.
pub(crate) fn create(server: &SharedServer, kind: &str, key: &str) -> (String, String) {
    let (namespace, name) = key.split_once('/').unwrap_or(("", key));
    let mut object = json!({"metadata": {"name": name, "labels": {"app": name}}});
    if !namespace.is_empty() {
        object["metadata"]["namespace"] = namespace.into();
    }
    if kind == "pods" {
        object["spec"] = json!({"containers": [], "nodeName": format!("node-{name}")});
    }
    server.with(|server| {
        let object = server.create(kind, object).unwrap();
        (object.uid().to_owned(), object.version().to_string())
    })
}

/// Changes an object. Returns its version before and after.
pub(crate) fn touch(server: &SharedServer, key: &str) -> (String, String) {
    server.with(|server| {
        let before = server.get("pods", key).unwrap().version();
        let change = json!({"metadata": {"annotations": {"touched": before.to_string()}}});
        let after = server.patch("pods", key, change).unwrap().version();
        (before.to_string(), after.to_string())
    })
}

/// Deletes a pod. Returns the version of the deletion.
pub(crate) fn delete(server: &SharedServer, key: &str) -> String {
    server.with(|server| {
        server.delete("pods", key).unwrap();
        server.version().to_string()
    })
}

/// Keys and versions of the objects on the server.
pub(crate) fn objects(server: &SharedServer, namespace: &str) -> Value {
    server.with(|server| {
        let pods = server.objects("pods");
        pods.filter(|pod| namespace.is_empty() || pod.namespace() == Some(namespace))
            .map(|pod| (pod.key().to_owned(), Value::from(pod.version().to_string())))
            .collect::<serde_json::Map<_, _>>()
            .into()
    })
}
