//! Kubeconfig files and the environment: what is read, and which errors are reported.
use crate::rig::folder::Folder;
use informer_transport_hyper::{Config, ConfigError, Environment};

const KIND: &str = "
apiVersion: v1
kind: Config
current-context: kind
preferences: {}
clusters:
- name: kind
  cluster:
    server: https://127.0.0.1:6443
- name: prod
  cluster: {server: 'https://prod.example.org/k8s/'}
contexts:
- name: kind
  context: {cluster: kind, user: me, namespace: web}
- name: prod
  context: {cluster: prod, user: me}
- name: lost
  context: {cluster: gone, user: me}
- name: nobody
  context: {cluster: kind, user: gone}
users:
- name: me
  user: {token: abc}
";

#[test]
fn contexts() {
    let folder = Folder::new();
    let file = folder.write("config", KIND);
    let config = Config::from_kubeconfig(&file, None).unwrap();
    assert_eq!(config.server_url(), "https://127.0.0.1:6443");
    assert_eq!(config.default_namespace(), "web");
    let config = Config::from_kubeconfig(&file, Some("prod")).unwrap();
    assert_eq!(config.server_url(), "https://prod.example.org/k8s");
    assert_eq!(config.default_namespace(), "default");
    let name = file.display();
    for (context, complaint) in [
        (
            "typo",
            format!("no context `typo` in {name}; choose one of: `kind`, `lost`, `nobody`, `prod`"),
        ),
        (
            "lost",
            format!("no cluster `gone` in {name}; choose one of: `kind`, `prod`"),
        ),
        (
            "nobody",
            format!("no user `gone` in {name}; choose one of: `me`"),
        ),
    ] {
        let error = Config::from_kubeconfig(&file, Some(context)).unwrap_err();
        assert_eq!(error.to_string(), complaint);
    }
}

#[test]
fn json_is_yaml_too() {
    let folder = Folder::new();
    let file = folder.write(
        "config",
        r#"{"current-context":"c","contexts":[{"name":"c","context":{"cluster":"c","user":""}}],
            "clusters":[{"name":"c","cluster":{"server":"http://localhost:8001"}}],"users":null}"#,
    );
    let config = Config::from_kubeconfig(file, None).unwrap();
    assert_eq!(config.server_url(), "http://localhost:8001");
}

/// A kubeconfig with one cluster and one user.
fn simple(cluster: &str, user: &str) -> String {
    format!(
        "current-context: c\ncontexts: [{{name: c, context: {{cluster: c, user: u}}}}]\n\
         clusters: [{{name: c, cluster: {cluster}}}]\nusers: [{{name: u, user: {user}}}]\n"
    )
}

#[test]
fn an_invalid_field_is_named() {
    const OK: &str = "{server: 'https://a'}";
    let folder = Folder::new();
    let rows = [
        ("{}", "{}", "cluster `c`: `server` is missing"),
        (
            "{server: nonsense}",
            "{}",
            "cluster `c`: `server` must begin with https:// or http://",
        ),
        (
            "{server: 'https://a', proxy-url: 'ftp://p:1'}",
            "{}",
            "cluster `c`: `proxy-url` must begin with http://, https://, socks5:// or socks5h://",
        ),
        (
            "{server: 'https://a', certificate-authority-data: '%%%'}",
            "{}",
            "cluster `c`: `certificate-authority-data` is not base64-encoded PEM",
        ),
        (
            "{server: 'https://a', certificate-authority: x, insecure-skip-tls-verify: true}",
            "{}",
            "cluster `c`: `insecure-skip-tls-verify` cannot be combined with a certificate authority",
        ),
        (
            OK,
            "{auth-provider: {name: oidc, config: {x: y}}}",
            "user `u`: the auth-provider `oidc` is not supported; install the plugin `kubectl oidc-login`",
        ),
        (
            OK,
            "{token: a, username: b}",
            "user `u`: `username` cannot be combined with `token`",
        ),
        (
            OK,
            "{client-certificate: x}",
            "user `u`: `client-key` is missing",
        ),
        (
            OK,
            "{client-key: x}",
            "user `u`: `client-certificate` is missing",
        ),
        (OK, "{as-groups: [x]}", "user `u`: `as` is missing"),
        (
            OK,
            "{exec: {command: x}}",
            "user `u`: `exec.apiVersion` must be",
        ),
        (
            OK,
            "{exec: {command: x, apiVersion: client.authentication.k8s.io/v1alpha1}}",
            "user `u`: `exec.apiVersion` must be",
        ),
        (
            OK,
            "{exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never}}",
            "user `u`: `exec.command` is missing",
        ),
        (
            OK,
            "{exec: {command: x, apiVersion: client.authentication.k8s.io/v1}}",
            "user `u`: `exec.interactiveMode` must be Never, IfAvailable or Always",
        ),
    ];
    for (cluster, user, complaint) in rows {
        let file = folder.write("config", &simple(cluster, user));
        let error = Config::from_kubeconfig(&file, None)
            .unwrap_err()
            .to_string();
        let place = format!(" in {}", file.display());
        assert!(error.contains(&place), "{error}");
        let error = error.replacen(&place, "", 1);
        assert!(error.starts_with(complaint), "{error}");
    }
    // The older version of the protocol has a default mode.
    let user = "{exec: {command: x, apiVersion: client.authentication.k8s.io/v1beta1}}";
    let file = folder.write("config", &simple(OK, user));
    Config::from_kubeconfig(file, None).unwrap();
}

