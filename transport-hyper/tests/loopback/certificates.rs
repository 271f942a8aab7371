//! Server and client certificates.
use crate::rig::certificates::{Authority, Pair};
use crate::rig::hand::{Hand, list, watch};
use crate::rig::server::Cluster;
use informer_core::Failure;
use informer_transport_hyper::{Client, ClientError, Config};

/// A server with the certificate `pair`.
async fn cluster_showing(authority: Authority, pair: &Pair) -> Cluster {
    Cluster::with(authority, pair, None, true, 100).await
}

/// The message of a client that cannot connect.
async fn refused(config: Config) -> String {
    let client = Client::new(config).unwrap();
    let mut hand = Hand::new(&client);
    hand.open(list());
    hand.failed(Failure::Unreachable).await
}

/// Checks that a client can connect.
async fn gets_through(cluster: &mut Cluster, config: Config) {
    let client = Client::new(config).unwrap();
    let mut hand = Hand::new(&client);
    hand.open(list());
    cluster.server.call().await.json("{}");
    hand.opened().await;
    hand.text("{}").await;
}

#[tokio::test]
async fn a_certificate_of_another_authority() {
    let cluster = Cluster::new(true).await;
    let ca = cluster
        .folder
        .write("other.crt", &Authority::new("another").pem());
    let message = refused(cluster.config().with_ca_file(&ca)).await;
    assert_eq!(
        message,
        format!(
            "the certificate of {} is not signed by the certificate authority {}; is it the right one \
             for this cluster?",
            cluster.url(),
            ca.display()
        )
    );
}

#[tokio::test]
async fn an_expired_certificate() {
    let authority = Authority::new("authority");
    let pair = authority.expired(&["127.0.0.1"]);
    let cluster = cluster_showing(authority, &pair).await;
    let message = refused(cluster.config()).await;
    let expected = format!(
        "the certificate of {} expired at 2001-01-01T00:00:00Z",
        cluster.url()
    );
    assert!(message.starts_with(&expected), "{message}");
}

#[tokio::test]
async fn a_certificate_that_is_an_authority() {
    let authority = Authority::new("authority");
    let pair = authority.lesser_authority(&["127.0.0.1"]);
    let cluster = cluster_showing(authority, &pair).await;
    let message = refused(cluster.config()).await;
    assert!(
        message.contains("is a CA certificate, not a server certificate"),
        "{message}"
    );
}

/// A kubeconfig for the cluster, with more fields.
fn kubeconfig(cluster: &Cluster, more: &str) -> Config {
    let text = format!(
        "current-context: c\ncontexts: [{{name: c, context: {{cluster: c}}}}]\n\
         clusters: [{{name: c, cluster: {{server: '{}', {more}}}}}]\n",
        cluster.url()
    );
    Config::from_kubeconfig(cluster.folder.write("config", &text), None).unwrap()
}

#[tokio::test]
async fn a_certificate_for_another_name() {
    let authority = Authority::new("authority");
    let pair = authority.server(&["api.example.org"]);
    let mut cluster = cluster_showing(authority, &pair).await;
    let message = refused(cluster.config()).await;
    let expected = "is not valid for `127.0.0.1` but for ";
    assert!(message.contains(expected), "{message}");
    assert!(message.contains("api.example.org"), "{message}");
    assert!(message.contains("tls-server-name"), "{message}");

    let named = "certificate-authority: ca.crt, tls-server-name: api.example.org";
    let config = kubeconfig(&cluster, named);
    gets_through(&mut cluster, config).await;
    let other = "certificate-authority: ca.crt, tls-server-name: other.example.org";
    let message = refused(kubeconfig(&cluster, other)).await;
    assert!(
        message.contains("is not valid for `other.example.org`"),
        "{message}"
    );
}

#[tokio::test]
async fn insecure_skip_tls_verify_accepts_any_certificate() {
    let authority = Authority::new("authority");
    let pair = authority.expired(&["api.example.org"]);
    let mut cluster = cluster_showing(authority, &pair).await;
    let config = kubeconfig(&cluster, "insecure-skip-tls-verify: true");
    gets_through(&mut cluster, config).await;
}

