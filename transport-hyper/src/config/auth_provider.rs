//! What to write in place of an `auth-provider`.
//!
//! Such providers were part of kubectl. Those of clouds were removed in 1.26, and that of OIDC has long had a
//! plugin as its successor. An ID token alone would do for minutes, and then someone has to renew it.

use super::kubeconfig::AuthProvider;

/// The longest value of a file that is quoted.
const LONGEST: usize = 200;

/// Says that the provider cannot be used, and which exec plugin does the same: the text after `exec: ` can be
/// put in place of the entry. It contains nothing that may be secret.
pub(super) fn instead(provider: &AuthProvider) -> String {
    let config = &provider.config;
    match provider.name.as_str() {
        "oidc" => {
            let issuer = config.issuer.as_deref().filter(|url| is_public(url));
            let mut args = vec![
                "oidc-login".to_owned(),
                "get-token".to_owned(),
                option("--oidc-issuer-url", issuer, "ISSUER"),
                option("--oidc-client-id", config.client_id.as_deref(), "CLIENT"),
            ];
            let mut note = String::new();
            if config.client_secret.is_some() {
                args.push(option("--oidc-client-secret", None, "SECRET"));
                note = ", with the `client-secret` of this entry for SECRET".to_owned();
            }
            let scopes = config.extra_scopes.as_deref().unwrap_or_default();
            for scope in scopes.split(',').filter(|scope| !scope.is_empty()) {
                args.push(option("--oidc-extra-scope", Some(scope), "SCOPE"));
            }
            if let Some(file) = &config.authority {
                args.push(option("--certificate-authority", Some(file), "FILE"));
            }
            let exec = exec("v1", "interactiveMode: IfAvailable, ", "kubectl", &args);
            format!(
                "the auth-provider `oidc` is not supported; install the plugin `kubectl oidc-login` \
                 (https://github.com/int128/kubelogin) and replace the entry by this one{note}: {exec}"
            )
        }
        "azure" => {
            let cloud = config.environment.as_deref();
            let args = [
                "get-token".to_owned(),
                "--login=devicecode".to_owned(),
                option("--server-id", config.apiserver_id.as_deref(), "SERVER"),
                option("--client-id", config.client_id.as_deref(), "CLIENT"),
                option("--tenant-id", config.tenant_id.as_deref(), "TENANT"),
                option("--environment", cloud, "AzurePublicCloud"),
            ];
            let exec = exec("v1beta1", "", "kubelogin", &args);
            format!(
                "the auth-provider `azure` is not supported; install `kubelogin` \
                 (https://github.com/Azure/kubelogin) and run `kubelogin convert-kubeconfig`, or replace \
                 the entry by this one: {exec}"
            )
        }
        "gcp" => {
            let more = "provideClusterInfo: true, ";
            let exec = exec("v1beta1", more, "gke-gcloud-auth-plugin", &[]);
            format!(
                "the auth-provider `gcp` is not supported; install `gke-gcloud-auth-plugin` (gcloud \
                 components install gke-gcloud-auth-plugin) and run `gcloud container clusters \
                 get-credentials`, or replace the entry by this one: {exec}"
            )
        }
        _ => "an auth-provider is not supported; use an exec plugin or a token".to_owned(),
    }
}

/// An exec plugin in one line of YAML.
fn exec(version: &str, more: &str, command: &str, args: &[String]) -> String {
    let args: Vec<_> = args
        .iter()
        .map(|arg| format!("'{}'", arg.replace('\'', "''")))
        .collect();
    let args = args.join(", ");
    format!(
        "exec: {{apiVersion: client.authentication.k8s.io/{version}, {more}command: {command}, args: [{args}]}}"
    )
}

/// An option with the value from the file, or with a name for it if that cannot be shown.
fn option(name: &str, value: Option<&str>, stand_in: &str) -> String {
    let is_plain = |value: &&str| {
        let hidden = |c: char| c.is_control() || c.is_whitespace() || !c.is_ascii();
        !value.is_empty() && value.len() <= LONGEST && !value.contains(hidden)
    };
    format!("{name}={}", value.filter(is_plain).unwrap_or(stand_in))
}

/// Whether a URL has neither credentials nor a query.
fn is_public(url: &str) -> bool {
    !url.contains(['@', '?', '#'])
}