/// The message has an entry that can be used as it is.
#[test]
fn the_plugin_for_an_auth_provider_is_named() {
    let folder = Folder::new();
    let oidc = "idp-issuer-url: 'https://login.example.org/realms/it''s', client-id: kube, \
                client-secret: s3cret, id-token: s3cret, refresh-token: s3cret, extra-scopes: 'groups,email'";
    let azure =
        "apiserver-id: aaa, client-id: bbb, tenant-id: ccc, access-token: s3cret, environment: X";
    for (name, config, remedies) in [
        (
            "oidc",
            oidc,
            &[
                "kubectl oidc-login",
                "https://github.com/int128/kubelogin",
                "args: ['oidc-login', 'get-token', \
                 '--oidc-issuer-url=https://login.example.org/realms/it''s', '--oidc-client-id=kube', \
                 '--oidc-client-secret=SECRET', '--oidc-extra-scope=groups', '--oidc-extra-scope=email']",
            ][..],
        ),
        (
            "oidc",
            "idp-issuer-url: 'https://me:s3cret@login', client-id: \"a\\nb\", \
             idp-certificate-authority: /etc/ca.crt",
            &[
                "args: ['oidc-login', 'get-token', '--oidc-issuer-url=ISSUER', '--oidc-client-id=CLIENT', \
                 '--certificate-authority=/etc/ca.crt']",
            ],
        ),
        (
            "azure",
            azure,
            &[
                "kubelogin convert-kubeconfig",
                "command: kubelogin, args: ['get-token', '--login=devicecode', '--server-id=aaa', \
                 '--client-id=bbb', '--tenant-id=ccc', '--environment=X']",
            ],
        ),
        (
            "gcp",
            "access-token: s3cret, expiry: '2020-01-01', cmd-args: s3cret",
            &[
                "gcloud container clusters get-credentials",
                "command: gke-gcloud-auth-plugin",
            ],
        ),
    ] {
        let user = format!("{{auth-provider: {{name: {name}, config: {{{config}}}}}}}");
        let file = folder.write("config", &simple("{server: 'https://a'}", &user));
        let error = Config::from_kubeconfig(&file, None).unwrap_err();
        assert!(matches!(error, ConfigError::Unsupported { .. }), "{error}");
        assert!(!format!("{error} {error:?}").contains("s3cret"), "{error}");
        let error = error.to_string();
        for remedy in remedies {
            assert!(error.contains(remedy), "{error}");
        }
        let (_, exec) = error.split_once("exec: ").unwrap();
        let user = format!("{{exec: {exec}}}");
        let file = folder.write("config", &simple("{server: 'https://a'}", &user));
        Config::from_kubeconfig(&file, None).unwrap();
    }
    let user = "{auth-provider: {name: other, config: {token: s3cret}}}";
    let file = folder.write("config", &simple("{server: 'https://a'}", user));
    let error = Config::from_kubeconfig(file, None).unwrap_err().to_string();
    assert!(error.ends_with("use an exec plugin or a token"), "{error}");
}

