//! Lists: version, page, objects.

use super::{CONFIGMAPS, PODS};
use crate::probe::Probe;

/// A version that no server has reached.
const TOO_LARGE: &str = "999999999";

fn list(query: &str) -> Probe {
    Probe::get(format!("{CONFIGMAPS}?{query}"))
}

/// An empty collection.
pub(super) fn of_nothing() -> Vec<Probe> {
    vec![
        Probe::get(CONFIGMAPS),
        list("limit=1"),
        list("resourceVersion=0"),
        list("watch=true&timeoutSeconds=1"),
        list(
            "watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds=1",
        ),
        Probe::get("/api/v1/namespaces/nowhere/configmaps"),
        Probe::get("/api/v1/namespaces/nowhere/configmaps?watch=true&timeoutSeconds=1"),
    ]
}

/// Every version, with every match, with and without pages.
pub(super) fn of_versions() -> Vec<Probe> {
    let versions = [
        None,
        Some("0"),
        Some("{c}"),
        Some("{page}"),
        Some("{h}"),
        Some(TOO_LARGE),
        Some("latest"),
        Some("-1"),
        Some("18446744073709551616"),
    ];
    let matches = [None, Some("Exact"), Some("NotOlderThan"), Some("Newest")];
    let limits = [None, Some("2")];
    let mut probes = Vec::new();
    for version in versions {
        for how in matches {
            for limit in limits {
                let parameters = [
                    ("resourceVersion", version),
                    ("resourceVersionMatch", how),
                    ("limit", limit),
                ];
                let query: Vec<String> = parameters
                    .into_iter()
                    .filter_map(|(name, value)| Some(format!("{name}={}", value?)))
                    .collect();
                probes.push(list(&query.join("&")));
            }
        }
    }
    probes
}

/// The next page, and invalid tokens.
pub(super) fn pages() -> Vec<Probe> {
    let mut probes: Vec<Probe> = [
        "continue={page.continue}",
        "continue={page.continue}&limit=1",
        "continue={page.continue}&limit=2&labelSelector=app%3Dweb",
        "continue={page.continue}&resourceVersion=0",
        "continue={page.continue}&resourceVersion={c}",
        "continue={page.continue}&resourceVersion={c}&resourceVersionMatch=Exact",
        "continue={page.continue}&resourceVersionMatch=NotOlderThan",
        "continue={page.continue}&resourceVersion=0&resourceVersionMatch=NotOlderThan",
        "continue=next",
        "continue=%21",
        // {"v":"v2","rv":5,"start":"a"}
        "continue=eyJ2IjoidjIiLCJydiI6NSwic3RhcnQiOiJhIn0",
        // {"v":"meta.k8s.io/v1","start":"a"}
        "continue=eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJzdGFydCI6ImEifQ",
        // {"v":"meta.k8s.io/v1","rv":5}
        "continue=eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6NX0",
        // {"v":"meta.k8s.io/v1","rv":5,"start":"../a"}
        "continue=eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6NSwic3RhcnQiOiIuLi9hIn0",
        // {"v":"meta.k8s.io/v1","rv":999999999,"start":"a"}
        "continue=eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6OTk5OTk5OTk5LCJzdGFydCI6ImEifQ",
        // {"v":"meta.k8s.io/v1","rv":-1,"start":"c"}
        "continue=eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6LTEsInN0YXJ0IjoiYyJ9",
        "limit=0",
        "limit=-1",
        "limit=many",
        "limit=1000",
        "limit=99999999999999999999",
        "limit=7",
        "limit=6",
        "limit=1&labelSelector=app%3Dweb",
        "limit=2&fieldSelector=metadata.name%3Da",
        "limit=1&fieldSelector=metadata.namespace%3D{ns}",
        "timeoutSeconds=soon",
        "timeoutSeconds=5",
        "pretty=true&unheard=of",
        "watch=false",
        "watch=0",
        "allowWatchBookmarks=true",
        "sendInitialEvents=true",
        "sendInitialEvents=false&resourceVersion=0&resourceVersionMatch=NotOlderThan",
        "resourceVersion=",
    ]
    .map(list)
    .to_vec();
    probes.push(Probe::get(
        "/api/v1/configmaps?labelSelector=run%3D{ns}&limit=3",
    ));
    probes
}

/// Selectors.
pub(super) fn selectors() -> Vec<Probe> {
    let labels = [
        "app=web",
        "app==web",
        "app!=web",
        "app in (web,db)",
        "app notin (web)",
        "app",
        "!app",
        "app=web,run={ns}",
        "app=",
        "none=x",
        "app=web,",
        "n>1",
        "",
        // Invalid ones.
        "app web",
        "app in",
        "app in ()",
        "=web",
        "app=a=b",
        "-app=web",
        "app=-web",
        "app in (web",
        "a/b/c=d",
        "n>one",
        ",",
    ];
    let fields = [
        "metadata.name=a",
        "metadata.name==a",
        "metadata.name!=a",
        "metadata.namespace={ns}",
        "metadata.namespace=other",
        "metadata.name=a,metadata.namespace={ns}",
        "",
        // Invalid ones.
        "metadata.name",
        "metadata.name>a",
        "metadata.labels.app=web",
        "data.of=a",
        "=a",
        "metadata.name=Not_A_Name",
    ];
    let label = |selector: &str| list(&format!("labelSelector={}", escaped(selector)));
    let field = |selector: &str| list(&format!("fieldSelector={}", escaped(selector)));
    let mut probes: Vec<Probe> = labels.map(label).to_vec();
    probes.extend(fields.map(field));
    probes.push(list(
        "labelSelector=app%3Dweb&fieldSelector=metadata.name%3Da",
    ));
    let pods = ["spec.nodeName=", "status.phase=Running", "spec.image=x"];
    probes.extend(
        pods.map(|selector| Probe::get(format!("{PODS}?fieldSelector={}", escaped(selector)))),
    );
    probes
}

/// Escapes a query. Names in braces stay.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '.' | '-' | '_' | '{' | '}' => out.push(c),
            c => out += &format!("%{:02X}", u32::from(c)),
        }
    }
    out
}

/// What is left of a forgotten history.
pub(super) fn of_the_past() -> Vec<Probe> {
    let mut probes: Vec<Probe> = [
        "resourceVersion={c}&resourceVersionMatch=Exact",
        "resourceVersion={c}&resourceVersionMatch=Exact&limit=2",
        "resourceVersion={c}&limit=2",
        "resourceVersion={c}&resourceVersionMatch=NotOlderThan&limit=2",
        "resourceVersion={c}",
        "resourceVersion=1&resourceVersionMatch=Exact",
    ]
    .map(list)
    .to_vec();
    // The refusal has a token that continues with the present.
    probes.push(list("continue={page.continue}").keep_page("fresh"));
    probes.push(list("continue={fresh.continue}"));
    probes.push(list("continue={fresh.continue}&limit=2"));
    probes
}
