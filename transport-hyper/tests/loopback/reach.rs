//! Why a server cannot be reached: the cause and the remedy.
use crate::rig::certificates::Authority;
use crate::rig::hand::{Hand, list};
use crate::rig::relay::proxy;
use crate::rig::server::{Cluster, Listen, Server};
use informer_core::Failure;
use informer_transport_hyper::{Client, Config};

/// The message about an unreachable server, with the headline that every status shows before it.
async fn said(config: Config) -> String {
    let client = Client::new(config).unwrap();
    let mut hand = Hand::new(&client);
    hand.open(list());
    let message = hand.failed(Failure::Unreachable).await;
    format!("{}: {message}", Failure::Unreachable)
}

#[tokio::test]
async fn each_cause_comes_with_its_remedy() {
    let cluster = Cluster::new(true).await;
    let plain = Server::new(Listen {
        tls: None,
        http2: false,
        max_streams: 100,
    })
    .await;
    let closed = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let refused = closed.local_addr().unwrap();
    drop(closed);
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
            "is it spelled correctly, and does DNS work here?",
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
            "does not speak TLS",
            "if it serves plain HTTP, use http://",
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
async fn plain_http_to_an_https_server_is_recognised() {
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
        message.ends_with("the request was plain HTTP; begin its address with https://"),
        "{message}"
    );
}

#[tokio::test]
async fn the_right_permission_is_named_as_missing() {
    let mut cluster = Cluster::new(true).await;
    let client = Client::new(cluster.config()).unwrap();
    let mut hand = Hand::new(&client);
    for (text, begins) in [
        (
            "users \\\"eve\\\" is forbidden: User \\\"bob\\\" cannot impersonate resource",
            "missing permission to impersonate (grant it with RBAC): ",
        ),
        (
            "pods is forbidden: User \\\"system:anonymous\\\" cannot list resource",
            "missing permission to list pods in the whole cluster (no credentials were sent, or the \
             server did not accept them): ",
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
async fn quoted_text_of_a_server_is_short_and_printable() {
    let mut cluster = Cluster::new(true).await;
    let client = Client::new(cluster.config()).unwrap();
    let mut hand = Hand::new(&client);
    let long = "x".repeat(10_000);
    hand.open(list());
    let kind = [("content-type", long.as_str())];
    cluster.server.call().await.reply(200, &kind, "");
    let message = hand.failed(Failure::Undecodable).await;
    assert!(message.len() <= 512, "{}", message.len());
    // The remedy is not cut off.
    assert!(
        message.ends_with("does something other than the API server answer?"),
        "{message}"
    );
    hand.open(list());
    let kind = [("content-type", "text/\u{9b}31m")];
    cluster.server.call().await.reply(200, &kind, "");
    let message = hand.failed(Failure::Undecodable).await;
    assert!(!message.contains(char::is_control), "{message:?}");
}