#[test]
fn missing_files_and_invalid_yaml() {
    let folder = Folder::new();
    let missing = folder.path().join("missing");
    let error = Config::from_kubeconfig(&missing, None).unwrap_err();
    assert!(matches!(error, ConfigError::Unreadable { .. }), "{error}");
    assert!(error.to_string().contains("missing"), "{error}");

    let file = folder.write("config", "users:\n- name: me\n  user: {token: s3cret\n");
    let error = Config::from_kubeconfig(file, None).unwrap_err().to_string();
    assert!(error.contains("config is malformed: line "), "{error}");
    assert!(!error.contains("s3cret"), "{error}");

    let file = folder.write("config", "users:\n- name: me\n  user: s3cret\n");
    let error = Config::from_kubeconfig(file, None).unwrap_err().to_string();
    assert!(error.contains("config is malformed: line 3"), "{error}");
    assert!(!error.contains("s3cret"), "{error}");
}

/// As with `kubectl --kubeconfig <(…)`.
#[cfg(unix)]
#[test]
fn a_kubeconfig_may_come_through_a_pipe() {
    let folder = Folder::new();
    let pipe = folder.pipe("pipe");
    let writer = std::thread::spawn({
        let pipe = pipe.clone();
        move || std::fs::write(pipe, KIND).unwrap()
    });
    let config = Config::from_kubeconfig(&pipe, None).unwrap();
    assert_eq!(config.default_namespace(), "web");
    writer.join().unwrap();
}

#[test]
fn the_first_file_that_defines_a_name_wins() {
    let folder = Folder::new();
    let first = folder.write(
        "a/config",
        "current-context: one\nclusters: [{name: c, cluster: {server: 'https://first'}}]\n",
    );
    let second = folder.write(
        "b/config",
        "current-context: two\n\
         clusters: [{name: c, cluster: {server: 'https://second', certificate-authority: ca.crt}}, \
                    {name: d, cluster: {server: 'https://d', certificate-authority: ca.crt}}]\n\
         contexts: [{name: one, context: {cluster: c}}, {name: two, context: {cluster: d}}]\n",
    );
    let files = [first.clone(), second.clone()];
    let config = Config::from_kubeconfigs(&files, None).unwrap();
    assert_eq!(config.server_url(), "https://first");
    // Entries are not merged: the first file has no authority for this cluster.
    assert!(!format!("{config:?}").contains("ca.crt"));
    // Paths are relative to the file that contains them.
    let config = Config::from_kubeconfigs(&files, Some("two")).unwrap();
    let ca = folder.path().join("b").join("ca.crt");
    assert!(
        format!("{config:?}").contains(&ca.display().to_string()),
        "{config:?}"
    );

    let mut environment = Environment::default();
    let missing = folder.path().join("missing");
    let names = [missing.clone(), first, second];
    environment.kubeconfig = Some(std::env::join_paths(names).unwrap());
    let config = Config::infer_from(&environment).unwrap();
    assert_eq!(config.server_url(), "https://first");
    let config = Config::infer_context_from(&environment, "two").unwrap();
    assert_eq!(config.server_url(), "https://d");
    let error = Config::infer_context_from(&environment, "three").unwrap_err();
    assert!(error.to_string().contains("three"), "{error}");

    environment.kubeconfig = Some(missing.clone().into());
    let error = Config::infer_from(&environment).unwrap_err().to_string();
    assert!(
        error.contains(&format!("KUBECONFIG names {}", missing.display())),
        "{error}"
    );
}

#[test]
fn the_home_directory_comes_second() {
    let folder = Folder::new();
    folder.write(".kube/config", KIND);
    let mut environment = Environment::default();
    environment.home = Some(folder.path().to_owned());
    let config = Config::infer_from(&environment).unwrap();
    assert_eq!(config.server_url(), "https://127.0.0.1:6443");
    // An empty variable counts as unset.
    environment.kubeconfig = Some("".into());
    assert!(Config::infer_from(&environment).is_ok());
}

