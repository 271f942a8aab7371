//! `bench-memory`, with few pods.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

use std::process::Command;

use serde_json::Value;

fn measured(form: &str, piece: &str) -> Value {
    let program = env!("CARGO_BIN_EXE_bench-memory");
    let arguments = ["--pods", "400", "--namespaces", "4", "--form", form];
    let output = Command::new(program)
        .args(arguments)
        .args(["--piece", piece, "--look-up", "1"])
        .output()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{form}: {said}");
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn every_form_keeps_all_pods_from_pieces_of_any_size() {
    let mut forms = vec!["lean", "metadata"];
    if cfg!(feature = "typed") {
        forms.push("typed");
    }
    for form in forms {
        for piece in ["700", "1000000"] {
            let report = measured(form, piece);
            assert_eq!(report["form"], form);
            assert_eq!(report["pods"], 400);
            let mean = |index: &str| report[index]["mean_found"].as_f64().unwrap();
            assert!((99.0..101.0).contains(&mean("by_namespace")), "{report}");
            assert!((1.0..40.0).contains(&mean("by_app")), "{report}");
            assert!(report["get_us"].as_f64() > Some(0.0));
        }
    }
}

#[test]
fn live_bytes_are_those_of_the_form() {
    let live = |form| {
        measured(form, "4096")["live_bytes_per_pod"]
            .as_f64()
            .unwrap()
    };
    let list = measured("lean", "4096")["list_bytes_per_pod"]
        .as_f64()
        .unwrap();
    let (lean, metadata) = (live("lean"), live("metadata"));
    assert!(metadata < lean && lean < list, "{metadata}, {lean}, {list}");
}
