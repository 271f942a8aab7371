//! `bench-memory`, with few pods.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

use std::process::Command;

use serde_json::Value;

fn measured(form: &str, piece: &str) -> Value {
    measured_with(form, piece, &["--pods", "400", "--namespaces", "4"])
}

fn measured_with(form: &str, piece: &str, arguments: &[&str]) -> Value {
    let program = env!("CARGO_BIN_EXE_bench-memory");
    let output = Command::new(program)
        .args(arguments)
        .args(["--form", form, "--piece", piece, "--look-up", "1"])
        .output()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{form}: {said}");
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn every_form_keeps_all_pods_from_pieces_of_any_size() {
    let mut forms = vec!["lean", "packed", "metadata"];
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

/// Neither the first state nor a relist needs much more than what is kept in the end, and ten relists leave
/// no more behind than one.
#[test]
fn there_is_no_peak() {
    let mut forms = vec![("lean", 1.1), ("packed", 1.15), ("metadata", 1.1)];
    if cfg!(feature = "typed") {
        forms.push(("typed", 1.1));
    }
    for (form, bound) in forms {
        for streamed in [false, true] {
            let mut arguments = vec!["--pods", "1200", "--relists", "10"];
            if streamed {
                arguments.push("--streamed");
            }
            let report = measured_with(form, "16384", &arguments);
            let live = |name: &str| report[name].as_f64().unwrap();
            let settled = live("live_bytes");
            let peak = live("live_bytes_peak") / settled;
            assert!(peak <= bound, "{form}, streamed: {streamed}: {peak}");
            let once = live("live_bytes_after_the_first_state");
            assert!(settled <= 1.01 * once, "{form}: {once}, then {settled}");
        }
    }
}
