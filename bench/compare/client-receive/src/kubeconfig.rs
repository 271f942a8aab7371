//! What the current context of a kubeconfig says.

use std::fs;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;

/// A server, and how to speak to it.
pub(crate) struct Access {
    pub(crate) server: String,
    /// The certificates to trust, as PEM. Without them, those of the system.
    pub(crate) authority: Option<Vec<u8>>,
    /// A certificate and its key, as PEM.
    pub(crate) identity: Option<Vec<u8>>,
    pub(crate) token: Option<String>,
    pub(crate) compression: bool,
}

impl Access {
    /// Reads the current context of a file.
    pub(crate) fn of(file: &Path) -> Result<Self, String> {
        let shown = file.display();
        let text = fs::read_to_string(file)
            .map_err(|error| format!("{shown} cannot be read: {error}; name a kubeconfig"))?;
        let folder = file.parent().unwrap_or(Path::new(""));
        Self::parse(&text, folder).map_err(|why| format!("{shown} cannot be used: {why}"))
    }

    /// Paths in a kubeconfig are relative to its folder.
    fn parse(text: &str, folder: &Path) -> Result<Self, String> {
        // The message of the parser may quote a line, and so a secret.
        let config: Kubeconfig = serde_saphyr::from_str(text)
            .map_err(|_| "it is not the YAML of a kubeconfig; `kubectl config view` says why")?;
        let context = named(config.contexts, "context", &config.current_context)?;
        let cluster = named(config.clusters, "cluster", &context.cluster)?;
        let user = named(config.users, "user", &context.user)?;
        let pem = |field: &str, data: &Option<String>, path: &Option<String>| match (data, path) {
            (Some(data), _) => STANDARD
                .decode(data)
                .map(Some)
                .map_err(|_| format!("`{field}-data` is not base64; correct it")),
            (None, Some(path)) => fs::read(folder.join(path))
                .map(Some)
                .map_err(|error| format!("`{field}: {path}` cannot be read: {error}")),
            (None, None) => Ok(None),
        };
        let authority = pem(
            "certificate-authority",
            &cluster.authority_data,
            &cluster.authority,
        )?;
        let certificate = pem(
            "client-certificate",
            &user.certificate_data,
            &user.certificate,
        )?;
        let key = pem("client-key", &user.key_data, &user.key)?;
        let identity = match (certificate, key) {
            (Some(certificate), Some(key)) => Some([certificate, b"\n".to_vec(), key].concat()),
            (None, None) => None,
            _ => return Err("`client-certificate` and `client-key` need each other".to_owned()),
        };
        if user.token.is_none() && identity.is_none() {
            let user = context.user;
            return Err(format!(
                "the user `{user}` has no `token` and no `client-certificate`; use one that has"
            ));
        }
        Ok(Self {
            server: cluster.server.trim_end_matches('/').to_owned(),
            authority,
            identity,
            token: user.token,
            compression: !cluster.disable_compression,
        })
    }
}

fn named<T>(all: Vec<Named<T>>, what: &str, name: &str) -> Result<T, String> {
    let found = all.into_iter().find(|one| one.name == name);
    found
        .map(|one| one.value)
        .ok_or_else(|| format!("it has no {what} `{name}`; add it"))
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Kubeconfig {
    current_context: String,
    contexts: Vec<Named<Context>>,
    clusters: Vec<Named<Cluster>>,
    users: Vec<Named<User>>,
}

#[derive(Deserialize)]
struct Named<T> {
    name: String,
    #[serde(alias = "context", alias = "cluster", alias = "user")]
    value: T,
}

#[derive(Deserialize)]
struct Context {
    cluster: String,
    user: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Cluster {
    server: String,
    #[serde(rename = "certificate-authority")]
    authority: Option<String>,
    #[serde(rename = "certificate-authority-data")]
    authority_data: Option<String>,
    #[serde(default)]
    disable_compression: bool,
}

#[derive(Deserialize)]
struct User {
    token: Option<String>,
    #[serde(rename = "client-certificate")]
    certificate: Option<String>,
    #[serde(rename = "client-certificate-data")]
    certificate_data: Option<String>,
    #[serde(rename = "client-key")]
    key: Option<String>,
    #[serde(rename = "client-key-data")]
    key_data: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As the server of the end-to-end tests writes it, with data instead of files. `dHdv` is `two`.
    const TEXT: &str = "\
apiVersion: v1
clusters:
- cluster:
    certificate-authority-data: dHdv
    server: https://127.0.0.1:1
  name: e2e
- cluster:
    certificate-authority-data: dHdv
    disable-compression: true
    server: https://127.0.0.1:1/
  name: uncompressed
contexts:
- context:
    cluster: e2e
    user: certificate
  name: certificate
- context:
    cluster: uncompressed
    user: admin
  name: uncompressed
- context:
    cluster: e2e
    user: nobody
  name: nobody
current-context: uncompressed
kind: Config
users:
- name: admin
  user:
    token: secret
- name: certificate
  user:
    client-certificate-data: dHdv
    client-key-data: dHdv
- name: nobody
  user: {}
";

    fn parse(context: &str) -> Result<Access, String> {
        let text = TEXT.replace("text: uncompressed", &format!("text: {context}"));
        Access::parse(&text, Path::new(""))
    }

    #[test]
    fn the_current_context_decides() -> Result<(), String> {
        let access = parse("uncompressed")?;
        assert_eq!(access.server, "https://127.0.0.1:1");
        assert_eq!(access.authority.as_deref(), Some(b"two".as_slice()));
        assert_eq!(access.token.as_deref(), Some("secret"));
        assert!(access.identity.is_none());
        assert!(!access.compression);

        let access = parse("certificate")?;
        assert_eq!(access.identity.as_deref(), Some(b"two\ntwo".as_slice()));
        assert!(access.token.is_none());
        assert!(access.compression);
        Ok(())
    }

    #[test]
    fn what_is_missing_is_named() {
        let why = |context| parse(context).err().unwrap_or_default();
        assert!(why("other").contains("no context `other`"));
        assert!(why("nobody").contains("the user `nobody` has no `token`"));
    }

    #[test]
    fn nothing_secret_is_quoted() {
        let text = TEXT.replace("token: secret", "token: [secret");
        let why = Access::parse(&text, Path::new("")).err();
        assert!(why.is_some_and(|why| !why.contains("secret")));
    }
}
