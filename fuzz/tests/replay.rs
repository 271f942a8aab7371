//! Every fixture, the whole corpus, and the first seeds of every target.
#![allow(clippy::panic, reason = "tests")]

use informer_fuzz::{TARGETS, Target, run};

/// Fixed findings stay fixed.
#[test]
fn fixtures_and_corpus_pass() {
    for target in TARGETS {
        let corpus = target.inputs("corpus");
        assert!(!corpus.is_empty(), "{} has no corpus", target.name);
        for (name, input) in corpus.iter().chain(&target.inputs("fixtures")) {
            if let Err(finding) = run::one(target, input) {
                panic!("{}/{name}: {}", target.name, finding.message);
            }
        }
    }
}

#[test]
fn the_first_seeds_find_nothing() {
    for target in TARGETS {
        // Each input of `exec` runs a program and a TLS handshake.
        let seeds = if target.name == "exec" { 20 } else { 100 };
        let corpus = run::corpus(target);
        for seed in 0..seeds {
            let input = run::input_of(target, &corpus, seed);
            if let Err(finding) = run::one(target, &input) {
                panic!("{} seed {seed}: {}", target.name, finding.message);
            }
        }
    }
}

/// A reported seed can be tried again.
#[test]
fn equal_seeds_give_equal_inputs() {
    for target in TARGETS {
        let corpus = run::corpus(target);
        let inputs = || (0..50).map(|seed| run::input_of(target, &corpus, seed));
        assert!(inputs().eq(inputs()), "{}", target.name);
        assert!(
            inputs().any(|input| !corpus.contains(&input)),
            "{} mutates",
            target.name
        );
    }
}

#[test]
fn a_finding_is_reported_and_shrunk() {
    const PICKY: Target = Target {
        name: "picky",
        run: |input| assert!(!input.windows(3).any(|part| part == b"bad"), "it is bad"),
        words: &[],
    };
    assert!(run::one(&PICKY, b"good").is_ok());
    let Err(finding) = run::one(&PICKY, b"this is as bad as it gets") else {
        panic!("nothing found");
    };
    assert!(finding.message.contains("it is bad"), "{}", finding.message);
    assert_eq!(run::shrink(&PICKY, finding).input, b"bad");
}
