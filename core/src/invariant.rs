//! Broken invariants.

/// Marks a state that cannot occur. A debug build panics, so that tests, simulation and fuzzing
/// find a broken invariant where it breaks. A release build continues with `harmless`.
#[track_caller]
pub(crate) fn cannot_happen<T>(what: &str, harmless: T) -> T {
    debug_assert!(false, "cannot happen: {what}");
    harmless
}

#[cfg(test)]
mod tests {
    #[test]
    #[should_panic(expected = "cannot happen: a chain without deltas")]
    fn a_debug_build_panics() {
        super::cannot_happen("a chain without deltas", ());
    }
}
