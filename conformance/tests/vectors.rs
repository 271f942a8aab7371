//! Replays all vectors of this crate, and checks that the runner notices differences.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests may panic"
)]

use std::fs;
use std::path::{Path, PathBuf};

use informer_conformance::{Case, Outcome, Totals, Way, run_case, run_lines, run_path};
use serde_json::{Value, json};

/// The replayed families, each with one of its files.
const REPLAYED: [&str; 8] = [
    "keys",
    "delta_fifo",
    "real_fifo",
    "indexer",
    "selectors",
    "shared_informer.delta_fifo",
    "shared_informer.real_fifo_atomic",
    "workqueue",
];

/// The families of whole informers.
const INFORMERS: [&str; 2] = [
    "shared_informer.delta_fifo",
    "shared_informer.real_fifo_atomic",
];

/// The families whose cases have no steps.
const QUESTIONS: [&str; 2] = ["keys", "selectors"];

fn vectors() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("vectors")
}

/// Every way to replay the cases of a file.
fn ways(file: &str) -> &'static [Way] {
    if INFORMERS.contains(&file) {
        &[Way::ByHand, Way::FrontDoor]
    } else {
        &[Way::ByHand]
    }
}

/// The cases of a file that are replayed.
fn played(file: &str) -> Vec<Value> {
    let text = fs::read_to_string(vectors().join(format!("{file}.jsonl"))).unwrap();
    let cases = text.lines().map(|line| serde_json::from_str(line).unwrap());
    let played: Vec<Value> = cases
        .filter(|case| run(case, Way::ByHand) == Outcome::Passed)
        .collect();
    assert!(!played.is_empty(), "{file}");
    played
}

fn run(case: &Value, way: Way) -> Outcome {
    run_case(&Case::parse(case.to_string().as_bytes()).unwrap(), way)
}

