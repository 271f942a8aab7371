//! Lists, checked against a real server's behaviour.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests may panic"
)]

mod support;

use informer_core::Instant;
use informer_transport_mock::request::{ApiRequest, Headers, Options, Verb};
use informer_transport_mock::{Server, ServerConfig};
use serde_json::{Value, json};
use support::{at, get, names, pod, send, send_as, server, text, value};

/// A server with a history, and page tokens that continue after a.
struct Past {
    server: Server,
    at_3: String,
    at_4: String,
    newest: String,
}

/// Writes a, b and c at 2, 3 and 4, deletes a at 5, writes d at 6. Compacted at 4.
fn with_a_past() -> Past {
    let mut server = server();
    server.create("pods", pod("a", "")).unwrap();
    server.create("pods", pod("b", "")).unwrap();
    let at_3 = token(&get(&mut server, "/api/v1/pods?limit=1").1);
    server.create("pods", pod("c", "")).unwrap();
    let at_4 = token(&get(&mut server, "/api/v1/pods?limit=1").1);
    server.delete("pods", "a").unwrap();
    server.create("pods", pod("d", "")).unwrap();
    server.compact(4);
    let newest = token(&get(&mut server, &format!("/api/v1/pods?continue={at_3}")).1);
    Past {
        server,
        at_3,
        at_4,
        newest,
    }
}

/// The page token in a list or a refusal.
fn token(body: &str) -> String {
    value(body)["metadata"]["continue"]
        .as_str()
        .unwrap()
        .to_owned()
}

fn version_of(list: &str) -> String {
    value(list)["metadata"]["resourceVersion"]
        .as_str()
        .unwrap()
        .to_owned()
}

/// Summarizes an answer in one line: code and reason of a refusal, or `version: names`, with `…` if
/// there are more pages.
fn summary(code: u16, body: &str) -> String {
    let body_value = value(body);
    if code != 200 {
        let fresh = match body_value["metadata"].get("continue") {
            Some(_) => " with a fresh token",
            None => "",
        };
        return format!("{code} {}{fresh}", body_value["reason"].as_str().unwrap());
    }
    let more = match body_value["metadata"].get("continue") {
        Some(_) => " …",
        None => "",
    };
    format!("{}: {}{more}", version_of(body), names(body).join(" "))
}

/// The answer for each combination. The first matching row counts; `*` matches everything, `+`
/// everything but the empty text. Columns: resourceVersion, resourceVersionMatch, limit, continue.
#[rustfmt::skip]
const COMBINATIONS: &[(&str, &str, &str, &str, &str)] = &[
    // Invalid combinations.
    ("",  "+",            "*", "*",       "422 Invalid"),
    ("*", "+",            "*", "+",       "422 Invalid"),
    ("*", "Newest",       "*", "*",       "422 Invalid"),
    ("0", "Exact",        "*", "*",       "422 Invalid"),
    // A later page.
    ("*", "",             "*", "garbage", "400 BadRequest"),
    ("0", "",             "*", "at 4",    "4: b c"),
    ("",  "",             "*", "at 4",    "4: b c"),
    ("0", "",             "*", "at 3",    "410 Expired with a fresh token"),
    ("",  "",             "*", "at 3",    "410 Expired with a fresh token"),
    ("0", "",             "*", "newest",  "6: b c d"),
    ("",  "",             "2", "newest",  "6: b c …"),
    ("",  "",             "",  "newest",  "6: b c d"),
    ("*", "",             "*", "+",       "400 BadRequest"),
    // Not a version, or not a version that exists yet.
    ("x", "*",            "*", "",        "400 BadRequest"),
    ("9", "*",            "*", "",        "504 Timeout"),
    // The newest state. What comes from the watch cache is not paged.
    ("",  "",             "",  "",        "6: b c d"),
    ("",  "",             "2", "",        "6: b c …"),
    ("0", "*",            "*", "",        "6: b c d"),
    ("*", "NotOlderThan", "",  "",        "6: b c d"),
    ("*", "NotOlderThan", "2", "",        "6: b c …"),
    ("*", "",             "",  "",        "6: b c d"),
    // Exactly this version. A limit without a match means that too.
    ("3", "Exact",        "*", "",        "410 Expired"),
    ("3", "",             "2", "",        "410 Expired"),
    ("4", "Exact",        "",  "",        "4: a b c"),
    ("4", "Exact",        "2", "",        "4: a b …"),
    ("4", "",             "2", "",        "4: a b …"),
    ("6", "Exact",        "",  "",        "6: b c d"),
    ("6", "*",            "2", "",        "6: b c …"),
];

