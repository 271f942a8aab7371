//! What kube makes of the files that a kubeconfig names. The documentation of `transport-kube` says the same.

use informer::Failure;
use informer::informer_transport_kube::kube;
use informer_transport_mock::http::{HttpConfig, serve};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use serde_json::json;

use crate::files::File;
use crate::followed::{Followed, LISTED, impatient, server};

#[tokio::test]
async fn the_authority_of_a_kubeconfig_is_read_once_and_the_failure_names_what_is_read_again() {
    let mut http = HttpConfig::new();
    http.tls = true;
    let running = serve(server(), http.clone()).await.unwrap();
    let stranger = serve(server(), http).await.unwrap();
    let (authority, token) = (File::new("ca"), File::new("token"));
    authority.write(stranger.ca_pem().unwrap());
    token.write("one");
    let kubeconfig = json!({
        "current-context": "here",
        "contexts": [{"name": "here", "context": {"cluster": "here", "user": "me"}}],
        "clusters": [{"name": "here", "cluster": {
            "server": running.url(),
            "certificate-authority": authority.path(),
        }}],
        "users": [{"name": "me", "user": {"tokenFile": token.path()}}],
    });
    let kubeconfig = Kubeconfig::from_yaml(&kubeconfig.to_string()).unwrap();
    let options = KubeConfigOptions::default();
    let config = Config::from_custom_kubeconfig(kubeconfig, &options).await;
    let config = config.unwrap();
    assert_eq!(
        config.auth_info.token_file.as_deref(),
        token.path().to_str()
    );
    assert!(config.root_cert.is_some());
    assert_eq!(config.root_cert_file, None, "kube has changed");

    let client = Client::try_from(config).unwrap();
    let pods = Followed::new(&client, impatient(LISTED));
    pods.fails(Failure::Unreachable, "the wrong authority")
        .await;
    let said = pods.informer.status().last_failure.unwrap().message;
    assert!(
        said.contains("only `Config::root_cert_file` is read again"),
        "{said}"
    );
    running.stop().await;
    stranger.stop().await;
}
