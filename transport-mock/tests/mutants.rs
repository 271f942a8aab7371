//! The oracle finds deliberate bugs.

use informer_transport_mock::simulation::{Mutant, World};

/// Each bug must be found within this many seeds.
const SEEDS: u64 = 1_000;

#[test]
fn every_mutant_is_found_and_no_violation_without_one() {
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

/// Each is found for the right reason.
#[test]
fn each_mutant_is_found_by_its_own_check() {
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
        (Mutant::GhostObject, "expected None"),
        (Mutant::StaleVersion, "the store claims version"),
        (Mutant::NeedlessRelist, "without a cause"),
        (Mutant::SkippedWait, "requests within a minute"),
        (Mutant::ForgottenRemoval, "expected None"),
        (Mutant::UndeadSource, "expected None"),
        (Mutant::EarlyDelete, "the store shows None"),
        (Mutant::LateDelete, "expected None"),
        (Mutant::GreedyRemoval, "the store shows None"),
        (Mutant::GreedySweep, "listener"),
        (Mutant::LaggingOverwrite, "an update to an older state"),
        (Mutant::StaleHolders, "the list of sources shows"),
        (Mutant::WrongCause, "but that a source was Removed"),
        (Mutant::EarlySync, "has sent no full state"),
        (Mutant::EarlyFreshness, "it is fresh, but source"),
    ] {
        let found = (0..60).any(|seed| {
            let violation = World::new(seed).with_mutant(mutant).run().violation;
            violation.is_some_and(|violation| violation.what.contains(what))
        });
        assert!(found, "{}: {what}", mutant.name());
    }
}

#[test]
fn names_parse_back_to_their_mutants() {
    for mutant in Mutant::ALL {
        assert_eq!(mutant.name().parse(), Ok(mutant));
    }
    let unknown = "no-such".parse::<Mutant>().unwrap_err();
    assert!(unknown.to_string().contains("stale-index"));
}
