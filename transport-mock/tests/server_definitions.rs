//! CustomResourceDefinitions that are created in the server are served.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests may panic"
)]

mod support;

use informer_transport_mock::Server;
use informer_transport_mock::watch::{Polled, WatchEnd};
use serde_json::{Value, json};
use support::{at, get, names, server, value, watch_at, write};

const GADGETS: &str = "/apis/example.com/v1/namespaces/default/gadgets";
const BETA: &str = "/apis/example.com/v1beta1/namespaces/default/gadgets";

fn version(name: &str, is_stored: bool, subresources: Value) -> Value {
    json!({"name": name, "served": true, "storage": is_stored, "subresources": subresources, "schema": {"openAPIV3Schema": {"type": "object"}}})
}

fn with_gadgets() -> Server {
    let mut server = server();
    let versions = [
        version("v1beta1", false, json!({})),
        version("v1", true, json!({"status": {}})),
    ];
    let definition = json!({"metadata": {"name": "gadgets.example.com"}, "spec": {
        "group": "example.com",
        "names": {"plural": "gadgets", "kind": "Gadget", "shortNames": ["gg"]},
        "scope": "Namespaced",
        "versions": versions,
    }});
    server.create("crd", definition).unwrap();
    server
}

#[test]
fn a_definition_is_established_and_served_in_all_its_versions() {
    let mut server = with_gadgets();
    let definition = server.get("crd", "gadgets.example.com").unwrap();
    let status = &definition.value()["status"];
    assert_eq!(status["conditions"][1]["type"], "Established");
    assert_eq!(status["acceptedNames"]["singular"], "gadget");
    assert_eq!(status["storedVersions"], json!(["v1"]));

    let gadget = json!({"apiVersion": "example.com/v1beta1", "kind": "Gadget", "metadata": {"name": "g"}, "spec": {"size": 1}});
    let (code, created) = write(&mut server, &format!("POST {BETA}"), &gadget);
    assert_eq!(
        (code, &created["apiVersion"]),
        (201, &json!("example.com/v1beta1"))
    );
    let one = value(&get(&mut server, &format!("{GADGETS}/g")).1);
    assert_eq!(one["apiVersion"], "example.com/v1");
    let list = value(&get(&mut server, BETA).1);
    assert_eq!(list["items"][0]["apiVersion"], "example.com/v1beta1");
    assert_eq!(list["kind"], "GadgetList");
    // Only one version has the subresource.
    assert_eq!(get(&mut server, &format!("{GADGETS}/g/status")).0, 200);
    assert_eq!(get(&mut server, &format!("{BETA}/g/status")).0, 404);
    assert_eq!(server.registry().get("gg").unwrap().version(), "v1");
    // The same object again is not a change, in any version.
    let before = server.version();
    let mut same = list["items"][0].clone();
    same["spec"]["size"] = json!(1);
    assert_eq!(write(&mut server, &format!("PUT {BETA}/g"), &same).0, 200);
    assert_eq!(server.version(), before);
}

#[test]
fn a_deleted_definition_takes_its_objects_with_it() {
    let mut server = with_gadgets();
    let gadget = |name: &str| json!({"metadata": {"name": name}});
    server.create("gadgets", gadget("a")).unwrap();
    server.create("gadgets", gadget("b")).unwrap();
    let mut watch = watch_at(&mut server, &format!("{BETA}?watch=true"), at(0));
    let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    let line = format!("DELETE {definitions}/gadgets.example.com");
    let (code, last) = write(&mut server, &line, &Value::Null);
    assert_eq!(
        (code, &last["status"]["conditions"][2]["type"]),
        (200, &json!("Terminating"))
    );
    assert_eq!(get(&mut server, GADGETS).0, 404);
    assert_eq!(names(&get(&mut server, definitions).1), [""; 0]);

    let mut events = Vec::new();
    loop {
        match watch.poll(&server, at(0)) {
            Polled::Frame(frame) => {
                let event: Value = serde_json::from_slice(&frame.to_bytes()).unwrap();
                assert_eq!(event["object"]["apiVersion"], "example.com/v1beta1");
                events.push(event["type"].clone());
            }
            Polled::Ended(end) => {
                assert_eq!(end, WatchEnd::KindRemoved);
                break;
            }
            Polled::Idle(_) => panic!("the watch goes on"),
        }
    }
    assert_eq!(events, ["ADDED", "ADDED", "DELETED", "DELETED"]);
}

#[test]
fn a_changed_definition_keeps_its_objects() {
    let mut server = with_gadgets();
    let gadget = json!({"metadata": {"name": "a"}});
    server.create("gadgets", gadget).unwrap();
    let only = [version("v1", true, json!({"status": {}}))];
    let change = json!({"spec": {"versions": only, "names": {"shortNames": ["gad"]}}});
    server.patch("crd", "gadgets.example.com", change).unwrap();
    assert_eq!(get(&mut server, BETA).0, 404);
    assert_eq!(names(&get(&mut server, GADGETS).1), ["a"]);
    assert!(server.registry().get("gad").is_some());
    let wrong = json!({"spec": {"scope": "Cluster"}});
    let refused = server.patch("crd", "gadgets.example.com", wrong);
    assert_eq!(refused.unwrap_err().code(), 422);
}
