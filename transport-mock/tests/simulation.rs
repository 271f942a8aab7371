//! Whole informers against a misbehaving server. `SIM_SEED=n` replays one seed, `SIM_SEEDS=n` runs
//! that many.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests"
)]

use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use informer_transport_mock::simulation::{Tally, World};

const SEEDS: u64 = 300;

#[test]
fn listeners_get_no_wrong_notification() {
    if let Some(seed) = number("SIM_SEED") {
        let outcome = World::new(seed).traced().run();
        if let Some(violation) = outcome.violation {
            panic!("{violation}");
        }
        return;
    }
    let seeds = number("SIM_SEEDS").unwrap_or(SEEDS);
    let next = AtomicU64::new(0);
    let total = Mutex::new(Tally::default());
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= seeds {
                        break;
                    }
                    let outcome = World::new(seed).run();
                    if outcome.violation.is_some() {
                        let again = World::new(seed).traced().run();
                        let violation = again.violation.expect("the same again");
                        panic!("{violation}\nreplay with SIM_SEED={seed}");
                    }
                    total.lock().unwrap().add(&outcome.tally);
                }
            });
        }
    });
    let total = total.into_inner().unwrap();
    if seeds >= SEEDS {
        check_that_enough_happens(&total);
    }
}

/// A simulation in which nothing happens would pass too.
fn check_that_enough_happens(total: &Tally) {
    assert!(total.events > 15_000, "{total}");
    assert!(total.notifications > 40_000, "{total}");
    assert!(total.relists > 400, "{total}");
    assert!(total.comparisons > 500, "{total}");
    assert!(total.sources > 2_000, "{total}");
    let faults = [
        "clock-jump",
        "clock-jump-back",
        "close",
        "compact",
        "corrupt",
        "corrupt-name",
        "cut",
        "delay",
        "drop-bookmarks",
        "duplicate",
        "endless-pages",
        "expire",
        "fail",
        "flicker-bookmark",
        "flicker-garbage",
        "flicker-long",
        "flicker-strange",
        "forget-changes",
        "lagging-source",
        "no-end-bookmark",
        "refuse",
        "reorder",
        "repeated-page",
        "reset",
        "restart",
        "stall",
        "stuck-handler",
        "throttle",
    ];
    for name in faults {
        assert!(total.faults.get(name) >= Some(&5), "{name}: {total}");
    }
    // If you add a fault, add it above.
    assert_eq!(total.faults.len(), faults.len(), "{total}");
}

fn number(variable: &str) -> Option<u64> {
    let value = std::env::var(variable).ok()?;
    Some(value.parse().expect("a number of seeds, or a seed"))
}

fn traced_elsewhere(seed: u64) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_simulate"))
        .args(["--trace", &seed.to_string()])
        .output()
        .unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_same_seed_gives_the_same_trace_in_every_process() {
    let mut lines = 0;
    for seed in 0..10 {
        let here = World::new(seed).traced().run();
        let elsewhere = traced_elsewhere(seed);
        lines += here.trace.lines().count();
        assert_eq!(elsewhere, traced_elsewhere(seed), "seed {seed}");
        let expected = format!("{}{}\n", here.trace, here.tally);
        assert!(elsewhere == expected, "seed {seed}");
    }
    // Some worlds are short, but not all of them.
    assert!(lines > 2_000, "{lines}");
    assert_ne!(traced_elsewhere(1), traced_elsewhere(2));
}

/// Exit code, stdout and stderr.
fn simulate(args: &[&str]) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_simulate"))
        .args(args)
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let code = output.status.code().unwrap();
    (code, text(output.stdout), text(output.stderr))
}

#[test]
fn the_program_prints_counts_and_how_to_replay() {
    let (code, out, err) = simulate(&["--seeds", "0..8", "--jobs", "2"]);
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(out.ends_with("8 passed, 0 failed\n"), "{out}");
    assert!(out.contains(" relists, "), "{out}");

    let (code, out, _) = simulate(&["--seeds", "0..8", "--mutant", "doubled-add"]);
    assert_eq!(code, 1);
    assert!(out.contains("an add of"), "{out}");
    assert!(out.contains("VIOLATION"), "{out}");
    assert!(
        out.contains("replay: simulate --trace 0 --mutant doubled-add\n"),
        "{out}"
    );
    assert!(!out.ends_with(" 0 failed\n"), "{out}");
}

#[test]
fn an_invalid_command_line_gets_one_sentence() {
    for (args, sentence) in [
        (
            &["--seed", "1"][..],
            "simulate: unknown flag \"--seed\"; see --help\n",
        ),
        (
            &["--seeds"],
            "simulate: --seeds needs a value; see --help\n",
        ),
        (
            &["--seeds", "5..5"],
            "simulate: --seeds needs a range such as 0..1000, not \"5..5\"\n",
        ),
        (
            &["--jobs", "x"],
            "simulate: --jobs needs a number, not \"x\"\n",
        ),
        (
            &["--trace", "-1"],
            "simulate: --trace needs a number, not \"-1\"\n",
        ),
    ] {
        let (code, out, err) = simulate(args);
        assert_eq!((code, out.as_str(), err.as_str()), (2, "", sentence));
    }
    let (code, _, err) = simulate(&["--mutant", "x"]);
    assert_eq!(code, 2);
    assert!(
        err.starts_with("simulate: unknown mutant \"x\"; use one of skipped-event, "),
        "{err}"
    );
    let (code, out, _) = simulate(&["--help"]);
    assert_eq!(code, 0);
    assert!(out.contains("--seeds A..B"), "{out}");
}
