//! Certificate authorities and tokens that change while an informer runs.

use std::path::{Path, PathBuf};

use informer::{Config, Failure};
use informer_transport_mock::Server;
use informer_transport_mock::http::{HttpConfig, Running, SharedServer, serve};

use crate::followed::{Followed, WAYS, change, impatient, server, touch};

/// A file that is deleted when dropped.
struct File(PathBuf);

impl File {
    fn new(name: &str) -> Self {
        let name = format!("informer-faults-{}-{name}", std::process::id());
        Self(std::env::temp_dir().join(name))
    }

    fn path(&self) -> &Path {
        &self.0
    }

    /// Replaces the content atomically, as tools that rotate secrets do.
    fn write(&self, text: &str) {
        let new = self.0.with_extension("new");
        std::fs::write(&new, text).unwrap();
        std::fs::rename(&new, &self.0).unwrap();
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[tokio::test]
async fn a_wrong_authority_is_replaced_by_the_right_one() {
    for way in WAYS {
        let server = server();
        let mut http = HttpConfig::new();
        http.tls = true;
        let running = serve(server.clone(), http.clone()).await.unwrap();
        let stranger = serve(server.clone(), http.clone()).await.unwrap();
        let file = File::new("ca");
        file.write(stranger.ca_pem().unwrap());
        let config = Config::new(running.url())
            .unwrap()
            .with_ca_file(file.path());
        let mut pods = Followed::new(config, impatient(way));
        pods.fails(Failure::Unreachable, "the wrong authority")
            .await;
        let said = pods.informer.status().last_failure.unwrap().message;
        assert!(said.contains("certificate"), "{said}");
        assert_eq!(pods.informer.status().objects, 0);
        file.write(running.ca_pem().unwrap());
        pods.catches_up(&server, "the right authority").await;

        // The next server has a certificate of another authority.
        http.address = running.address();
        running.stop().await;
        change(&server, "d");
        server.with(Server::restart);
        let running = serve(server.clone(), http).await.unwrap();
        file.write(running.ca_pem().unwrap());
        pods.catches_up(&server, "the next authority").await;
        pods.knows_who_vanished("the next authority");
        running.stop().await;
        stranger.stop().await;
    }
}

async fn serve_with(server: &SharedServer, token: &str, before: Option<Running>) -> Running {
    let mut http = HttpConfig::new();
    http.token = Some(token.to_owned());
    if let Some(before) = before {
        http.address = before.address();
        before.stop().await;
    }
    serve(server.clone(), http).await.unwrap()
}

#[tokio::test]
async fn a_token_is_rotated_while_a_watch_runs() {
    for way in WAYS {
        let server = server();
        let running = serve_with(&server, "one", None).await;
        let file = File::new("token");
        file.write("one");
        let config = Config::new(running.url())
            .unwrap()
            .with_token_file(file.path())
            .with_credentials_over_http();
        let mut pods = Followed::new(config, impatient(way));
        pods.catches_up(&server, "the first token").await;

        // First the file, then the server: no request fails.
        file.write("two");
        touch(&server, "a");
        pods.catches_up(&server, "the first watch").await;
        let running = serve_with(&server, "two", Some(running)).await;
        touch(&server, "a");
        pods.catches_up(&server, "the second token").await;
        assert!(!pods.has_failed(Failure::Unauthorized));

        // First the server, then the file.
        let running = serve_with(&server, "three", Some(running)).await;
        change(&server, "d");
        pods.fails(Failure::Unauthorized, "the old token").await;
        server.with(Server::restart);
        file.write("three");
        pods.catches_up(&server, "the third token").await;
        pods.knows_who_vanished("the third token");
        running.stop().await;
    }
}
