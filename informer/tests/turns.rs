//! How much a driver does before other tasks have their turn.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

mod world;

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use informer::{FirstState, IndexFn, InformerConfig, Target};
use world::flood::Flood;
use world::{Pod, World, pods};

/// Together less than what a driver takes in a turn of a first state.
const PODS: usize = 700;

/// The most pods that a handler finds waiting while a first state is read, if each takes this long.
fn most_that_wait(each_takes: Duration) -> usize {
    let padding = "x".repeat(1000);
    let mut text = r#"{"kind":"PodList","metadata":{"resourceVersion":"1"},"items":["#.to_owned();
    for number in 0..PODS {
        write!(
            text,
            r#"{{"metadata":{{"name":"p{number}","annotations":{{"p":"{padding}"}}}}}},"#
        )
        .unwrap();
    }
    text.pop();
    text += "]}";
    let world = World::new();
    let clock = world.clock.clone();
    let takes_time =
        IndexFn::new(move |_: &Pod, _: &mut dyn FnMut(&[u8])| clock.advance(each_takes));
    let connect = move |_: &Target| Flood::new(&text);
    let mut preset = InformerConfig::new();
    preset.reflector.first_state = FirstState::Listed;
    let pods = pods().preset(preset).index("slow", takes_time);
    let pods = pods.build(&connect, world.runtime.clone()).unwrap();
    let (told, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (informer, count, longest) = (pods.clone(), Arc::clone(&told), Arc::clone(&most));
    pods.on(move |_| {
        count.fetch_add(1, Ordering::Relaxed);
        longest.fetch_max(informer.status().handlers[0].pending, Ordering::Relaxed);
    })
    .unwrap();
    pods.start().unwrap();
    world.settle();
    assert_eq!(told.load(Ordering::Relaxed), PODS);
    most.load(Ordering::Relaxed)
}

#[test]
fn a_first_state_is_read_in_long_turns() {
    let most = most_that_wait(Duration::ZERO);
    assert!(most > PODS * 9 / 10, "{most} of {PODS}");
}

#[test]
fn a_turn_of_a_first_state_ends_after_a_millisecond() {
    let most = most_that_wait(Duration::from_micros(10));
    // The core gets 256 KiB at once, which is less than half of the pods.
    assert!(most < PODS / 2, "{most} of {PODS}");
}
