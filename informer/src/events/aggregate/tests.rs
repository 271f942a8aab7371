use std::collections::BTreeMap;

use informer_core::ObjectKey;
use informer_test_support::Random;

use super::super::reference::Reference;
use super::*;

const SECOND: Duration = Duration::from_secs(1);
const MINUTE: Duration = Duration::from_secs(60);

/// The machine, and a server that keeps the counts of Events by their names.
struct World {
    machine: Aggregator,
    now: Instant,
    live: BTreeMap<String, u32>,
    /// Also those that the server no longer has.
    all: BTreeMap<String, u32>,
    writes: Vec<(Verb, u32)>,
}

impl World {
    fn new() -> Self {
        Self {
            machine: Aggregator::new(),
            now: Instant::from_micros(1),
            live: BTreeMap::new(),
            all: BTreeMap::new(),
            writes: Vec::new(),
        }
    }

    fn pass(&mut self, time: Duration) {
        self.now = self.now.after(time);
    }

    /// The time since 1970 has another origin than the monotonic clock.
    fn observe(&mut self, event: NewEvent) -> Observed {
        let time = Duration::from_secs(1_735_689_600) + self.now.since(Instant::default());
        self.machine.observe(event, time, self.now)
    }

    /// Sends the next write, and gives the server's answer.
    fn send(&mut self) -> Option<Answer> {
        let (verb, record) = self.machine.poll_write(self.now)?;
        assert_eq!(self.machine.poll_write(self.now), None, "one at a time");
        self.writes.push((verb, record.count));
        let exists = self.live.contains_key(&record.name);
        Some(match (verb, exists) {
            (Verb::Create, true) => Answer::Exists,
            (Verb::Patch, false) => Answer::Missing,
            (Verb::Create, false) | (Verb::Patch, true) => {
                self.live.insert(record.name.clone(), record.count);
                self.all.insert(record.name, record.count);
                Answer::Written
            }
        })
    }

    fn answer(&mut self, answer: Answer) -> Settled {
        self.machine.answered(answer, self.now)
    }

    /// Writes all that can be written now.
    fn write(&mut self) -> Vec<(Verb, u32)> {
        while let Some(answer) = self.send() {
            self.answer(answer);
        }
        std::mem::take(&mut self.writes)
    }
}

fn note(note: &str) -> NewEvent {
    about("shop", note)
}

fn about(name: &str, note: &str) -> NewEvent {
    let object = Reference::new("v1", "Pod", &ObjectKey::new("web", name));
    NewEvent::normal(object, "Scaled", "Scale", note)
}

#[test]
fn the_first_is_created_and_the_second_begins_a_series() {
    let mut world = World::new();
    assert_eq!(world.observe(note("a")), Observed::Queued);
    assert_eq!(world.write(), [(Verb::Create, 1)]);
    assert_eq!(world.observe(note("a")), Observed::Queued);
    assert_eq!(world.write(), [(Verb::Patch, 2)]);
    for _ in 0..5 {
        assert_eq!(world.observe(note("a")), Observed::Counted);
    }
    assert_eq!(world.write(), []);
    assert_eq!(world.live.len(), 1);
    let counts = world.machine.counts();
    assert_eq!((counts.recorded, counts.counted, counts.written), (1, 6, 2));
}

#[test]
fn another_event_is_another_series() {
    let mut world = World::new();
    world.observe(note("a"));
    world.observe(note("b"));
    world.observe(about("cart", "a"));
    assert_eq!(world.write(), [(Verb::Create, 1); 3]);
    assert_eq!(world.live.len(), 3);
}

/// Two that come before the first is written are one write.
#[test]
fn what_waits_is_counted() {
    let mut world = World::new();
    for _ in 0..3 {
        world.observe(note("a"));
    }
    assert_eq!(world.write(), [(Verb::Create, 3)]);
    world.observe(note("a"));
    assert_eq!(world.write(), [], "the series has begun");
}

/// The second one comes while the first is on its way.
#[test]
fn a_series_begins_when_the_answer_comes() {
    let mut world = World::new();
    world.observe(note("a"));
    let answer = world.send().unwrap();
    assert_eq!(world.observe(note("a")), Observed::Counted);
    assert_eq!(world.answer(answer), Settled::Done);
    assert_eq!(world.write(), [(Verb::Create, 1), (Verb::Patch, 2)]);
}

