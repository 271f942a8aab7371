//! Tokens, passwords, plugins and impersonation.
use crate::rig::certificates::Authority;
use crate::rig::hand::{Hand, list, watch};
use crate::rig::server::{Call, Cluster};
use informer_core::Failure;
use informer_transport_hyper::{Client, Config, Secret};

/// A configuration with this user in a kubeconfig.
fn user(cluster: &Cluster, user: &str) -> Config {
    let text = format!(
        "current-context: c\ncontexts: [{{name: c, context: {{cluster: c, user: u}}}}]\n\
         clusters: [{{name: c, cluster: {{server: '{}', certificate-authority: ca.crt}}}}]\n\
         users:\n- name: u\n  user: {user}\n",
        cluster.url()
    );
    Config::from_kubeconfig(cluster.folder.write("config", &text), None).unwrap()
}

/// Sends a list and returns the call.
async fn call(cluster: &mut Cluster, client: &Client) -> (Hand, Call) {
    let mut hand = Hand::new(client);
    hand.open(list());
    let call = cluster.server.call().await;
    (hand, call)
}

/// The `Authorization` header of a successful list.
async fn shown(cluster: &mut Cluster, client: &Client) -> Option<String> {
    let (mut hand, call) = call(cluster, client).await;
    let shown = call.header("authorization").map(str::to_owned);
    call.json("{}");
    hand.opened().await;
    hand.text("{}").await;
    hand.closed().await;
    shown
}

#[tokio::test]
async fn fixed_credentials() {
    let mut cluster = Cluster::new(true).await;
    for (written, expected) in [
        ("{token: abc}", Some("Bearer abc")),
        ("{token: 12345}", Some("Bearer 12345")),
        ("{username: me, password: 'p:w'}", Some("Basic bWU6cDp3")),
        ("{}", None),
    ] {
        let client = Client::new(user(&cluster, written)).unwrap();
        assert_eq!(shown(&mut cluster, &client).await.as_deref(), expected);
    }
}

#[tokio::test]
async fn all_impersonation_headers_are_sent() {
    let mut cluster = Cluster::new(true).await;
    let written = "{token: abc, as: jane, as-uid: '7', as-groups: [dev, ops], \
                   as-user-extra: {'acme.com/team': [red]}}";
    let client = Client::new(user(&cluster, written)).unwrap();
    let (_hand, call) = call(&mut cluster, &client).await;
    assert_eq!(call.header("impersonate-user"), Some("jane"));
    assert_eq!(call.header("impersonate-uid"), Some("7"));
    let groups: Vec<_> = call.headers.get_all("impersonate-group").iter().collect();
    assert_eq!(groups, ["dev", "ops"]);
    assert_eq!(
        call.header("impersonate-extra-acme.com%2fteam"),
        Some("red")
    );
    assert_eq!(call.header("authorization"), Some("Bearer abc"));
}

#[tokio::test]
async fn a_token_file_is_read_again_while_a_watch_runs() {
    let mut cluster = Cluster::new(true).await;
    cluster.folder.write("token", "first\n");
    let client = Client::new(user(&cluster, "{tokenFile: token}")).unwrap();
    let mut watching = Hand::new(&client);
    watching.open(watch());
    let call = cluster.server.call().await;
    assert_eq!(call.header("authorization"), Some("Bearer first"));
    let feed = call.stream();
    watching.opened().await;

    cluster.folder.write("token", "second\n");
    assert_eq!(shown(&mut cluster, &client).await.unwrap(), "Bearer second");
    feed.send("x").await;
    watching.text("x").await;
    drop(feed);
    watching.closed().await;
    watching.open(watch());
    let call = cluster.server.call().await;
    assert_eq!(call.header("authorization"), Some("Bearer second"));

    // While the file is being replaced, the last token serves.
    std::fs::remove_file(cluster.folder.path().join("token")).unwrap();
    assert_eq!(shown(&mut cluster, &client).await.unwrap(), "Bearer second");
    cluster.folder.write("token", "");
    assert_eq!(shown(&mut cluster, &client).await.unwrap(), "Bearer second");
}

/// Opening a pipe waits for a writer, and would take the thread of the runtime with it.
#[cfg(unix)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pipe_is_no_token_file() {
    let mut cluster = Cluster::new(true).await;
    let pipe = cluster.folder.pipe("pipe");
    let client = Client::new(cluster.config().with_token_file(&pipe)).unwrap();
    let mut hand = Hand::new(&client);
    hand.open(list());
    let expected = format!(
        "cannot read {}: it is not a regular file; a token or certificate must be in one",
        pipe.display()
    );
    assert_eq!(hand.failed(Failure::Credentials).await, expected);
    // With another token, that one serves.
    let client = Client::new(user(&cluster, "{tokenFile: pipe, token: abc}")).unwrap();
    let shown = shown(&mut cluster, &client).await;
    assert_eq!(shown.as_deref(), Some("Bearer abc"));
    let error = Client::new(cluster.config().with_ca_file(&pipe)).unwrap_err();
    assert_eq!(error.to_string(), expected);
}