#[test]
fn the_service_account_of_a_pod_comes_last() {
    let folder = Folder::new();
    let mut environment = Environment::default();
    environment.home = Some(folder.path().join("home"));
    environment.service_host = Some("10.96.0.1".to_owned());
    environment.service_port = Some("443".to_owned());
    environment.service_account = folder.path().to_owned();
    let error = Config::infer_from(&environment).unwrap_err().to_string();
    assert!(
        error.contains("does this pod mount its service account token?"),
        "{error}"
    );

    folder.write("token", "abc");
    folder.write("ca.crt", "a certificate");
    folder.write("namespace", "web\n");
    let config = Config::infer_from(&environment).unwrap();
    assert_eq!(config.server_url(), "https://10.96.0.1");
    assert_eq!(config.default_namespace(), "web");

    environment.service_host = Some("fd00::1".to_owned());
    let config = Config::infer_from(&environment).unwrap();
    assert_eq!(config.server_url(), "https://[fd00::1]");

    environment.service_port = Some("https".to_owned());
    assert!(Config::infer_from(&environment).is_err());
}

#[test]
fn no_configuration_is_one_sentence() {
    let mut environment = Environment::default();
    environment.home = Some("/nowhere".into());
    let error = Config::infer_from(&environment).unwrap_err();
    assert_eq!(
        error.to_string(),
        "no configuration for a Kubernetes cluster was found (KUBECONFIG is not set; \
         /nowhere/.kube/config does not exist; not in a pod: KUBERNETES_SERVICE_HOST is not set); \
         set KUBECONFIG or pass a kubeconfig file"
    );
}

#[test]
fn an_invalid_port_is_refused() {
    for port in [
        "80010",
        "0",
        "-1",
        "+443",
        "6443x",
        "",
        "65536",
        "99999999999999999999",
    ] {
        for scheme in ["http", "https"] {
            for host in ["127.0.0.1", "[::1]", "example.org"] {
                let url = format!("{scheme}://{host}:{port}");
                let error = Config::new(&url).unwrap_err().to_string();
                assert!(error.contains("`server` "), "{url}: {error}");
            }
        }
        let folder = Folder::new();
        let cluster = format!("{{server: 'https://a', proxy-url: 'http://me:pw@proxy:{port}'}}");
        let file = folder.write("config", &simple(&cluster, "{}"));
        let error = Config::from_kubeconfig(file, None).unwrap_err().to_string();
        assert!(error.contains("`proxy-url` "), "{port}: {error}");
        assert!(!error.contains("pw"), "{error}");
    }
    let error = Config::new("https://127.0.0.1:80010").unwrap_err();
    assert_eq!(
        error.to_string(),
        "the given server: `server` has an invalid port; use a number from 1 to 65535, or leave it \
         out"
    );
}

#[test]
fn an_invalid_service_address_of_a_pod_is_refused() {
    let folder = Folder::new();
    for (name, text) in [("token", "abc"), ("ca.crt", "a certificate")] {
        folder.write(name, text);
    }
    let mut environment = Environment::default();
    environment.home = Some(folder.path().join("home"));
    environment.service_account = folder.path().to_owned();
    for (host, port, named) in [
        ("10.96.0.1", "80010", "KUBERNETES_SERVICE_PORT"),
        ("10.96.0.1", "0", "KUBERNETES_SERVICE_PORT"),
        ("10.96.0.1", "+443", "KUBERNETES_SERVICE_PORT"),
        ("10.96.0.1", "https", "KUBERNETES_SERVICE_PORT"),
        ("a/b", "443", "KUBERNETES_SERVICE_HOST"),
        ("me@a", "443", "KUBERNETES_SERVICE_HOST"),
        ("a:80", "443", "KUBERNETES_SERVICE_HOST"),
        ("a b", "443", "KUBERNETES_SERVICE_HOST"),
    ] {
        environment.service_host = Some(host.to_owned());
        environment.service_port = Some(port.to_owned());
        let error = Config::infer_from(&environment).unwrap_err().to_string();
        assert!(error.contains(named), "{host} {port}: {error}");
    }
    environment.service_host = Some("10.96.0.1".to_owned());
    environment.service_port = None;
    let error = Config::infer_from(&environment).unwrap_err().to_string();
    assert!(
        error.contains("KUBERNETES_SERVICE_PORT is not set"),
        "{error}"
    );
}