#[test]
fn a_series_ends_after_six_minutes_without_news() {
    let mut world = World::new();
    for _ in 0..2 {
        world.observe(note("a"));
        world.write();
    }
    world.pass(MINUTE);
    world.observe(note("a"));
    let deadline = world.machine.next_deadline().unwrap();
    assert_eq!(deadline, world.now.after(6 * MINUTE));
    world.pass(6 * MINUTE - SECOND);
    assert_eq!(world.write(), []);
    world.pass(SECOND);
    assert_eq!(world.now, deadline);
    assert_eq!(world.write(), [(Verb::Patch, 3)]);
    assert_eq!(world.machine.next_deadline(), None);
    assert_eq!(world.machine.series.len(), 0);
    world.observe(note("a"));
    assert_eq!(world.write(), [(Verb::Create, 1)]);
    assert_eq!(world.live.len(), 2, "another Event");
}

/// A single event, and a series whose last count the server has, end without a write.
#[test]
fn the_end_is_written_only_if_there_is_news() {
    let mut world = World::new();
    world.observe(note("a"));
    world.write();
    world.observe(note("b"));
    world.write();
    world.observe(note("b"));
    world.write();
    world.pass(6 * MINUTE);
    assert_eq!(world.write(), []);
    assert_eq!(world.machine.series.len(), 0);
}

#[test]
fn a_long_series_is_written_every_half_an_hour() {
    let mut world = World::new();
    let mut writes = Vec::new();
    for minute in 0..=121 {
        world.observe(note("a"));
        writes.extend(world.write().into_iter().map(|(_, count)| (minute, count)));
        world.pass(MINUTE);
    }
    assert_eq!(
        writes,
        [(0, 1), (1, 2), (31, 32), (61, 62), (91, 92), (121, 122)]
    );
}

#[test]
fn events_about_an_object_are_limited() {
    let mut world = World::new();
    let taken = |world: &mut World, from: u32| {
        let notes = (from..from + 30).map(|number| note(&number.to_string()));
        notes
            .filter(|event| world.observe(event.clone()) == Observed::Queued)
            .count()
    };
    assert_eq!(taken(&mut world, 0), 25);
    // Others have limits of their own: other types, other objects.
    let warning = NewEvent::warning(
        Reference::new("v1", "Pod", &ObjectKey::new("web", "shop")),
        "R",
        "A",
        "",
    );
    assert_eq!(world.observe(warning), Observed::Queued);
    assert_eq!(world.observe(about("cart", "")), Observed::Queued);
    world.pass(5 * MINUTE - SECOND);
    assert_eq!(taken(&mut world, 100), 0);
    world.pass(SECOND);
    assert_eq!(taken(&mut world, 200), 1);
    world.pass(10 * MINUTE);
    assert_eq!(taken(&mut world, 300), 2);
    world.pass(10_000 * MINUTE);
    assert_eq!(taken(&mut world, 400), 25, "no more than at first");
    assert_eq!(world.machine.counts().limited, 5 + 30 + 29 + 28 + 5);
}

/// Without a token, the second of a series is counted, and written when the series ends.
#[test]
fn a_series_may_begin_late() {
    let mut world = World::new();
    for number in 0..25 {
        world.observe(note(&number.to_string()));
    }
    world.write();
    assert_eq!(world.observe(note("7")), Observed::Counted);
    assert_eq!(world.write(), []);
    world.pass(6 * MINUTE);
    assert_eq!(world.write(), [(Verb::Patch, 2)]);
}

/// The server does not keep Events for long.
#[test]
fn an_event_that_is_gone_is_created_again_with_its_series() {
    let mut world = World::new();
    world.observe(note("a"));
    world.write();
    world.live.clear();
    world.observe(note("a"));
    assert_eq!(world.write(), [(Verb::Patch, 2), (Verb::Create, 2)]);
    assert_eq!(world.live.values().collect::<Vec<_>>(), [&2]);
}