#[test]
fn every_combination_of_version_match_limit_and_token() {
    let fits = |pattern: &str, given: &str| match pattern {
        "*" => true,
        "+" => !given.is_empty(),
        text => text == given,
    };
    let mut past = with_a_past();
    let mut used = vec![0; COMBINATIONS.len()];
    for version in ["", "0", "3", "4", "6", "9", "x"] {
        for how in ["", "Exact", "NotOlderThan", "Newest"] {
            for limit in ["", "2"] {
                for token in ["", "garbage", "at 3", "at 4", "newest"] {
                    let row = COMBINATIONS.iter().position(|row| {
                        fits(row.0, version)
                            && fits(row.1, how)
                            && fits(row.2, limit)
                            && fits(row.3, token)
                    });
                    let row = row.expect("a row matches every combination");
                    used[row] += 1;
                    let continue_token = match token {
                        "at 3" => &past.at_3,
                        "at 4" => &past.at_4,
                        "newest" => &past.newest,
                        other => other,
                    };
                    let query = format!(
                        "resourceVersion={version}&resourceVersionMatch={how}&limit={}&continue={continue_token}",
                        if limit.is_empty() { "0" } else { limit }
                    );
                    let (code, body) = get(&mut past.server, &format!("/api/v1/pods?{query}"));
                    assert_eq!(summary(code, &body), COMBINATIONS[row].4, "{query}");
                }
            }
        }
    }
    assert!(used.iter().all(|n| *n > 0), "unused rows: {used:?}");
}

#[test]
fn a_list_is_byte_for_byte_the_real_one() {
    let mut server = server();
    assert_eq!(
        get(&mut server, "/api/v1/pods").1,
        "{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"1\"},\"items\":[]}\n"
    );
    server
        .create(
            "configmaps",
            json!({"metadata": {"name": "a"}, "data": {"k": "v"}}),
        )
        .unwrap();
    server
        .create("configmaps", json!({"metadata": {"name": "b"}}))
        .unwrap();
    let uid = server.get("configmaps", "a").unwrap().uid().to_owned();
    assert_eq!(
        get(&mut server, "/api/v1/configmaps?limit=1").1,
        format!(
            "{{\"kind\":\"ConfigMapList\",\"apiVersion\":\"v1\",\"metadata\":{{\"resourceVersion\":\"3\",\
            \"continue\":\"eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6Mywic3RhcnQiOiIvZGVmYXVsdC9hXHUwMDAwIn0\",\"remainingItemCount\":1}},\
            \"items\":[{{\"metadata\":{{\"name\":\"a\",\"namespace\":\"default\",\"uid\":\"{uid}\",\"resourceVersion\":\"2\",\
            \"creationTimestamp\":\"2025-01-01T00:00:00Z\"}},\"data\":{{\"k\":\"v\"}}}}]}}\n"
        )
    );
}

#[test]
fn pages_show_the_state_of_the_first_one() {
    let mut server = server();
    for n in 0..7 {
        server.create("pods", pod(&format!("p{n}"), "")).unwrap();
    }
    let (mut seen, mut remaining, mut query) = (Vec::new(), Vec::new(), String::new());
    loop {
        let (code, list) = get(
            &mut server,
            &format!("/api/v1/namespaces/default/pods?limit=3{query}"),
        );
        assert_eq!((code, version_of(&list).as_str()), (200, "8"));
        seen.extend(names(&list));
        let metadata = value(&list)["metadata"].clone();
        remaining.push(metadata["remainingItemCount"].as_u64());
        // Changes between two pages are not visible.
        let round = remaining.len();
        server
            .create("pods", pod(&format!("new-{round}"), ""))
            .unwrap();
        let _ = server.delete("pods", &format!("p{}", 7 - round));
        match metadata["continue"].as_str() {
            Some(token) => query = format!("&continue={token}"),
            None => break,
        }
    }
    assert_eq!(seen, ["p0", "p1", "p2", "p3", "p4", "p5", "p6"]);
    assert_eq!(remaining, [Some(4), Some(1), None]);
}

