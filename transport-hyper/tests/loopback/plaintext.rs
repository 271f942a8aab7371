//! Servers without TLS: no credentials are sent unless the configuration allows it.
use std::fmt;
use std::sync::{Arc, Mutex};

use crate::rig::folder::Folder;
use crate::rig::hand::{Hand, list};
use crate::rig::server::{Call, Listen, Server};
use informer_core::Failure;
use informer_transport_hyper::{Client, Config, Secret};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

async fn plain() -> Server {
    let listen = Listen {
        tls: None,
        http2: false,
        max_streams: 1,
    };
    Server::new(listen).await
}

fn url(server: &Server) -> String {
    format!("http://{}", server.address)
}

/// A configuration with this user in a kubeconfig, and `more` fields in its cluster.
fn written(folder: &Folder, server: &Server, more: &str, user: &str) -> Config {
    let text = format!(
        "current-context: c\ncontexts: [{{name: c, context: {{cluster: c, user: u}}}}]\n\
         clusters: [{{name: c, cluster: {{server: '{}'{more}}}}}]\n\
         users:\n- name: u\n  user: {user}\n",
        url(server)
    );
    Config::from_kubeconfig(folder.write("config", &text), None).unwrap()
}

/// All ways to authenticate.
fn users(folder: &Folder) -> Vec<String> {
    let token = folder.write("token", "abc");
    let printed = folder.write(
        "printed",
        r#"{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"abc"}}"#,
    );
    let script = format!(
        "echo x >> {}/runs; cat {}",
        folder.path().display(),
        printed.display()
    );
    let script = folder.write("plugin.sh", &script);
    vec![
        "{token: abc}".to_owned(),
        format!("{{tokenFile: '{}'}}", token.display()),
        format!("{{tokenFile: '{}', token: abc}}", token.display()),
        "{username: me, password: pw}".to_owned(),
        format!(
            "{{exec: {{apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, \
             command: sh, args: ['{}']}}}}",
            script.display()
        ),
    ]
}

async fn call(server: &mut Server, client: &Client) -> (Hand, Call) {
    let mut hand = Hand::new(client);
    hand.open(list());
    (hand, server.call().await)
}

#[tokio::test]
async fn no_credential_goes_over_plain_http() {
    let (folder, mut server) = (Folder::new(), plain().await);
    let mut configs: Vec<_> = users(&folder)
        .iter()
        .map(|user| written(&folder, &server, "", user))
        .collect();
    let config = Config::new(&url(&server)).unwrap();
    configs.push(config.clone().with_token(Secret::from("abc".to_owned())));
    configs.push(config.with_token_file(folder.path().join("token")));
    for config in configs {
        let client = Client::new(config).unwrap();
        let (mut hand, call) = call(&mut server, &client).await;
        assert_eq!(call.header("authorization"), None, "{client:?}");
        // The message says why the credentials are missing.
        call.reply(401, &[], "");
        let message = hand.failed(Failure::Unauthorized).await;
        assert!(message.contains("withheld"), "{message}");
        assert!(message.contains("https://"), "{message}");
        assert!(!server.is_called());
    }
    assert_eq!(folder.read("runs"), "", "the plugin does not run");
}

/// Impersonation is not secret, and `kubectl proxy`, which has its own credentials, passes it on.
#[tokio::test]
async fn an_impersonation_goes_over_plain_http() {
    let (folder, mut server) = (Folder::new(), plain().await);
    let config = written(&folder, &server, "", "{token: abc, as: jane}");
    let (_hand, call) = call(&mut server, &Client::new(config).unwrap()).await;
    assert_eq!(call.header("impersonate-user"), Some("jane"));
    assert_eq!(call.header("authorization"), None);
}

const ALLOWED: &str =
    ", extensions: [{name: informer/credentials-over-http, extension: {allow: true}}]";

