//! Errors and what they say.

use std::time::Duration;

use informer::informer_transport_kube::{KubeClient, NoRuntime, Settings, kube};
use informer::{Connect, Failure, FirstState, InformerBuilder, InformerConfig, Target};
use kube::Client;
use kube::client::AuthError;
use tower::service_fn;

use crate::client;

const LONG: Duration = Duration::from_secs(60);

fn pods() -> Target {
    Target::new("", "v1", "pods")
}

/// The first failure of an informer that lists over this client.
async fn failure(client: &impl Connect) -> (Failure, String) {
    let mut config = InformerConfig::new();
    config.reflector.first_state = FirstState::Listed;
    let pods = InformerBuilder::lean_at(pods()).preset(config);
    let pods = pods.start(client).unwrap();
    let mut status = pods.status();
    let failed = async {
        loop {
            if let Some(last) = &status.last_failure {
                return (last.failure, last.message.clone());
            }
            status = pods.status_change(&status).await.unwrap();
        }
    };
    tokio::time::timeout(LONG, failed).await.unwrap()
}

#[test]
fn a_client_needs_a_runtime() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let client = runtime.block_on(async { client::plain("http://127.0.0.1:1") });
    let _: NoRuntime = KubeClient::new(client.clone()).unwrap_err();
    let error = client.connect(&pods()).unwrap_err().to_string();
    assert!(error.contains("no tokio runtime is active"), "{error}");
    let _inside = runtime.enter();
    assert!(client.connect(&pods()).is_ok());
}

#[tokio::test]
async fn a_client_whose_runtime_has_ended_says_so() {
    let client = std::thread::spawn(|| {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(async { client::plain("http://127.0.0.1:1") })
    });
    let client = client.join().unwrap();
    let (failure, message) = failure(&client).await;
    assert_eq!(failure, Failure::Broken);
    assert!(
        message.contains("the runtime of the kube client has ended"),
        "{message}"
    );
}

#[tokio::test]
async fn a_missing_token_file_is_named() {
    // As the authentication of kube fails when it reads the file again.
    let service = service_fn(async |_: http::Request<kube::client::Body>| {
        let gone = std::io::ErrorKind::NotFound.into();
        let error = AuthError::ReadTokenFile(gone, "/run/token".into());
        Err::<http::Response<kube::client::Body>, _>(kube::Error::Auth(error))
    });
    let (failure, message) = failure(&Client::new(service, "default")).await;
    assert_eq!(failure, Failure::Credentials);
    assert!(
        message.contains("the token file /run/token cannot be read"),
        "{message}"
    );
}

#[tokio::test]
async fn a_layer_that_fails_is_quoted() {
    let service = service_fn(async |_: http::Request<kube::client::Body>| {
        Err::<http::Response<kube::client::Body>, _>("the meter is broken")
    });
    let (failure, message) = failure(&Client::new(service, "default")).await;
    assert_eq!(failure, Failure::Other);
    assert!(message.contains("the meter is broken"), "{message}");
}

#[tokio::test]
async fn a_list_beyond_its_limit_fails() {
    let (server, running) = client::server().await;
    server.with(|server| {
        let pod = serde_json::json!({"metadata": {"namespace": "web", "name": "a"}});
        server.create("pods", pod).unwrap();
    });
    let client = KubeClient::new(client::plain(running.url())).unwrap();
    let client = client.with_settings(Settings {
        max_list_bytes: 10,
        ..Settings::new()
    });
    let (failure, message) = failure(&client).await;
    assert_eq!(failure, Failure::Undecodable);
    assert!(message.contains("max_list_bytes"), "{message}");
    running.stop().await;
}
