//! The stages of an informer.

use crate::program::{output, shown};

#[test]
fn by_hand_says_what_each_stage_does() {
    assert_eq!(output("by_hand"), shown("by_hand"));
}