#[test]
fn a_duplicate_name_is_refused() {
    let folder = Folder::new();
    for (list, what, inner) in [
        ("contexts", "context", "context: {cluster: c}"),
        ("clusters", "cluster", "cluster: {server: 'https://a'}"),
        ("users", "user", "user: {token: s3cret}"),
    ] {
        let twice =
            format!("{list}: [{{name: x, {inner}}}, {{name: y, {inner}}}, {{name: x, {inner}}}]\n");
        let file = folder.write("config", &twice);
        let error = Config::from_kubeconfig(&file, None)
            .unwrap_err()
            .to_string();
        let expected = format!(
            "{} defines {what} `x` twice; remove or rename one of them",
            file.display()
        );
        assert_eq!(error, expected);
        // In two files, the first one wins.
        let once = format!("{list}: [{{name: x, {inner}}}]\n");
        let files = [folder.write("a", &once), folder.write("b", &once)];
        let error = Config::from_kubeconfigs(&files, None)
            .unwrap_err()
            .to_string();
        assert!(!error.contains("twice"), "{error}");
    }
}

#[test]
fn every_error_names_its_file() {
    let folder = Folder::new();
    let file = folder.write("config", KIND);
    let name = file.display().to_string();
    let complaint = |text: &str, context: Option<&str>| {
        folder.write("config", text);
        Config::from_kubeconfig(&file, context)
            .unwrap_err()
            .to_string()
    };
    for context in ["typo", "lost", "nobody"] {
        let error = complaint(KIND, Some(context));
        assert!(error.contains(&name), "{error}");
    }
    for (cluster, user) in [
        ("{}", "{}"),
        ("{server: 'https://a', proxy-url: 'p:1'}", "{}"),
        ("{server: 'https://a'}", "{token: a, username: b}"),
        ("{server: 'https://a'}", "{auth-provider: {name: oidc}}"),
        ("{server: 'https://a'}", "{exec: {command: x}}"),
    ] {
        let error = complaint(&simple(cluster, user), None);
        assert!(error.contains(&name), "{error}");
    }
    let error = complaint("", None);
    assert_eq!(
        error,
        format!("{name} defines no contexts; add one, or use another kubeconfig")
    );
    let error = complaint("contexts: [{name: a}, {name: b}]", None);
    assert_eq!(
        error,
        format!(
            "{name} has no `current-context`; name one of its contexts (`a`, `b`), or run `kubectl \
             config use-context`"
        )
    );
    let error = complaint("contexts: [{name: a}]", Some("a"));
    assert!(
        error.contains(&format!("context `a` in {name}: `cluster` is missing")),
        "{error}"
    );
    let error = complaint("", Some("a"));
    assert_eq!(
        error,
        format!("no context `a` in {name}, which defines no contexts")
    );
    for namespace in ["..", "a/b", "Web"] {
        let text = KIND.replace("namespace: web", &format!("namespace: '{namespace}'"));
        let error = complaint(&text, None);
        let start = format!("context `kind` in {name}: `namespace` ");
        assert!(error.starts_with(&start), "{error}");
    }
}

#[test]
fn a_file_that_is_too_large_is_not_read_whole() {
    let folder = Folder::new();
    let file = folder.write("config", "");
    let zeros = std::fs::File::options().write(true).open(&file).unwrap();
    zeros.set_len(1 << 26).unwrap();
    let error = Config::from_kubeconfig(&file, None)
        .unwrap_err()
        .to_string();
    assert_eq!(
        error,
        format!(
            "cannot read {}: the file is larger than 4 MiB; is it the right one?",
            file.display()
        )
    );
    // Small enough, but far too complex.
    let file = folder.write(
        "many",
        &format!("preferences: [{}]\n", "0,".repeat(400_000)),
    );
    let error = Config::from_kubeconfig(&file, None)
        .unwrap_err()
        .to_string();
    assert_eq!(
        error,
        format!(
            "{} is malformed: it is too complex for a kubeconfig; is it the right file?",
            file.display()
        )
    );
}
