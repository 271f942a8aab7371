//! Kubeconfig files.
//!
//! The input is the text of a file. What must hold:
//!
//! * Reading it twice gives the same result.
//! * No error and no `Debug` of a configuration shows a secret: no value that a second YAML parser
//!   finds in a secret field, and no text marked `s3cr3t` from a file that cannot be parsed.
//! * The server is the one that the file names: scheme, host, port and path. In particular, its
//!   port is valid.

use informer_transport_hyper::Config;
use serde_json::Value;

use super::loopback::Scratch;
use crate::Target;

/// This target.
pub const TARGET: Target = Target {
    name: "kubeconfig",
    run,
    words: &[
        "current-context: a\n",
        "contexts:\n",
        "clusters:\n",
        "users:\n",
        "- name: a\n",
        "  user:\n",
        "    token: s3cr3t-token\n",
        "    tokenFile: t\n",
        "    password: s3cr3t-password\n",
        "    username: me\n",
        "    exec:\n",
        "    as: jane\n",
        "    proxy-url: http://me:s3cr3t-proxy@proxy:3128\n",
        "    insecure-skip-tls-verify: true\n",
        "    server: https://10.0.0.1:6443\n",
        "server: ",
        "http://127.0.0.1:80010",
        "https://[::1]:6443/k8s",
        "https://me:s3cr3t-url@a",
        "namespace: ..",
        ":6443",
        "&x ",
        "*x",
        "<<: ",
        "!!str ",
        "!!binary ",
        "|\n",
        ">-\n",
        "{",
        "[",
        "# ",
        "---\n",
        "\t",
        "'",
        "\"",
        "null",
        "~",
    ],
};

/// The mark of secrets in the corpus.
const MARK: &str = "s3cr3t";

/// Shorter values may occur by chance.
const SHORTEST: usize = 6;

/// Reads the file.
pub fn run(input: &[u8]) {
    let file = Scratch::new(input);
    let path = file.path().to_string_lossy();
    let read = || Config::from_kubeconfig(file.path(), None);
    let (first, again) = (read(), read());
    let shown = match &first {
        Ok(config) => format!("{config:?}"),
        Err(error) => format!("{error} {error:?}"),
    };
    let shown_again = match &again {
        Ok(config) => format!("{config:?}"),
        Err(error) => format!("{error} {error:?}"),
    };
    assert_eq!(shown, shown_again, "reading twice gives different results");
    let shown = shown.replace(&*path, "");

    let text = String::from_utf8_lossy(input);
    let Ok(value) = serde_saphyr::from_str::<Value>(&text) else {
        assert!(
            !shown.contains(MARK),
            "quotes a file that cannot be read: {shown}"
        );
        return;
    };
    for secret in secrets(&value) {
        // A value that also occurs elsewhere is not secret there.
        if secret.len() >= SHORTEST && text.matches(&secret).count() == 1 {
            assert!(!shown.contains(&secret), "shows a secret: {shown}");
        }
    }
    if let Ok(config) = &first {
        let url = config.server_url();
        let again = Config::new(&url).expect("a URL that was read is read again");
        assert_eq!(again.server_url(), url);
        let named = server(&value).expect("there is a server");
        assert_eq!(
            Some(&url),
            plain_url(named).as_ref(),
            "the file names {named:?}"
        );
    }
}

/// All values in secret fields.
fn secrets(file: &Value) -> Vec<String> {
    let of = |list: &str, entry: &str| {
        let entries = file
            .get(list)
            .and_then(Value::as_array)
            .into_iter()
            .flatten();
        let found: Vec<Value> = entries.filter_map(|own| own.get(entry).cloned()).collect();
        found
    };
    let mut secrets = Vec::new();
    for user in of("users", "user") {
        for place in ["/token", "/password", "/client-key-data", "/exec/args"] {
            collect(user.pointer(place), &mut secrets);
        }
        let variables = user.pointer("/exec/env").and_then(Value::as_array);
        for variable in variables.into_iter().flatten() {
            collect(variable.get("value"), &mut secrets);
        }
    }
    for cluster in of("clusters", "cluster") {
        let proxy = cluster.get("proxy-url").and_then(Value::as_str);
        let user = proxy.and_then(|url| url.split_once("://")?.1.rsplit_once('@'));
        secrets.extend(user.map(|(user, _)| user.to_owned()));
    }
    secrets
}

/// The texts in a value.
fn collect(value: Option<&Value>, into: &mut Vec<String>) {
    match value {
        None | Some(Value::Null | Value::Bool(_)) => {}
        Some(Value::String(text)) => into.push(text.clone()),
        Some(Value::Number(number)) => into.push(number.to_string()),
        Some(Value::Array(values)) => values.iter().for_each(|value| collect(Some(value), into)),
        Some(Value::Object(members)) => {
            members
                .values()
                .for_each(|value| collect(Some(value), into));
        }
    }
}

/// The server of the current context.
fn server(file: &Value) -> Option<&str> {
    let entry = |list: &str, name: &str| {
        let mut entries = file.get(list)?.as_array()?.iter();
        entries.find(|entry| entry.get("name").is_some_and(|own| text(own) == name))
    };
    let context = entry("contexts", &text(file.get("current-context")?))?;
    let cluster = context
        .pointer("/context/cluster")
        .map(text)
        .unwrap_or_default();
    entry("clusters", &cluster)?
        .pointer("/cluster/server")?
        .as_str()
}

/// YAML reads `1` as a number where a text is expected.
fn text(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

/// A URL without redundant parts; `None` if it is invalid.
fn plain_url(url: &str) -> Option<String> {
    let (scheme, rest) = url.split_once("://")?;
    let (scheme, usual) = match scheme.to_ascii_lowercase().as_str() {
        "https" => ("https", 443),
        "http" => ("http", 80),
        _ => return None,
    };
    let rest = rest.split('#').next()?;
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host, port),
        _ => (authority, ""),
    };
    let port: u16 = if port.is_empty() {
        usual
    } else {
        port.parse().ok()?
    };
    let port = if port == usual {
        String::new()
    } else {
        format!(":{port}")
    };
    Some(format!(
        "{scheme}://{host}{port}{}",
        path.trim_end_matches('/')
    ))
}
