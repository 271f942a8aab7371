//! The variables and files that `infer` looks at.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::secret::Secret;

/// The variables and directories that [`Config::infer`](super::Config::infer) looks at.
///
/// Use it in tests, or to look somewhere else:
///
/// ```
/// use informer_transport_hyper::{Config, Environment};
///
/// let file = std::env::temp_dir().join("environment-example.yaml");
/// std::fs::write(&file, "
/// current-context: kind
/// contexts: [{name: kind, context: {cluster: kind, namespace: web}}]
/// clusters: [{name: kind, cluster: {server: 'https://127.0.0.1:6443'}}]
/// ")?;
/// let mut environment = Environment::default();
/// environment.kubeconfig = Some(file.clone().into());
///
/// let config = Config::infer_from(&environment)?;
/// assert_eq!(config.server_url(), "https://127.0.0.1:6443");
/// assert_eq!(config.default_namespace(), "web");
/// # std::fs::remove_file(file)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Environment {
    /// The variable `KUBECONFIG`: file names, separated like `PATH`.
    pub kubeconfig: Option<OsString>,
    /// The home directory.
    pub home: Option<PathBuf>,
    /// The variable `KUBERNETES_SERVICE_HOST`, which is set in every pod.
    pub service_host: Option<String>,
    /// The variable `KUBERNETES_SERVICE_PORT`.
    pub service_port: Option<String>,
    /// The directory with the files of the service account.
    pub service_account: PathBuf,
    /// The variable `https_proxy`, or else `HTTPS_PROXY`: the proxy to servers at `https://`.
    ///
    /// A URL with `http`, `https`, `socks5` or `socks5h`, or just `host:port`.
    pub https_proxy: Option<Secret>,
    /// The variable `http_proxy`, or else `HTTP_PROXY`: the proxy to servers at `http://`.
    ///
    /// In a CGI program (with `REQUEST_METHOD` set) it is not read, because its clients could set it.
    pub http_proxy: Option<Secret>,
    /// The variable `no_proxy`, or else `NO_PROXY`: the servers that are reached without a proxy.
    ///
    /// Hosts and domains (`example.org`, `.example.org`), addresses and networks (`10.0.0.0/8`), each of
    /// them but networks with or without a port, separated by commas; or `*`. The rules are those of Go,
    /// except that international names must be written in ASCII (`xn--`).
    pub no_proxy: Option<String>,
}

impl Environment {
    /// The environment of this process.
    #[must_use]
    pub fn current() -> Self {
        let is_cgi = env::var_os("REQUEST_METHOD").is_some_and(|method| !method.is_empty());
        Self {
            kubeconfig: env::var_os("KUBECONFIG"),
            home: env::home_dir(),
            service_host: env::var("KUBERNETES_SERVICE_HOST").ok(),
            service_port: env::var("KUBERNETES_SERVICE_PORT").ok(),
            service_account: PathBuf::from("/var/run/secrets/kubernetes.io/serviceaccount"),
            https_proxy: either("https_proxy", "HTTPS_PROXY").map(Secret::from),
            http_proxy: either("http_proxy", "HTTP_PROXY")
                .filter(|_| !is_cgi)
                .map(Secret::from),
            no_proxy: either("no_proxy", "NO_PROXY"),
        }
    }

    /// The kubeconfig files that exist. If there are none, the reasons are added to `tried`.
    ///
    /// As in kubectl, files named by `KUBECONFIG` may be missing, and `~/.kube/config` is used only if
    /// the variable is not set.
    pub(super) fn kubeconfig_files(&self, tried: &mut Vec<String>) -> Option<Vec<PathBuf>> {
        let named: Vec<PathBuf> = self
            .kubeconfig
            .iter()
            .flat_map(env::split_paths)
            .filter(|file| !file.as_os_str().is_empty())
            .collect();
        if !named.is_empty() {
            let (there, missing): (Vec<_>, Vec<_>) =
                named.into_iter().partition(|file| file.exists());
            if !there.is_empty() {
                return Some(there);
            }
            let missing: Vec<_> = missing.iter().map(|file| file.display()).collect();
            tried.extend(
                missing
                    .iter()
                    .map(|file| format!("KUBECONFIG names {file}, which does not exist")),
            );
            return None;
        }
        tried.push("KUBECONFIG is not set".to_owned());
        let Some(home) = self.home.as_deref().filter(|home| *home != Path::new("")) else {
            tried.push("there is no home directory".to_owned());
            return None;
        };
        let file = home.join(".kube").join("config");
        if file.exists() {
            return Some(vec![file]);
        }
        tried.push(format!("{} does not exist", file.display()));
        None
    }
}

/// The first of two variables that is set and not empty.
fn either(first: &str, second: &str) -> Option<String> {
    let filled = |name| env::var_os(name).filter(|value| !value.is_empty());
    let value = filled(first).or_else(|| filled(second))?;
    Some(value.to_string_lossy().into_owned())
}
