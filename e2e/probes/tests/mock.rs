//! The mock answers like the recorded server.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

use informer_probes::compare::compare;
use informer_probes::known::KNOWN;
use informer_probes::record::Record;
use informer_probes::{Subject, interview};

#[tokio::test(start_paused = true)]
async fn the_mock_answers_as_recorded() {
    let record = Record::read().unwrap();
    let mock = Subject::mock().await.unwrap();
    let (_, answers) = interview(&mock).await.unwrap();
    assert!(answers.len() > 200, "{}", answers.len());
    let findings = compare(&record.answers, &answers, KNOWN);
    let unknown: Vec<String> = findings.unknown.iter().map(ToString::to_string).collect();
    assert!(unknown.is_empty(), "{}", unknown.join("\n"));
    assert_eq!(findings.stale, [], "obsolete entries");
}
