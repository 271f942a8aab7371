//! Why a server cannot be reached: what failed, and what to do about it.
use crate::rig::certificates::Authority;
use crate::rig::hand::{Hand, list};
use crate::rig::relay::proxy;
use crate::rig::server::{Cluster, Listen, Server};
use informer_core::Failure;
use informer_transport_hyper::{Client, Config};

/// What is said to whoever cannot reach the server. The headline stands above it in every status.
async fn said(config: Config) -> String {
    let client = Client::new(config).unwrap();
    let mut hand = Hand::new(&client);
    hand.open(list());
    let message = hand.failed(Failure::Unreachable).await;
    format!("{}: {message}", Failure::Unreachable)
}

#[tokio::test]
async fn each_cause_is_told_with_its_remedy() {
    let cluster = Cluster::new(true).await;
    let plain = Server::new(Listen {
        tls: None,
        http2: false,
        max_streams: 100,
    })
    .await;
    let nobody = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let refused = nobody.local_addr().unwrap();
    drop(nobody);
    let other = cluster
        .folder
        .write("other.crt", &Authority::new("another").pem());
    let proxied = |address: std::net::SocketAddr| {
        let text = format!(
            "current-context: c\ncontexts: [{{name: c, context: {{cluster: c}}}}]\n\
             clusters: [{{name: c, cluster: {{server: '{}', proxy-url: 'http://{address}'}}}}]\n",
            cluster.url()
        );
        Config::from_kubeconfig(cluster.folder.write("proxied", &text), None).unwrap()
    };
    let (forbidding, _questions) = proxy("HTTP/1.1 403 Forbidden\r\n\r\n").await;
    let url = |address| format!("https://{address}");
    for (config, cause, remedy) in [
        (
            Config::new("https://no-such-host.invalid:6443").unwrap(),
            "the name `no-such-host.invalid` of https://no-such-host.invalid:6443 cannot be resolved: ",
            "is it spelt right, and is DNS working here?",
        ),
        (
            cluster.config_at(&url(refused)),
            "connection refused by https://127.0.0.1:",
            "is it running at this address?",
        ),
        (
            proxied(refused),
            "connection refused by the proxy 127.0.0.1:",
            "is it running at this address?",
        ),
        (
            proxied(forbidding),
            "refused to connect to 127.0.0.1:",
            "HTTP 403; does it allow this server?",
        ),
        (
            cluster.config_at(&url(plain.address)),
            "does not answer in TLS",
            "if it is a server for http://, name it so",
        ),
        (
            cluster.config().with_ca_file(&other),
            "is not signed by the certificate authority ",
            "is it the right one for this cluster?",
        ),
    ] {
        let said = said(config).await;
        assert!(
            said.starts_with("the server could not be reached: "),
            "{said}"
        );
        assert!(said.contains(cause), "{said}");
        assert!(said.ends_with(remedy), "{said}");
        let refusals = said.matches("connection refused").count();
        assert_eq!(
            refusals,
            cause.matches("connection refused").count(),
            "{said}"
        );
    }
}

#[tokio::test]
async fn a_server_for_https_that_is_asked_without_is_recognised() {
    let mut server = Server::new(Listen {
        tls: None,
        http2: false,
        max_streams: 100,
    })
    .await;
    let config = Config::new(&format!("http://{}", server.address)).unwrap();
    let client = Client::new(config).unwrap();
    let mut hand = Hand::new(&client);
    hand.open(list());
    let body = "Client sent an HTTP request to an HTTPS server.\n";
    server.call().await.reply(400, &[], body);
    let message = hand.failed(Failure::Unreachable).await;
    assert!(
        message.ends_with("begin its address with https://"),
        "{message}"
    );
}

#[tokio::test]
async fn a_missing_right_is_the_one_that_is_missing() {
    let mut cluster = Cluster::new(true).await;
    let client = Client::new(cluster.config()).unwrap();
    let mut hand = Hand::new(&client);
    for (text, begins) in [
        (
            "users \\\"eve\\\" is forbidden: User \\\"bob\\\" cannot impersonate resource",
            "the right to impersonate is missing: ",
        ),
        (
            "pods is forbidden: User \\\"system:anonymous\\\" cannot list resource",
            "the right to list pods in the whole cluster is missing (no credentials were shown, or they \
             were not accepted): ",
        ),
    ] {
        hand.open(list());
        let body =
            format!(r#"{{"kind":"Status","code":403,"reason":"Forbidden","message":"{text}"}}"#);
        cluster.server.call().await.reply(403, &[], body);
        let message = hand.failed(Failure::Forbidden).await;
        assert!(message.starts_with(begins), "{message}");
    }
}

#[tokio::test]
async fn nothing_that_a_server_says_is_long_or_moves_the_cursor() {
    let mut cluster = Cluster::new(true).await;
    let client = Client::new(cluster.config()).unwrap();
    let mut hand = Hand::new(&client);
    let long = "x".repeat(10_000);
    hand.open(list());
    let kind = [("content-type", long.as_str())];
    cluster.server.call().await.reply(200, &kind, "");
    let message = hand.failed(Failure::Undecodable).await;
    assert!(message.len() <= 512, "{}", message.len());
    // What to do about it is told all the same.
    assert!(
        message.ends_with("does something else answer in place of the API server?"),
        "{message}"
    );
    hand.open(list());
    let kind = [("content-type", "text/\u{9b}31m")];
    cluster.server.call().await.reply(200, &kind, "");
    let message = hand.failed(Failure::Undecodable).await;
    assert!(!message.contains(char::is_control), "{message:?}");
}