/// A report, its number of passed cases, and its skipped cases by reason.
type Expected = (&'static str, u64, &'static [(&'static str, u64)]);

#[test]
fn all_vectors_are_replayed() {
    let expected: &[Expected] = &[
        ("delta_fifo.jsonl", 327, &[("key_error", 3)]),
        (
            "indexer.jsonl",
            164,
            &[("key_error", 1), ("index_error", 1)],
        ),
        ("keys.jsonl", 35, &[("key_of_other", 5)]),
        (
            "real_fifo.jsonl",
            68,
            &[("plain_in_order", 61), ("key_error", 2)],
        ),
        ("selectors.jsonl", 300, &[]),
        ("shared_informer.delta_fifo.jsonl", 122, &[]),
        (
            "shared_informer.delta_fifo.jsonl through the front door",
            122,
            &[],
        ),
        (
            "shared_informer.real_fifo.jsonl",
            0,
            &[("plain_in_order", 132)],
        ),
        ("shared_informer.real_fifo_atomic.jsonl", 132, &[]),
        (
            "shared_informer.real_fifo_atomic.jsonl through the front door",
            132,
            &[],
        ),
        ("workqueue.jsonl", 130, &[]),
    ];
    let reports = run_path(&vectors());
    let names: Vec<_> = reports.iter().map(|report| report.name()).collect();
    let expected_names: Vec<_> = expected.iter().map(|(name, ..)| *name).collect();
    assert_eq!(names, expected_names);
    for (report, (_, passed, skips)) in reports.iter().zip(expected) {
        let skipped: Vec<_> = report
            .skipped()
            .iter()
            .map(|(s, n)| (s.name(), *n))
            .collect();
        let totals = Totals {
            passed: *passed,
            failed: 0,
            skipped: skips.iter().map(|(_, count)| count).sum(),
        };
        assert_eq!(report.totals(), totals, "{report}");
        assert_eq!(skipped, *skips, "{report}");
    }
}

/// Another value of the same type.
fn tampered(value: &Value) -> Value {
    match value {
        Value::Null => json!("tampered"),
        Value::Bool(flag) => json!(!flag),
        Value::Number(number) => json!(number.as_i64().unwrap() + 1),
        Value::String(text) => json!(format!("{text}x")),
        Value::Array(elements) => match elements.split_last() {
            Some((_, others)) => json!(others),
            None => json!([0]),
        },
        Value::Object(members) => {
            let mut members = members.clone();
            match members.keys().next_back().cloned() {
                Some(last) => {
                    let value = tampered(&members[&last]);
                    members.insert(last, value);
                }
                None => {
                    members.insert("tampered".to_owned(), Value::Null);
                }
            }
            Value::Object(members)
        }
    }
}

/// Every way to tamper with one member of `answers`: change it, remove it, add one.
fn tamperings(answers: &Value, may_change: impl Fn(&str) -> bool) -> Vec<Value> {
    let mut all = Vec::new();
    for (name, value) in answers.as_object().unwrap() {
        if may_change(name) {
            let mut changed = answers.clone();
            changed[name] = tampered(value);
            all.push(changed);
            let mut removed = answers.clone();
            removed.as_object_mut().unwrap().remove(name);
            all.push(removed);
        }
    }
    let mut added = answers.clone();
    added["tampered"] = Value::Null;
    all.push(added);
    all
}

#[test]
fn every_tampered_answer_is_noticed_in_its_step() {
    for file in REPLAYED.iter().filter(|file| !QUESTIONS.contains(file)) {
        // One step of every fifth case, a different one each time, because all take too long.
        for (nth, case) in played(file).iter().enumerate().step_by(5) {
            let steps = case["steps"].as_array().unwrap();
            let at = nth / 5 % steps.len();
            for res in tamperings(&steps[at]["res"], |_| true) {
                let mut case = case.clone();
                case["steps"][at]["res"] = res;
                let step = Some(at + 1);
                for way in ways(file) {
                    let outcome = run(&case, *way);
                    assert!(
                        matches!(&outcome, Outcome::Failed { step: s, .. } if *s == step),
                        "{} {way:?} with {} in step {step:?}: {outcome:?}",
                        case["id"],
                        case["steps"][at]["res"]
                    );
                }
            }
        }
    }
}

/// Only whole informers have a front door. No other case may count as passed through it.
#[test]
fn only_informers_pass_through_the_front_door() {
    for file in REPLAYED.iter().filter(|file| !INFORMERS.contains(file)) {
        let outcome = run(&played(file)[0], Way::FrontDoor);
        let what =
            matches!(&outcome, Outcome::Failed { step: None, what } if what.contains("front door"));
        assert!(what, "{file}: {outcome:?}");
    }
}

/// The cases of `keys` and `selectors` have no steps: question and answer are side by side.
#[test]
fn every_tampered_answer_to_a_question_is_noticed() {
    for file in QUESTIONS {
        for case in played(file) {
            let asked: &[&str] = match case["kind"].as_str().unwrap() {
                "key_of" => &["namespace", "name"],
                "split" => &["key"],
                "label" | "field" => &["selector", "matches"],
                _ => &["tombstone_key", "namespace", "name"],
            };
            let about = ["id", "family", "seed", "kind"];
            let is_answer = |name: &str| !asked.contains(&name) && !about.contains(&name);
            let mut wrong = tamperings(&case, is_answer);
            wrong.extend(other_matches(&case));
            for case in wrong {
                let outcome = run(&case, Way::ByHand);
                let first = Some(1);
                assert!(
                    matches!(&outcome, Outcome::Failed { step, .. } if *step == first),
                    "{case}: {outcome:?}"
                );
            }
        }
    }
}

/// Every way to change one recorded match of a selector.
fn other_matches(case: &Value) -> Vec<Value> {
    let matches = case["matches"].as_array().map_or(0, Vec::len);
    let other = |at: usize| {
        let mut case = case.clone();
        let matched = &mut case["matches"][at]["match"];
        *matched = tampered(matched);
        case
    };
    (0..matches).map(other).collect()
}

/// The vectors' own rule: any code but 429 in an ERROR event causes a relist. Only 410 and 500 were
/// recorded, so the recorded cases are replayed with other codes.
#[test]
fn any_error_event_is_treated_like_the_recorded_ones() {
    let others = [
        (504, "Timeout"),
        (504, ""),
        (500, "ServerTimeout"),
        (503, "ServiceUnavailable"),
        (502, ""),
        (400, "BadRequest"),
        (401, "Unauthorized"),
        (403, "Forbidden"),
        (404, "NotFound"),
        (422, "Invalid"),
        (599, "Surprise"),
    ];
    for file in INFORMERS {
        let mut other = others.iter().cycle();
        let mut replaced = 0;
        for mut case in played(file) {
            for step in case["steps"].as_array_mut().unwrap() {
                let op = &mut step["op"];
                if op["op"] == "watch_error" && op["code"] != 429 {
                    let (code, reason) = other.next().unwrap();
                    (op["code"], op["reason"]) = (json!(code), json!(reason));
                    replaced += 1;
                }
            }
            for way in ways(file) {
                assert_eq!(run(&case, *way), Outcome::Passed, "{way:?}: {case}");
            }
        }
        assert!(replaced > 100, "{file}: {replaced}");
    }
}

#[test]
fn a_failure_is_reported_with_id_step_and_difference() {
    for file in REPLAYED {
        let mut case = played(file).swap_remove(0);
        let answer = match file {
            "keys" => &mut case["key"],
            "selectors" => &mut case["canonical"],
            "indexer" => &mut case["steps"][0]["res"]["state"]["rv"],
            "workqueue" => &mut case["steps"][0]["res"]["len"],
            _ => &mut case["steps"][0]["res"]["synced"],
        };
        *answer = json!("tampered");
        let reports = run_lines(file, case.to_string().as_bytes()).unwrap();
        assert_eq!(reports.len(), ways(file).len(), "{reports:?}");
        for (report, way) in reports.iter().zip(["", " through the front door"]) {
            let text = report.to_string();
            let failed = format!("FAILED {}, step 1: ", case["id"].as_str().unwrap());
            assert!(text.starts_with(&format!("{file}{way}: 0 passed, 1 failed, 0 skipped")));
            assert!(text.contains(&failed), "{text}");
            assert!(text.contains(r#"expected "tampered", got "#), "{text}");
        }
    }
}

#[test]
fn an_invalid_line_is_reported_with_its_number() {
    let text = concat!(
        "\n",
        "{\"id\":\"a\",\"family\":\"keys\",\"kind\":\"key_of_other\"}\n",
        "nonsense\n",
        "{\"id\":\"b\",\"family\":\"surprise\"}\n",
        "{\"id\":\"c\",\"family\":\"delta_fifo\",\"config\":{}}\n",
        "[]\n",
    );
    let reports = run_lines("odd.jsonl", text.as_bytes()).unwrap();
    let [report] = reports.as_slice() else {
        panic!("{reports:?}")
    };
    let shown = report.to_string();
    let expected = Totals {
        passed: 0,
        failed: 4,
        skipped: 1,
    };
    assert_eq!(report.totals(), expected, "{shown}");
    assert!(shown.contains("odd.jsonl, line 3: not a case: "), "{shown}");
    assert!(shown.contains("odd.jsonl, line 6: not a case: "), "{shown}");
    assert!(
        shown.contains(r#"FAILED b: unknown family: "surprise""#),
        "{shown}"
    );
    assert!(shown.contains("FAILED c: config: missing field"), "{shown}");
}