#[tokio::test]
async fn a_missing_token_file_is_named() {
    let cluster = Cluster::new(true).await;
    let config = cluster.config().with_token_file("/nowhere/token");
    let client = Client::new(config).unwrap();
    let mut hand = Hand::new(&client);
    hand.open(list());
    let message = hand.failed(Failure::Credentials).await;
    assert!(
        message.starts_with("cannot read /nowhere/token: "),
        "{message}"
    );
}

#[tokio::test]
async fn a_refused_token_is_not_tried_twice_unless_there_is_a_newer_one() {
    let mut cluster = Cluster::new(true).await;
    let token = cluster.folder.write("token", "old");
    let client = Client::new(cluster.config().with_token_file(&token)).unwrap();
    let (mut hand, first) = call(&mut cluster, &client).await;
    first.reply(401, &[], "");
    hand.failed(Failure::Unauthorized).await;
    assert!(!cluster.server.is_called());

    let (mut hand, second) = call(&mut cluster, &client).await;
    std::fs::write(&token, "new").unwrap();
    second.reply(401, &[], "");
    let third = cluster.server.call().await;
    assert_eq!(third.header("authorization"), Some("Bearer new"));
    third.reply(401, &[], "");
    hand.failed(Failure::Unauthorized).await;
    assert!(!cluster.server.is_called(), "one retry is enough");

    let fixed = cluster.config().with_token(Secret::from("abc".to_owned()));
    let client = Client::new(fixed).unwrap();
    let (mut hand, refused) = call(&mut cluster, &client).await;
    refused.reply(401, &[], "");
    hand.failed(Failure::Unauthorized).await;
    assert!(!cluster.server.is_called());
}

/// A plugin that counts its runs, records its input, and prints a token with the count.
fn plugin(cluster: &Cluster, api: &str, status: &str, more: &str) -> Config {
    let folder = cluster.folder.path().display();
    let script = format!(
        "echo x >> {folder}/runs\n\
         n=$(wc -l < {folder}/runs | tr -d ' ')\n\
         printf '%s' \"$KUBERNETES_EXEC_INFO\" > {folder}/info\n\
         printf '%s %s' \"$1\" \"$GREETING\" > {folder}/given\n\
         cat <<EOF\n\
         {{\"apiVersion\":\"client.authentication.k8s.io/{api}\",\"kind\":\"ExecCredential\",\"status\":{status}}}\n\
         EOF\n"
    );
    cluster.folder.write("plugin.sh", &script);
    user(
        cluster,
        &format!(
            "{{exec: {{apiVersion: client.authentication.k8s.io/{api}, command: sh, \
             args: [{folder}/plugin.sh, argument], env: [{{name: GREETING, value: hello}}], \
             interactiveMode: Never{more}}}}}"
        ),
    )
}

fn runs(cluster: &Cluster) -> usize {
    cluster.folder.read("runs").lines().count()
}

const FAR: &str = r#"{"token":"t$n","expirationTimestamp":"2999-01-01T00:00:00Z"}"#;
const PAST: &str = r#"{"token":"t$n","expirationTimestamp":"2001-01-01T00:00:00Z"}"#;

#[tokio::test]
async fn a_plugin_runs_once_until_its_token_expires() {
    for api in ["v1", "v1beta1"] {
        for (status, expected) in [(FAR, ["t1", "t1", "t1"]), (PAST, ["t1", "t2", "t3"])] {
            let mut cluster = Cluster::new(true).await;
            let client = Client::new(plugin(&cluster, api, status, "")).unwrap();
            for token in expected {
                let shown = shown(&mut cluster, &client).await.unwrap();
                assert_eq!(shown, format!("Bearer {token}"));
            }
        }
    }
}

