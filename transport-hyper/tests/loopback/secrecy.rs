//! Prints everything and checks that no secret is in it.
use crate::rig::certificates::Authority;
use crate::rig::hand::{Hand, Seen, list};
use crate::rig::relay::proxy;
use crate::rig::server::Cluster;
use informer_core::Failure;
use informer_transport_hyper::{Client, Config, Secret};

/// Every secret in these tests contains this mark, in plain text or in base64.
const MARK: &str = "s3cretMark";

/// The mark in base64, at each possible offset in a longer text.
fn encoded() -> Vec<String> {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    (0..3)
        .map(|before| {
            let text = STANDARD.encode(format!("{}{MARK}", "x".repeat(before)));
            // The first and last letters depend on the text around the mark.
            text[4..12].to_owned()
        })
        .collect()
}

#[track_caller]
fn is_clean(printed: &str) {
    assert!(!printed.contains(MARK), "{printed}");
    for mark in encoded() {
        assert!(!printed.contains(&mark), "{printed}");
    }
    assert!(!printed.contains("PRIVATE KEY"), "{printed}");
}

fn written(cluster: &Cluster, more: &str, user: &str) -> Config {
    let text = format!(
        "current-context: c\ncontexts: [{{name: c, context: {{cluster: c, user: u}}}}]\n\
         clusters: [{{name: c, cluster: {{server: '{}', certificate-authority: ca.crt{more}}}}}]\n\
         users:\n- name: u\n  user: {user}\n",
        cluster.url()
    );
    Config::from_kubeconfig(cluster.folder.write("config", &text), None).unwrap()
}

/// All ways to authenticate, each with a secret.
fn configs(cluster: &Cluster) -> Vec<Config> {
    let mark = MARK;
    let client = Authority::new("clients").client("me");
    cluster.folder.write("token", MARK);
    let key = serde_json::to_string(&client.key).unwrap();
    let certificate = serde_json::to_string(&client.certificate).unwrap();
    let status = format!(
        r#"{{"token":"{mark}","clientCertificateData":{certificate},"clientKeyData":{key}}}"#
    );
    let printed = format!(
        r#"{{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{status}}}"#
    );
    cluster.folder.write("printed", &printed);
    let printed = cluster.folder.path().join("printed");
    let exec = format!(
        "{{exec: {{apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, \
         command: cat, args: ['{}'], env: [{{name: X, value: {mark}}}], provideClusterInfo: true}}}}",
        printed.display()
    );
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    let pair = format!(
        "{{client-certificate-data: {}, client-key-data: {}}}",
        STANDARD.encode(&client.certificate),
        STANDARD.encode(&client.key)
    );
    vec![
        cluster.config().with_token(Secret::from(MARK.to_owned())),
        written(cluster, "", &format!("{{token: {mark}}}")),
        written(cluster, "", "{tokenFile: token}"),
        written(
            cluster,
            "",
            &format!("{{tokenFile: missing, token: {mark}}}"),
        ),
        written(cluster, "", &format!("{{username: me, password: {mark}}}")),
        written(cluster, "", &pair),
        written(cluster, "", &exec),
    ]
}

#[tokio::test]
async fn a_working_client_prints_no_secret() {
    let mut cluster = Cluster::new(true).await;
    for config in configs(&cluster) {
        is_clean(&format!("{config:?} {config:#?}"));
        let client = Client::new(config).unwrap();
        let mut hand = Hand::new(&client);
        hand.open(list());
        cluster.server.call().await.json("{}");
        hand.opened().await;
        // By now every secret has been used.
        is_clean(&format!("{client:?} {client:#?} {:?}", hand.transport));
    }
}

#[tokio::test]
async fn a_failing_client_prints_no_secret() {
    let mut cluster = Cluster::new(true).await;
    for config in configs(&cluster) {
        let client = Client::new(config).unwrap();
        for (code, failure) in [
            (401, Failure::Unauthorized),
            (403, Failure::Forbidden),
            (500, Failure::Internal),
            (302, Failure::Other),
        ] {
            let mut hand = Hand::new(&client);
            hand.open(list());
            let to = format!("https://elsewhere.example.org/?x={MARK}");
            let message = loop {
                tokio::select! {
                    call = cluster.server.call() => call.reply(code, &[("location", &to)], ""),
                    seen = hand.next() => match seen {
                        Seen::Failed(class, message) => {
                            assert_eq!(class, failure);
                            break message;
                        }
                        other => panic!("{other:?}"),
                    },
                }
            };
            is_clean(&message);
        }
    }
}

#[tokio::test]
async fn a_proxy_and_its_password() {
    let cluster = Cluster::new(true).await;
    let (address, mut questions) = proxy("HTTP/1.1 407 No\r\n\r\n").await;
    let more = format!(", proxy-url: 'http://me:{MARK}@{address}'");
    let config = written(&cluster, &more, "{}");
    is_clean(&format!("{config:?}"));
    let client = Client::new(config).unwrap();
    let mut hand = Hand::new(&client);
    hand.open(list());
    is_clean(&hand.failed(Failure::Unreachable).await);
    // The password did reach the proxy.
    let question = questions.recv().await.unwrap();
    assert!(
        encoded().iter().any(|mark| question.contains(mark)),
        "{question}"
    );
}

#[tokio::test]
async fn configurations_that_cannot_be_used() {
    let cluster = Cluster::new(true).await;
    let users = [
        format!("{{token: {MARK}, username: me}}"),
        format!("{{client-key-data: {MARK}, client-certificate: x}}"),
        format!("{{client-key-data: {MARK}}}"),
        format!("{{token: [{MARK}]}}"),
        format!("{{token: {MARK}"),
        format!("{{token: {MARK}, auth-provider: {{name: oidc, config: {{id-token: {MARK}}}}}}}"),
    ];
    for user in users {
        let text = format!(
            "current-context: c\ncontexts: [{{name: c, context: {{cluster: c, user: u}}}}]\n\
             clusters: [{{name: c, cluster: {{server: 'https://a'}}}}]\n\
             users:\n- name: u\n  user: {user}\n"
        );
        let file = cluster.folder.write("config", &text);
        let error = Config::from_kubeconfig(file, None).unwrap_err();
        is_clean(&format!("{error} {error:?}"));
    }
    for url in [
        format!("https://me:{MARK}@host"),
        format!("https://{MARK} @ host"),
    ] {
        let error = Config::new(&url).unwrap_err();
        is_clean(&format!("{error} {error:?}"));
    }
}

#[tokio::test]
async fn tokens_and_keys_that_cannot_be_used() {
    let cluster = Cluster::new(true).await;
    let token = Secret::from(format!("{MARK}\nx"));
    let client = Client::new(cluster.config().with_token(token)).unwrap();
    let mut hand = Hand::new(&client);
    hand.open(list());
    is_clean(&hand.failed(Failure::Credentials).await);

    let certificate = cluster
        .folder
        .write("client.crt", &cluster.authority.client("me").certificate);
    let key = cluster.folder.write(
        "client.key",
        &format!("-----BEGIN PRIVATE KEY-----\n{MARK}\n"),
    );
    let config = cluster
        .config()
        .with_client_certificate_files(certificate, key);
    let error = Client::new(config).unwrap_err();
    assert!(
        error.to_string().contains("is not a private key in PEM"),
        "{error}"
    );
    is_clean(&format!("{error:?}"));
}
