//! Exec plugins that misbehave: their output, children and number of runs are bounded.
use std::path::Path;
use std::process::Command;

use crate::rig::hand::{Hand, list};
use crate::rig::server::Cluster;
use crate::rig::soon;
use informer_core::Failure;
use informer_transport_hyper::{Client, Config};

const PRINTED: &str = r#"{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"abc"}}"#;

/// A configuration with this script as plugin; it counts its runs.
fn plugin(cluster: &Cluster, script: &str) -> Config {
    let folder = cluster.folder.path().display().to_string();
    let script = format!("cd '{folder}'\necho x >> runs\n{script}\n");
    cluster.folder.write("plugin.sh", &script);
    let text = format!(
        "current-context: c\ncontexts: [{{name: c, context: {{cluster: c, user: u}}}}]\n\
         clusters: [{{name: c, cluster: {{server: '{}', certificate-authority: ca.crt}}}}]\n\
         users: [{{name: u, user: {{exec: {{apiVersion: client.authentication.k8s.io/v1, \
         interactiveMode: Never, command: sh, args: ['{folder}/plugin.sh']}}}}}}]\n",
        cluster.url()
    );
    Config::from_kubeconfig(cluster.folder.write("config", &text), None).unwrap()
}

fn runs(cluster: &Cluster) -> usize {
    cluster.folder.read("runs").lines().count()
}

async fn without_credentials(client: &Client) -> String {
    let mut hand = Hand::new(client);
    hand.open(list());
    hand.failed(Failure::Credentials).await
}

/// A named pipe. A reader sees its end when the last writer is gone.
fn pipe(path: &Path) {
    let made = Command::new("mkfifo").arg(path).status().unwrap();
    assert!(made.success());
}

/// Waits until no process has the pipe open for writing.
async fn end_of(path: &Path) {
    let path = path.to_owned();
    let reading = tokio::task::spawn_blocking(move || std::fs::read(path).unwrap());
    soon("the end of a process", reading).await.unwrap();
}

#[tokio::test]
async fn a_plugin_that_prints_too_much_is_ended() {
    let cluster = Cluster::new(true).await;
    let gone = cluster.folder.path().join("gone");
    pipe(&gone);
    let script = "sleep 1000 > gone &\nhead -c 3000000 /dev/zero | tr '\\0' x; wait";
    let client = Client::new(plugin(&cluster, script)).unwrap();
    let ended = end_of(&gone);
    let (message, ()) = tokio::join!(without_credentials(&client), ended);
    assert!(message.contains("printed more than 1 MiB"), "{message}");
}

#[tokio::test]
async fn stderr_of_a_plugin_is_quoted_in_plain_text_and_bounded() {
    let cluster = Cluster::new(true).await;
    let script = "printf '\\033[2Jplease\\r\\n\\tlog in\\007' >&2\n\
                  head -c 300000 /dev/zero | tr '\\0' x >&2; exit 3";
    let client = Client::new(plugin(&cluster, script)).unwrap();
    let message = without_credentials(&client).await;
    assert!(
        message.contains("exit status: 3: \u{fffd}[2Jplease log in\u{fffd}xxx"),
        "{message:?}"
    );
    assert!(message.len() < 1000, "{}", message.len());
}

#[tokio::test]
async fn a_child_that_keeps_the_pipe_open_does_not_block_the_plugin() {
    let mut cluster = Cluster::new(true).await;
    let gone = cluster.folder.path().join("gone");
    pipe(&gone);
    // The pipe is open before the plugin prints, whatever the timing.
    let script = format!("exec 3> gone\nsleep 1000 &\nexec 3>&-\necho '{PRINTED}'");
    let client = Client::new(plugin(&cluster, &script)).unwrap();
    let mut hand = Hand::new(&client);
    hand.open(list());
    // The child ends with the plugin.
    let (call, ()) = tokio::join!(cluster.server.call(), end_of(&gone));
    assert_eq!(call.header("authorization"), Some("Bearer abc"));
}

#[tokio::test]
async fn a_plugin_ends_with_its_client_and_its_children_do_too() {
    let cluster = Cluster::new(true).await;
    let gone = cluster.folder.path().join("gone");
    pipe(&gone);
    let script = "sleep 1000 > gone & wait";
    let client = Client::new(plugin(&cluster, script)).unwrap();
    let mut hand = Hand::new(&client);
    hand.open(list());
    let reading = gone.clone();
    let open = tokio::task::spawn_blocking(move || std::fs::File::open(reading).unwrap());
    // The open succeeds when the child exists.
    let mut open = soon("the child of the plugin", open).await.unwrap();
    drop((hand, client));
    let end = tokio::task::spawn_blocking(move || std::io::copy(&mut open, &mut std::io::sink()));
    soon("the end of the child", end).await.unwrap().unwrap();
}

#[tokio::test]
async fn a_failure_is_shared_and_the_plugin_does_not_run_again_at_once() {
    let cluster = Cluster::new(true).await;
    let client = Client::new(plugin(&cluster, "echo no >&2; exit 1")).unwrap();
    let mut hands: Vec<_> = (0..20).map(|_| Hand::new(&client)).collect();
    for hand in &mut hands {
        hand.open(list());
    }
    for hand in &mut hands {
        let message = hand.failed(Failure::Credentials).await;
        assert!(message.contains("exit status: 1: no"), "{message}");
    }
    for hand in &mut hands {
        hand.open(list());
        hand.failed(Failure::Credentials).await;
    }
    assert_eq!(runs(&cluster), 1);
}

/// A local problem: the message must not blame the server or the network.
#[tokio::test]
async fn an_unusable_certificate_is_a_credentials_failure() {
    let cluster = Cluster::new(true).await;
    let printed = r#"{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential",
        "status":{"clientCertificateData":"no certificate","clientKeyData":"no key"}}"#;
    let script = format!("cat <<'END'\n{printed}\nEND");
    let client = Client::new(plugin(&cluster, &script)).unwrap();
    let message = without_credentials(&client).await;
    assert!(message.contains("certificate"), "{message}");
    assert!(!Failure::Credentials.describe().contains("reached"));
}

/// A server that refuses every credential must not make the plugin run endlessly.
#[tokio::test]
async fn a_plugin_with_refused_credentials_runs_only_a_few_times() {
    let mut cluster = Cluster::new(true).await;
    let client = Client::new(plugin(&cluster, &format!("echo '{PRINTED}'"))).unwrap();
    for _ in 0..20 {
        let mut hand = Hand::new(&client);
        hand.open(list());
        cluster.server.call().await.reply(401, &[], "");
        hand.failed(Failure::Unauthorized).await;
    }
    assert!(runs(&cluster) <= 8, "{}", runs(&cluster));
}
