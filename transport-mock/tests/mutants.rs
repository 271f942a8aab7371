//! Mistakes that are made on purpose are found.

use informer_transport_mock::simulation::{Mutant, World};

/// Each must be found within so many seeds.
const SEEDS: u64 = 1_000;

#[test]
fn every_mutant_is_found_and_nothing_is_found_without_it() {
    for mutant in Mutant::ALL {
        let mut found = None;
        for seed in 0..SEEDS {
            assert_eq!(World::new(seed).run().violation, None, "seed {seed}");
            found = World::new(seed).with_mutant(mutant).run().violation;
            if found.is_some() {
                break;
            }
        }
        assert!(found.is_some(), "{} was not found", mutant.name());
    }
}

/// They are found for what they are.
#[test]
fn each_mutant_is_found_by_the_check_that_is_meant_for_it() {
    for (mutant, what) in [
        (Mutant::DoubledAdd, "seen at"),
        (Mutant::StaleOld, "the old state is"),
        (
            Mutant::WrongInitial,
            "of the first state that is not initial",
        ),
        (Mutant::LateInitial, "an initial add after the sync"),
        (Mutant::MergedUid, "a changed UID as an update"),
        (Mutant::AddAsUpdate, "an update of an unknown key"),
        (Mutant::SwallowedNotification, "unknown key"),
        (Mutant::MissingInferredDelete, "listener"),
        (Mutant::SkippedEvent, "the store shows"),
        (Mutant::ReorderedEvents, "an update to an older state"),
        (Mutant::ResurrectedObject, "the server never had"),
        (Mutant::LostItem, "the store shows None"),
        (Mutant::StaleIndex, "the index \"app\" shows"),
        (Mutant::StaleObject, "the store shows"),
        (Mutant::GhostObject, "and it should be None"),
        (Mutant::StaleVersion, "the store says that it is at version"),
        (Mutant::NeedlessRelist, "without a cause"),
        (Mutant::SkippedWait, "requests within a minute"),
    ] {
        let found = (0..60).any(|seed| {
            let violation = World::new(seed).with_mutant(mutant).run().violation;
            violation.is_some_and(|violation| violation.what.contains(what))
        });
        assert!(found, "{}: {what}", mutant.name());
    }
}

#[test]
fn names_go_both_ways() {
    for mutant in Mutant::ALL {
        assert_eq!(mutant.name().parse(), Ok(mutant));
    }
    let unknown = "no-such".parse::<Mutant>().unwrap_err();
    assert!(unknown.to_string().contains("stale-index"));
}