#[tokio::test]
async fn a_plugin_runs_once_for_concurrent_requests() {
    let mut cluster = Cluster::new(true).await;
    let client = Client::new(plugin(&cluster, "v1", r#"{"token":"t$n"}"#, "")).unwrap();
    let mut hands: Vec<_> = (0..20).map(|_| Hand::new(&client)).collect();
    for hand in &mut hands {
        hand.open(watch());
    }
    let mut calls = Vec::new();
    for _ in 0..20 {
        let call = cluster.server.call().await;
        assert_eq!(call.header("authorization"), Some("Bearer t1"));
        calls.push(call);
    }
    assert_eq!(runs(&cluster), 1);
    // When all are refused at the same time, it runs once more.
    for call in calls {
        call.reply(401, &[], "");
    }
    for _ in 0..20 {
        let call = cluster.server.call().await;
        assert_eq!(call.header("authorization"), Some("Bearer t2"));
    }
    assert_eq!(runs(&cluster), 2);
}

#[tokio::test]
async fn the_input_of_a_plugin() {
    let mut cluster = Cluster::new(true).await;
    let client = Client::new(plugin(&cluster, "v1", FAR, "")).unwrap();
    shown(&mut cluster, &client).await;
    assert_eq!(
        cluster.folder.read("info"),
        r#"{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","spec":{"interactive":false}}"#
    );
    assert_eq!(cluster.folder.read("given"), "argument hello");

    let client = Client::new(plugin(
        &cluster,
        "v1beta1",
        FAR,
        ", provideClusterInfo: true",
    ));
    shown(&mut cluster, &client.unwrap()).await;
    let info: serde_json::Value = serde_json::from_str(&cluster.folder.read("info")).unwrap();
    assert_eq!(info["apiVersion"], "client.authentication.k8s.io/v1beta1");
    assert_eq!(info["spec"]["cluster"]["server"], cluster.url());
    let data = info["spec"]["cluster"]["certificate-authority-data"]
        .as_str()
        .unwrap();
    use base64::Engine as _;
    let data = base64::engine::general_purpose::STANDARD
        .decode(data)
        .unwrap();
    assert_eq!(data, cluster.authority.pem().into_bytes());
}

#[tokio::test]
async fn a_certificate_from_a_plugin_is_used_and_renewed() {
    let authority = Authority::new("authority");
    let clients = Authority::new("authority of clients");
    let pair = authority.server(&["127.0.0.1"]);
    let mut cluster = Cluster::with(authority, &pair, Some(&clients), true, 100).await;
    for name in ["1", "2"] {
        let pair = clients.client(name);
        let json = serde_json::json!({
            "clientCertificateData": pair.certificate,
            "clientKeyData": pair.key,
        });
        cluster
            .folder
            .write(&format!("status{name}"), &json.to_string());
    }
    let status = format!("$(cat {}/status$n)", cluster.folder.path().display());
    let client = Client::new(plugin(&cluster, "v1", &status, "")).unwrap();
    let (mut hand, first) = call(&mut cluster, &client).await;
    assert_eq!(first.connection, 1);
    first.reply(401, &[], "");
    let second = cluster.server.call().await;
    assert_eq!(
        second.connection, 2,
        "the new certificate needs a new connection"
    );
    second.json("{}");
    hand.opened().await;
    assert_eq!(runs(&cluster), 2);
}

#[tokio::test]
async fn a_plugin_that_fails_is_named_with_the_reason() {
    let cluster = Cluster::new(true).await;
    let empty = r#"{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential"}"#;
    let other = r#"{"apiVersion":"client.authentication.k8s.io/v1beta1","kind":"ExecCredential"}"#;
    for (script, expected) in [
        (
            "echo please log in >&2; exit 3".to_owned(),
            "exit status: 3: please log in",
        ),
        ("echo s3cret".to_owned(), "is not an ExecCredential in JSON"),
        (
            format!("echo '{empty}'"),
            "printed neither a token nor a certificate",
        ),
        (
            format!("echo '{other}'"),
            "must print an ExecCredential of client.authentication.k8s.io/v1,",
        ),
    ] {
        let script = cluster.folder.write("plugin.sh", &script);
        let message =
            without_credentials(&cluster, &format!("sh, args: ['{}']", script.display())).await;
        assert!(
            message.starts_with("user `u`: exec plugin `sh`: "),
            "{message}"
        );
        assert!(message.contains(expected), "{message}");
        assert!(!message.contains("s3cret"), "{message}");
    }
    let message = without_credentials(
        &cluster,
        "/nowhere/plugin, installHint: Get it at example.org.",
    )
    .await;
    assert!(message.contains("it cannot be run: "), "{message}");
    assert!(message.ends_with(" Get it at example.org."), "{message}");
}

/// The message of a client with this plugin.
async fn without_credentials(cluster: &Cluster, command: &str) -> String {
    let exec = "apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never";
    let user = user(
        cluster,
        &format!("{{exec: {{{exec}, command: {command}}}}}"),
    );
    let client = Client::new(user).unwrap();
    let mut hand = Hand::new(&client);
    hand.open(list());
    hand.failed(Failure::Credentials).await
}
