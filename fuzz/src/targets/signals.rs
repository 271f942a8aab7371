//! Lists and watches in any pieces, against both queues.
//!
//! The input is a conversation: answers, separated by lines `%%`, one for each request of an
//! informer. An answer such as `!4` stands for a failure, here the fifth of a few. If the first
//! answer begins with `{"type"`, the first state is streamed; otherwise it is listed.
//!
//! What must hold:
//!
//! * The same bytes in other pieces give the same requests, store, notifications and status.
//! * The notifications add up to the store: no object is added twice, and none is updated or
//!   deleted before it is added.
//! * Both queues, and staged and streamed relists, end with the same store, unless a full state was
//!   interrupted. Some use an incomplete state and others do not.
//! * The store equals what a naive model makes of the same answers with serde_json.
//! * Reports are few and short.

// An informer with scripted answers.
mod conversation;

// What the store should contain.
mod model;

use informer_core::InformerConfig;
use informer_core::queue::{QueueKind, Relist};
use informer_core::reflector::FirstState;

use crate::Target;
use crate::random::Random;
use conversation::{Cut, Outcome};

/// This target.
pub const TARGET: Target = Target {
    name: "signals",
    run,
    words: &[
        "\n%%\n",
        "\n",
        "\r\n",
        "!0",
        "!3",
        "{\"type\":\"ADDED\",\"object\":",
        "{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"9\"}}}\n",
        "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"code\":410,\"reason\":\"Expired\"}}\n",
        "{\"metadata\":{\"name\":\"a\",\"uid\":\"2\",\"resourceVersion\":\"7\"}}",
        "{\"metadata\":{\"name\":\"a\"},\"x\":tru}",
        "\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}",
        "\"continue\":\"next\"",
        "\"items\":[",
        "\"metadata\":",
        "\"namespace\":\"b/c\"",
        "\"resourceVersion\":\"\"",
        "\"uid\":\"u1\"",
        "\"uid\":null",
        "\"kind\":\"Status\"",
        "\"x\":tru,",
        "{\"x\":01,",
        "\"kind\":\"Table\"",
        "ADDED",
        "MODIFIED",
        "DELETED",
        "PATCHED",
        "null",
        "\\u0061",
        "\\ud83d",
        "1e400",
        "[[[[",
        "{}",
        ",",
    ],
};

/// Plays the conversation with every configuration and in different pieces.
pub fn run(input: &[u8]) {
    let answers = answers(input);
    let first = if answers
        .first()
        .is_some_and(|answer| answer.starts_with(b"{\"type\""))
    {
        FirstState::Streamed
    } else {
        FirstState::Listed
    };
    let ours = [
        (QueueKind::DeltaFifo, Relist::Streamed),
        (QueueKind::DeltaFifo, Relist::Staged),
        (QueueKind::InOrder, Relist::Staged),
    ]
    .map(|(queue, relist)| {
        let mut config = InformerConfig::new();
        (config.queue, config.relist) = (queue, relist);
        config.reflector.first_state = first;
        played(config, &answers, input)
    });
    for queue in [QueueKind::DeltaFifo, QueueKind::InOrder] {
        let mut config = InformerConfig::client_go(queue);
        config.reflector.first_state = first;
        played(config, &answers, input);
    }

    for outcome in &ours {
        assert_eq!(
            outcome.folded(),
            outcome.store,
            "the notifications do not add up to the store"
        );
    }
    let [streamed, staged, in_order] = &ours;
    if !streamed.interrupted {
        // By uid and version: a server that lies about these may show two objects as one.
        assert_eq!(
            streamed.versions(),
            staged.versions(),
            "streamed and staged relists differ"
        );
        assert_eq!(
            staged.versions(),
            in_order.versions(),
            "the two queues differ"
        );
    }
    if let Some(model) = model::store(&streamed.answered) {
        assert_eq!(
            streamed.versions(),
            model,
            "the store differs from what serde_json reads"
        );
    }
}

/// Checks that the outcome does not depend on the pieces.
fn played<'a>(config: InformerConfig, answers: &[&'a [u8]], input: &[u8]) -> Outcome<'a> {
    let play = |cut| conversation::play(config, answers, cut);
    let whole = play(Cut::Whole);
    for cut in [
        Cut::At(Random::of(input), 1),
        Cut::At(Random::of(input), 40),
    ] {
        let cut = play(cut);
        assert_eq!(whole.asked, cut.asked, "the pieces change the requests");
        assert_eq!(whole.told, cut.told, "the pieces change the notifications");
        assert_eq!(whole.store, cut.store, "the pieces change the store");
        assert_eq!(whole.status, cut.status, "the pieces change the status");
    }
    whole
}

fn answers(input: &[u8]) -> Vec<&[u8]> {
    /// More would only take longer.
    const MOST: usize = 12;
    const BORDER: &[u8] = b"\n%%\n";
    let mut answers = Vec::new();
    let mut rest = input;
    while let Some(at) = rest.windows(BORDER.len()).position(|part| part == BORDER) {
        // The last newline belongs to the answer.
        answers.push(&rest[..=at]);
        rest = &rest[at + BORDER.len()..];
    }
    answers.push(rest);
    answers.truncate(MOST);
    answers
}