#[test]
fn a_lost_answer_does_not_make_a_second_event() {
    let mut world = World::new();
    world.observe(note("a"));
    assert_eq!(world.send(), Some(Answer::Written));
    assert_eq!(world.answer(Answer::Later(None)), Settled::Again);
    assert_eq!(world.send(), None, "it rests");
    // The second one meanwhile.
    world.observe(note("a"));
    world.now = world.machine.next_deadline().unwrap();
    let writes = [(Verb::Create, 1), (Verb::Create, 2), (Verb::Patch, 2)];
    assert_eq!(world.write(), writes);
    assert_eq!(world.live.values().collect::<Vec<_>>(), [&2]);
}

#[test]
fn a_single_event_that_exists_is_written() {
    let mut world = World::new();
    world.observe(note("a"));
    world.send();
    world.answer(Answer::Later(None));
    world.now = world.machine.next_deadline().unwrap();
    assert_eq!(world.write(), [(Verb::Create, 1), (Verb::Create, 1)]);
    assert_eq!(world.machine.counts().written, 1);
    assert_eq!(world.machine.counts().failed, 0);
}

#[test]
fn a_write_is_tried_twelve_times() {
    let mut world = World::new();
    world.observe(note("a"));
    world.observe(note("b"));
    for number in 1..=12 {
        let (_, record) = world.machine.poll_write(world.now).unwrap();
        assert_eq!(*record.event, note("a"));
        let settled = world.answer(Answer::Later(None));
        if number == 12 {
            assert_eq!(settled, Settled::GivenUp);
            continue;
        }
        assert_eq!(settled, Settled::Again);
        let rest = world.machine.next_deadline().unwrap().since(world.now);
        assert!((REST..=REST + REST / 4).contains(&rest), "{rest:?}");
        assert!(world.machine.rests(world.now));
        world.pass(rest);
    }
    assert_eq!(world.machine.counts().failed, 1);
    // The next one starts over, and the others were not forgotten.
    world.observe(note("a"));
    assert_eq!(world.write(), [(Verb::Create, 1); 2]);
}

#[test]
fn the_server_may_ask_for_a_longer_wait() {
    let mut world = World::new();
    world.observe(note("a"));
    world.send();
    world.answer(Answer::Later(Some(MINUTE)));
    assert_eq!(world.machine.next_deadline(), Some(world.now.after(MINUTE)));
    let mut world = World::new();
    world.observe(note("a"));
    world.send();
    world.answer(Answer::Later(Some(SECOND)));
    assert!(world.machine.next_deadline().unwrap() >= world.now.after(REST));
}

#[test]
fn what_is_refused_is_given_up() {
    for answer in [Answer::Refused, Answer::Missing] {
        let mut world = World::new();
        world.observe(note("a"));
        world.send();
        assert_eq!(world.answer(answer), Settled::GivenUp);
        assert!(world.machine.is_idle());
        assert_eq!(world.machine.next_deadline(), None, "nothing is remembered");
    }
}

/// A server that contradicts itself does not keep us for ever.
#[test]
fn contradictions_end() {
    let mut world = World::new();
    world.observe(note("a"));
    world.observe(note("a"));
    let mut tries = 0;
    while let Some((verb, _)) = world.machine.poll_write(world.now) {
        tries += 1;
        let contrary = match verb {
            Verb::Create => Answer::Exists,
            Verb::Patch => Answer::Missing,
        };
        world.answer(contrary);
    }
    assert_eq!(tries, TRIES);
    assert_eq!(world.machine.counts().failed, 1);
}

#[test]
fn a_full_queue_drops_events() {
    let mut world = World::new();
    for number in 0..1_100 {
        let observed = world.observe(about(&format!("pod-{number}"), ""));
        assert_eq!(observed == Observed::Queued, number < 1_000, "{number}");
    }
    let counts = world.machine.counts();
    assert_eq!((counts.recorded, counts.dropped), (1_000, 100));
    // Those that are known are still counted.
    assert_eq!(world.observe(about("pod-7", "")), Observed::Counted);
    assert_eq!(world.write().len(), 1_000);
    assert_eq!(world.observe(about("pod-1050", "")), Observed::Queued);
}

#[test]
fn memory_is_bounded() {
    let mut world = World::new();
    for number in 0..10_000 {
        for _ in 0..3 {
            world.observe(about(&format!("pod-{number}"), ""));
            world.write();
        }
        assert!(world.machine.series.len() <= 4_096);
        assert!(world.machine.limits.len() <= 4_096);
    }
    // Each count is written when its series is forgotten.
    world.machine.write_all();
    world.write();
    assert!(world.all.values().all(|count| *count == 3));
    assert_eq!(world.all.len(), 10_000);
}

