//! Where programs look for their configuration.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// What [`Config::infer`](super::Config::infer) looks at.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Environment {
    /// The variable `KUBECONFIG`: file names, separated as in `PATH`.
    pub kubeconfig: Option<OsString>,
    /// The home directory.
    pub home: Option<PathBuf>,
    /// The variable `KUBERNETES_SERVICE_HOST`, which every pod has.
    pub service_host: Option<String>,
    /// The variable `KUBERNETES_SERVICE_PORT`.
    pub service_port: Option<String>,
    /// Where the files of the service account are.
    pub service_account: PathBuf,
}

impl Environment {
    /// The environment of this process.
    #[must_use]
    pub fn of_process() -> Self {
        Self {
            kubeconfig: env::var_os("KUBECONFIG"),
            home: env::home_dir(),
            service_host: env::var("KUBERNETES_SERVICE_HOST").ok(),
            service_port: env::var("KUBERNETES_SERVICE_PORT").ok(),
            service_account: PathBuf::from("/var/run/secrets/kubernetes.io/serviceaccount"),
        }
    }

    /// The kubeconfig files that exist, or `None`; then `tried` says why.
    ///
    /// As for kubectl, a file that `KUBECONFIG` names may be missing, and `~/.kube/config` counts
    /// only without that variable.
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