#[test]
fn the_fresh_token_of_a_410_continues_with_the_newest_state() {
    let mut server = server();
    for name in ["a", "b", "c"] {
        server.create("pods", pod(name, "")).unwrap();
    }
    let (_, first) = get(&mut server, "/api/v1/pods?limit=1");
    let token = value(&first)["metadata"]["continue"]
        .as_str()
        .unwrap()
        .to_owned();
    server.delete("pods", "b").unwrap();
    server.create("pods", pod("d", "")).unwrap();
    server.compact(server.version());

    let (code, refusal) = get(
        &mut server,
        &format!("/api/v1/pods?limit=5&continue={token}"),
    );
    let refusal = value(&refusal);
    assert_eq!((code, &refusal["reason"]), (410, &json!("Expired")));
    let fresh = refusal["metadata"]["continue"].as_str().unwrap();
    let (code, rest) = get(
        &mut server,
        &format!("/api/v1/pods?limit=5&continue={fresh}"),
    );
    assert_eq!(
        (code, names(&rest)),
        (200, vec!["c".to_owned(), "d".to_owned()])
    );
    assert_eq!(version_of(&rest), "6");
}

#[test]
fn the_server_compacts_by_itself_what_is_older_than_its_interval() {
    let mut server = server();
    server.create("pods", pod("a", "")).unwrap();
    let exact = "GET /api/v1/pods?resourceVersion=2&resourceVersionMatch=Exact";
    // At 300 s, everything written so far is marked; at 600 s it is compacted.
    for (seconds, code) in [(0, 200), (299, 200), (301, 200), (599, 200), (602, 410)] {
        if seconds == 299 {
            server.create("pods", pod("b", "")).unwrap();
        }
        let answer = send(&mut server, exact, &Value::Null, at(seconds));
        assert_eq!(answer.status, code, "at {seconds}");
    }
}

#[test]
fn a_version_that_is_not_reached_is_refused_after_three_seconds() {
    let mut server = server();
    for target in [
        "/api/v1/pods?resourceVersion=9",
        "/api/v1/namespaces/a/pods/b?resourceVersion=9",
    ] {
        let answer = send(&mut server, &format!("GET {target}"), &Value::Null, at(0));
        assert_eq!(
            (answer.status, answer.retry_after, answer.delay.as_secs()),
            (504, Some(1), 3)
        );
        assert_eq!(
            value(&text(&answer))["details"],
            json!({"causes": [{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}], "retryAfterSeconds": 1})
        );
    }
}

#[test]
fn objects_are_in_the_order_of_their_keys() {
    let mut server = server();
    for (namespace, name) in [
        ("b", "a"),
        ("a", "z"),
        ("a-b", "c"),
        ("a", "b"),
        ("a", "b.c"),
    ] {
        server
            .create(
                "pods",
                json!({"metadata": {"namespace": namespace, "name": name}}),
            )
            .unwrap();
    }
    // In etcd's order: '-' and '.' sort before '/'.
    let keys: Vec<_> = server.objects("pods").map(|object| object.key()).collect();
    assert_eq!(keys, ["a-b/c", "a/b", "a/b.c", "a/z", "b/a"]);
    assert_eq!(
        names(&get(&mut server, "/api/v1/pods").1),
        ["c", "b", "b.c", "z", "a"]
    );
    assert_eq!(
        names(&get(&mut server, "/api/v1/namespaces/a/pods").1),
        ["b", "b.c", "z"]
    );
    assert_eq!(
        names(&get(&mut server, "/api/v1/namespaces/none/pods").1),
        [""; 0]
    );
}

#[test]
fn selectors_filter_and_hide_the_remaining_count() {
    let mut server = server();
    for (name, labels) in [
        ("a", "app=web,tier=1"),
        ("b", "app=db"),
        ("c", "app=web"),
        ("d", ""),
    ] {
        server.create("pods", pod(name, labels)).unwrap();
    }
    server
        .patch("pods", "b", json!({"spec": {"nodeName": "n1"}}))
        .unwrap();
    server
        .patch_status("pods", "c", json!({"status": {"phase": "Running"}}))
        .unwrap();
    for (query, expected) in [
        ("labelSelector=app%3Dweb", "a c"),
        ("labelSelector=app+in+(db)", "b"),
        ("labelSelector=!app", "d"),
        ("labelSelector=app!%3Dweb", "b d"),
        ("labelSelector=app%3Dweb,tier", "a"),
        ("fieldSelector=metadata.name%3Db", "b"),
        ("fieldSelector=metadata.namespace%3Ddefault", "a b c d"),
        ("fieldSelector=spec.nodeName%3Dn1", "b"),
        ("fieldSelector=spec.nodeName%3D", "a c d"),
        ("fieldSelector=status.phase!%3DPending", "c"),
        (
            "fieldSelector=status.phase%3DPending&labelSelector=app%3Dweb",
            "a",
        ),
    ] {
        let (code, list) = get(&mut server, &format!("/api/v1/pods?{query}"));
        assert_eq!(
            (code, names(&list).join(" ").as_str()),
            (200, expected),
            "{query}"
        );
    }
    let (_, page) = get(&mut server, "/api/v1/pods?labelSelector=app%3Dweb&limit=1");
    let metadata = &value(&page)["metadata"];
    assert_eq!(metadata.get("remainingItemCount"), None);
    let token = metadata["continue"].as_str().unwrap();
    let (_, page) = get(
        &mut server,
        &format!("/api/v1/pods?labelSelector=app%3Dweb&limit=1&continue={token}"),
    );
    assert_eq!(names(&page), ["c"]);
}