/// A series that is about to be written is not forgotten to make room.
#[test]
fn what_is_queued_is_not_forgotten() {
    let mut world = World::new();
    let others = || (0..4_095).map(|number| about(&format!("pod-{number}"), ""));
    for event in others() {
        // Their series have begun, so that further ones are only counted.
        world.observe(event.clone());
        world.observe(event);
        world.write();
    }
    world.observe(about("queued", ""));
    for event in others() {
        assert_eq!(world.observe(event), Observed::Counted);
    }
    assert_eq!(world.observe(about("one-too-many", "")), Observed::Dropped);
    assert_eq!(world.write(), [(Verb::Create, 1)]);
    assert_eq!(world.observe(about("one-too-many", "")), Observed::Queued);
    assert_eq!(world.machine.counts().dropped, 1);
}

#[test]
fn a_flush_writes_all_counts() {
    let mut world = World::new();
    for _ in 0..3 {
        world.observe(note("a"));
        world.write();
    }
    world.machine.write_all();
    world.machine.write_all();
    assert_eq!(world.machine.waiting(), 1);
    assert_eq!(world.write(), [(Verb::Patch, 3)]);
    // The series goes on.
    assert_eq!(world.observe(note("a")), Observed::Counted);
}

#[test]
fn what_is_abandoned_is_counted() {
    let mut world = World::new();
    for number in 0..3 {
        world.observe(note(&number.to_string()));
    }
    world.send();
    assert_eq!(world.machine.abandon(), 3);
    assert!(world.machine.is_idle());
    assert_eq!(world.machine.counts().failed, 3);
    // A late answer changes nothing.
    assert_eq!(world.answer(Answer::Written), Settled::Done);
    assert_eq!(world.machine.counts().written, 0);
}

/// Two events at the same time have different names.
#[test]
fn names_are_unique() {
    let mut world = World::new();
    for number in 0..20 {
        world.observe(note(&number.to_string()));
    }
    world.write();
    assert_eq!(world.live.len(), 20);
}

/// Whatever happens, no event is lost or counted twice, unless it is said so.
#[test]
fn every_event_is_counted_once() {
    let mut whole = 0;
    for seed in 0..300 {
        let mut random = Random::new(seed);
        let mut world = World::new();
        for _ in 0..400 {
            match random.below(10) {
                0..=4 => {
                    let object = format!("pod-{}", random.below(3));
                    world.observe(about(&object, &random.below(4).to_string()));
                }
                5 | 6 => {
                    if let Some(answer) = world.send() {
                        let is_lost = random.below(3) == 0;
                        world.answer(if is_lost { Answer::Later(None) } else { answer });
                    }
                }
                7 if random.below(5) == 0 => world.live.clear(),
                8 => world.pass(Duration::from_secs(random.below(500))),
                _ => world.pass(SECOND),
            }
        }
        world.machine.write_all();
        while let Some(deadline) = world.machine.next_deadline() {
            world.write();
            world.now = world.now.max(deadline);
        }
        world.write();
        let counts = world.machine.counts();
        if counts.failed == 0 {
            whole += 1;
            let written: u64 = world.all.values().map(|count| u64::from(*count)).sum();
            assert_eq!(written, counts.recorded + counts.counted, "seed {seed}");
            assert_eq!(world.all.len() as u64, counts.recorded, "seed {seed}");
        }
    }
    assert!(whole > 250, "only {whole} worlds count");
}

/// The queue is full while the server is away, and a series with news has come to its end.
#[test]
fn a_deadline_that_has_passed_means_that_there_is_something_to_do() {
    let mut world = World::new();
    for _ in 0..2 {
        world.observe(about("old", "a"));
        world.write();
    }
    world.pass(SECOND);
    world.observe(about("old", "a"));
    for n in 0..QUEUE {
        world.observe(about(&format!("p{n}"), "b"));
    }
    for n in 0..2_000 {
        if world.machine.poll_write(world.now).is_some() {
            world.machine.answered(Answer::Later(None), world.now);
            world.observe(about(&format!("q{n}"), "c"));
            continue;
        }
        let due = world.machine.next_deadline().unwrap();
        assert!(due > world.now, "a busy loop after {n} steps");
        world.now = due;
    }
}