#[tokio::test]
async fn an_authority_that_is_not_a_certificate() {
    let cluster = Cluster::new(true).await;
    let ca = cluster
        .folder
        .write("noise.crt", "this is not a certificate");
    let error = Client::new(cluster.config().with_ca_file(&ca)).unwrap_err();
    let reason = format!(
        "the certificate authority {} is not a certificate in PEM",
        ca.display()
    );
    assert_eq!(error, ClientError::Unusable { reason });
    let missing = cluster.folder.path().join("missing.crt");
    let error = Client::new(cluster.config().with_ca_file(&missing)).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with(&format!("cannot read {}", missing.display()))
    );
}

#[tokio::test]
async fn a_new_authority_is_read_without_a_restart() {
    let mut cluster = Cluster::new(true).await;
    let ca = cluster
        .folder
        .write("rotating.crt", &Authority::new("old").pem());
    let client = Client::new(cluster.config().with_ca_file(&ca)).unwrap();
    let mut hand = Hand::new(&client);
    hand.open(list());
    hand.failed(Failure::Unreachable).await;
    std::fs::write(&ca, cluster.authority.pem()).unwrap();
    hand.open(list());
    cluster.server.call().await.json("{}");
    hand.opened().await;
}

/// A server that requires client certificates, and the authority that issues them.
async fn wanting_certificates(http2: bool) -> (Cluster, Authority) {
    let authority = Authority::new("authority");
    let clients = Authority::new("authority of clients");
    let pair = authority.server(&["127.0.0.1"]);
    let cluster = Cluster::with(authority, &pair, Some(&clients), http2, 100).await;
    (cluster, clients)
}

fn write(cluster: &Cluster, pair: &Pair) {
    cluster.folder.write("client.crt", &pair.certificate);
    cluster.folder.write("client.key", &pair.key);
}

fn showing(cluster: &Cluster) -> Config {
    let folder = cluster.folder.path();
    cluster
        .config()
        .with_client_certificate_files(folder.join("client.crt"), folder.join("client.key"))
}

#[tokio::test]
async fn a_client_certificate_is_sent() {
    for http2 in [false, true] {
        let (mut cluster, clients) = wanting_certificates(http2).await;
        write(&cluster, &clients.client("me"));
        let config = showing(&cluster);
        gets_through(&mut cluster, config).await;
    }
}

#[tokio::test]
async fn a_client_certificate_that_is_missing_or_rejected() {
    for http2 in [false, true] {
        let (cluster, _) = wanting_certificates(http2).await;
        let message = refused(cluster.config()).await;
        assert!(
            message.contains("it requires a client certificate; configure one"),
            "{message}"
        );
        write(&cluster, &Authority::new("nobody").client("me"));
        let message = refused(showing(&cluster)).await;
        assert!(
            message.contains("it rejected the client certificate; is it the right one"),
            "{message}"
        );
    }
}

#[tokio::test]
async fn a_client_certificate_with_the_wrong_key() {
    let (cluster, clients) = wanting_certificates(true).await;
    let mut pair = clients.client("me");
    pair.key = clients.client("other").key;
    write(&cluster, &pair);
    let error = Client::new(showing(&cluster)).unwrap_err().to_string();
    assert!(error.contains("client.crt cannot be used"), "{error}");
}

#[tokio::test]
async fn new_requests_use_a_renewed_client_certificate() {
    let (mut cluster, clients) = wanting_certificates(true).await;
    write(&cluster, &clients.client("me"));
    let client = Client::new(showing(&cluster)).unwrap();
    let mut old = Hand::new(&client);
    old.open(watch());
    let feed = cluster.server.call().await.stream();
    old.opened().await;

    write(&cluster, &clients.client("me, renewed"));
    let mut new = Hand::new(&client);
    new.open(watch());
    let call = cluster.server.call().await;
    assert_eq!(
        call.connection, 2,
        "a new certificate needs a new connection"
    );
    let _renewed = call.stream();
    new.opened().await;
    // The running watch goes on.
    feed.send("x").await;
    old.text("x").await;

    // While the file is being replaced, the last good certificate serves.
    cluster.folder.write("client.crt", "half a certif");
    let mut third = Hand::new(&client);
    third.open(watch());
    assert_eq!(cluster.server.call().await.connection, 2);
}