#[tokio::test]
async fn credentials_go_over_plain_http_if_that_is_allowed() {
    let (folder, mut server) = (Folder::new(), plain().await);
    let mut configs: Vec<_> = users(&folder)
        .iter()
        .map(|user| written(&folder, &server, ALLOWED, user))
        .collect();
    let config = Config::new(&url(&server)).unwrap();
    let config = config.with_token(Secret::from("abc".to_owned()));
    configs.push(config.with_credentials_over_http());
    for config in configs {
        let client = Client::new(config).unwrap();
        let (mut hand, call) = call(&mut server, &client).await;
        let shown = call.header("authorization").unwrap();
        assert!(["Bearer abc", "Basic bWU6cHc="].contains(&shown), "{shown}");
        call.reply(401, &[], "");
        // A plugin may run once more.
        let message = match server.is_called() {
            true => String::new(),
            false => hand.failed(Failure::Unauthorized).await,
        };
        assert!(!message.contains("withheld"), "{message}");
    }
    assert_eq!(folder.read("runs"), "x\nx\n");
}

#[test]
fn an_invalid_extension_is_refused() {
    let folder = Folder::new();
    for (extension, allowed) in [
        ("{allow: true}", Some(true)),
        ("{allow: false}", Some(false)),
        ("{}", None),
        ("{allow: yes please}", None),
        ("true", None),
        ("null", None),
    ] {
        let text = format!(
            "current-context: c\ncontexts: [{{name: c, context: {{cluster: c}}}}]\n\
             clusters: [{{name: c, cluster: {{server: 'http://a', extensions: \
             [{{name: informer/credentials-over-http, extension: {extension}}}]}}}}]\n"
        );
        let config = Config::from_kubeconfig(folder.write("config", &text), None);
        match allowed {
            Some(allowed) => {
                let printed = format!("{:?}", config.unwrap());
                assert!(
                    printed.contains(&format!("plain_http: {allowed}")),
                    "{printed}"
                );
            }
            None => {
                let error = config.unwrap_err().to_string();
                assert!(error.contains("{allow: true}"), "{extension}: {error}");
            }
        }
    }
}

/// Collects the texts of warnings.
#[derive(Clone, Default)]
struct Warnings(Arc<Mutex<Vec<String>>>);

impl Visit for Warnings {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if field.name() == "message" {
            self.0.lock().unwrap().push(format!("{value:?}"));
        }
    }
}

impl Subscriber for Warnings {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("informer_transport_hyper")
    }

    fn event(&self, event: &Event<'_>) {
        event.record(&mut self.clone());
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

/// The warnings of `Client::new`.
fn warnings(config: Config) -> Vec<String> {
    let warnings = Warnings::default();
    tracing::subscriber::with_default(warnings.clone(), || {
        let client = Client::new(config).unwrap();
        drop([client.clone(), client]);
    });
    let said = warnings.0.lock().unwrap();
    said.clone()
}

#[tokio::test]
async fn unsafe_settings_are_warned_about_once_per_client() {
    let config = |url: &str| Config::new(url).unwrap();
    let token = || Secret::from("s3cret".to_owned());
    assert_eq!(warnings(config("http://a")), [""; 0]);
    let said = warnings(config("http://a").with_token(token()));
    assert_eq!(said.len(), 1);
    assert!(
        said[0].starts_with("credentials are withheld because "),
        "{said:?}"
    );
    let said = warnings(
        config("http://a")
            .with_token(token())
            .with_credentials_over_http(),
    );
    assert_eq!(said.len(), 1);
    assert!(
        said[0].starts_with("credentials are sent without TLS"),
        "{said:?}"
    );

    let folder = Folder::new();
    let insecure = |more: &str| {
        let text = format!(
            "current-context: c\ncontexts: [{{name: c, context: {{cluster: c}}}}]\n\
             clusters: [{{name: c, cluster: {{server: 'https://a'{more}}}}}]\n"
        );
        Config::from_kubeconfig(folder.write("config", &text), None).unwrap()
    };
    let said = warnings(insecure(", insecure-skip-tls-verify: true"));
    assert_eq!(said.len(), 1);
    assert!(said[0].contains("insecure-skip-tls-verify"), "{said:?}");
}