#[test]
fn the_page_after_a_continue_token_may_be_empty() {
    let mut server = server();
    server.create("pods", pod("a", "app=web")).unwrap();
    server.create("pods", pod("b", "")).unwrap();
    let (_, page) = get(&mut server, "/api/v1/pods?labelSelector=app&limit=1");
    let token = value(&page)["metadata"]["continue"]
        .as_str()
        .unwrap()
        .to_owned();
    let (_, page) = get(
        &mut server,
        &format!("/api/v1/pods?labelSelector=app&limit=1&continue={token}"),
    );
    assert_eq!(
        (names(&page).len(), value(&page)["metadata"].get("continue")),
        (0, None)
    );
}

#[test]
fn unsupported_selectors_are_named() {
    let mut server = server();
    for (target, message) in [
        (
            "/api/v1/pods?fieldSelector=spec.hostname%3Da",
            "field label not supported: spec.hostname",
        ),
        (
            "/api/v1/configmaps?fieldSelector=data.a%3Db",
            "\"data.a\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\"",
        ),
        (
            "/api/v1/pods?limit=many",
            "strconv.ParseInt: parsing \"many\": invalid syntax",
        ),
        (
            "/api/v1/pods?resourceVersion=x",
            "invalid resource version: resourceVersion: Invalid value: \"x\": strconv.ParseUint: parsing \"x\": invalid syntax",
        ),
    ] {
        let (code, body) = get(&mut server, target);
        let body = value(&body);
        assert_eq!(
            (code, body["message"].as_str()),
            (400, Some(message)),
            "{target}"
        );
    }
    for query in [
        "fieldSelector=abc",
        "labelSelector=a+b",
        "labelSelector=a%3D-b-",
    ] {
        let (code, _) = get(&mut server, &format!("/api/v1/pods?{query}"));
        assert_eq!(code, 400, "{query}");
    }
}

#[test]
fn metadata_alone() {
    let mut server = server();
    server
        .create(
            "pods",
            json!({"metadata": {"name": "a"}, "spec": {"nodeName": "n"}}),
        )
        .unwrap();
    let headers = Headers {
        accept: Some("application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"),
        content_type: None,
    };
    let answer = send_as(
        &mut server,
        "GET /api/v1/pods",
        &Value::Null,
        headers,
        at(0),
    );
    let list = text(&answer);
    assert!(list.starts_with(
        r#"{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"2"},"items":[{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"a","#
    ), "{list}");
    assert_eq!(value(&list)["items"][0].get("spec"), None);
}

#[test]
fn a_table_of_names_and_ages() {
    let mut server = server();
    server.create("pods", pod("a", "")).unwrap();
    let headers = Headers {
        accept: Some("application/json;as=Table;v=v1;g=meta.k8s.io,application/json"),
        content_type: None,
    };
    let answer = send_as(
        &mut server,
        "GET /api/v1/pods",
        &Value::Null,
        headers,
        at(125),
    );
    let table = value(&text(&answer));
    assert_eq!(table["kind"], "Table");
    let columns: Vec<_> = table["columnDefinitions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|c| c["name"].clone())
        .collect();
    assert_eq!(columns, ["Name", "Age"]);
    assert_eq!(table["rows"][0]["cells"], json!(["a", "2m5s"]));
    assert_eq!(table["rows"][0]["object"]["metadata"]["name"], "a");
    assert_eq!(table["metadata"]["resourceVersion"], "2");
}

#[test]
fn a_request_can_be_built_without_parsing() {
    let mut server = Server::new(ServerConfig::new(1));
    server.create("pods", pod("a", "app=web")).unwrap();
    let (kind, mut options) = (server.registry().get("Pod").unwrap(), Options::default());
    options.label_selector = "app=web".to_owned();
    let request = ApiRequest::new(Verb::List, kind)
        .in_namespace("default")
        .with(options);
    assert_eq!(request.path(), "/api/v1/namespaces/default/pods");
    let answer = server.handle(&request, b"", Instant::from_micros(0));
    assert_eq!(names(&text(&answer)), ["a"]);
}
