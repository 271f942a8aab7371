//! Clients over hyper.

use informer::{Client, Config};

/// A client without credentials.
pub(crate) fn plain(url: &str) -> Client {
    Client::new(Config::new(url).unwrap()).unwrap()
}

/// A client as a kubeconfig describes it.
pub(crate) async fn from_kubeconfig(text: &str) -> Client {
    let name = format!("informer-{}-{}", std::process::id(), text.len());
    let kubeconfig = std::env::temp_dir().join(name);
    std::fs::write(&kubeconfig, text).unwrap();
    let config = Config::from_kubeconfig(&kubeconfig, None).unwrap();
    std::fs::remove_file(&kubeconfig).unwrap();
    Client::new(config).unwrap()
}
