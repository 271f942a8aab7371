//! Elections in simulated worlds: replicas with clocks of their own, a network that delays and loses, and
//! processes that stop for longer than a lease. At no time do two replicas lead.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use informer_core::Instant;
use informer_core::election::{
    Claim, Election, ElectionConfig, Lease, LeaseAnswer, LeaseRecord, LeaseRequest, LeaseRequestId,
};

const SECOND: u64 = 1_000_000;
/// How long faults go on, and how long the world is watched afterwards.
const FAULTS: u64 = 300 * SECOND;
const QUIET: u64 = 120 * SECOND;
/// How long the last faults have effects: pauses and cuts of 40 s, and requests that are 20 s late.
const ECHO: u64 = 60 * SECOND;
/// A lease by the slowest clock, the longest wait of a follower, and some requests.
const PATIENCE: u64 = 25 * SECOND;
/// How often the guards are asked, apart from every event.
const TICK: u64 = SECOND / 4;

/// Something that a driver, a server or an implementation could do wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Mistake {
    /// The guard is asked with a time of six seconds ago.
    DeadlineCheckedLate,
    /// The guard does not look at the clock, but at what was last said.
    NoClockInTheGuard,
    /// The guard says yes until the release has been answered.
    ReleasedAfterTheFact,
    /// A conflict is taken for success.
    ConflictIsSuccess,
    /// A write that is lost is taken for success.
    LossIsSuccess,
    /// An answer to an earlier request is taken for that to the current one.
    EarlierAnswer,
    /// The server does not compare versions.
    NoVersions,
    /// A lease is taken to be over after half of its time.
    HalfALease,
    /// The holder is not looked at.
    HolderIgnored,
    /// The time of an answer is that of another one's clock.
    ForeignClock,
}

const MISTAKES: [Mistake; 10] = [
    Mistake::DeadlineCheckedLate,
    Mistake::NoClockInTheGuard,
    Mistake::ReleasedAfterTheFact,
    Mistake::ConflictIsSuccess,
    Mistake::LossIsSuccess,
    Mistake::EarlierAnswer,
    Mistake::NoVersions,
    Mistake::HalfALease,
    Mistake::HolderIgnored,
    Mistake::ForeignClock,
];

/// What went wrong in a world.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Finding {
    TwoLeaders { at: u64 },
    NoLeader,
}

struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % bound
    }

    fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }
}

struct Replica {
    election: Election,
    /// Its clock gains or loses up to a tenth, and started at another time.
    rate_percent: u64,
    offset: u64,
    /// It does not run until then.
    paused_until: u64,
    /// It is cut off until then.
    cut_until: u64,
    stopped: bool,
    /// For mistakes: what the guard would say without a clock, or before the release is answered.
    said: bool,
    /// The last request.
    current: Option<LeaseRequestId>,
}

impl Replica {
    fn clock(&self, at: u64) -> Instant {
        Instant::from_micros(self.offset + at * self.rate_percent / 100)
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Event {
    Tick,
    Fault,
    Request(usize, LeaseRequestId, LeaseRequest),
    Answer(usize, LeaseRequestId, LeaseAnswer),
}

struct World {
    random: Random,
    mistake: Option<Mistake>,
    now: u64,
    replicas: Vec<Replica>,
    lease: Option<Lease>,
    writes: u64,
    /// Time, order, and the event of that number.
    due: BinaryHeap<Reverse<(u64, usize)>>,
    events: Vec<Event>,
}

fn elector(replica: usize, life: u64, seed: u64) -> Election {
    Election::new(
        format!("replica-{replica}-{life}"),
        ElectionConfig::new(),
        seed,
    )
    .unwrap()
}

impl World {
    fn new(seed: u64, mistake: Option<Mistake>) -> Self {
        let mut random = Random(seed);
        let count = 2 + random.below(3) as usize;
        let replicas = (0..count).map(|at| Replica {
            election: elector(at, 0, random.below(u64::MAX)),
            rate_percent: 90 + random.below(21),
            offset: random.below(1000 * SECOND),
            paused_until: 0,
            cut_until: 0,
            stopped: false,
            said: false,
            current: None,
        });
        let replicas = replicas.collect();
        let mut world = Self {
            random,
            mistake,
            now: 0,
            replicas,
            lease: None,
            writes: 0,
            due: BinaryHeap::new(),
            events: Vec::new(),
        };
        for at in 0..world.replicas.len() {
            let now = world.replicas[at].clock(0);
            world.replicas[at].election.start(now);
        }
        world.plan(0, Event::Tick);
        world.plan(0, Event::Fault);
        world
    }

    fn plan(&mut self, at: u64, event: Event) {
        self.due.push(Reverse((at, self.events.len())));
        self.events.push(event);
    }

    /// Runs the world and returns what went wrong first.
    fn run(mut self) -> Option<Finding> {
        // Only what comes after the last fault counts.
        let mut led = FAULTS + ECHO;
        while let Some(Reverse((at, number))) = self.due.pop() {
            if at > FAULTS + QUIET {
                break;
            }
            self.now = at;
            let event = std::mem::replace(&mut self.events[number], Event::Tick);
            let is_tick = event == Event::Tick;
            self.happen(event);
            for replica in 0..self.replicas.len() {
                self.drive(replica);
            }
            let leaders = (0..self.replicas.len())
                .filter(|at| self.guard(*at))
                .count();
            if leaders > 1 {
                return Some(Finding::TwoLeaders { at });
            }
            if leaders > 0 {
                led = led.max(at);
            }
            if at.saturating_sub(led) > PATIENCE {
                return Some(Finding::NoLeader);
            }
            if is_tick {
                self.plan(at + TICK, Event::Tick);
            }
        }
        None
    }

    /// Whether a worker of this replica would work now.
    fn guard(&self, at: usize) -> bool {
        let replica = &self.replicas[at];
        let now = replica.clock(self.now);
        match self.mistake {
            Some(Mistake::DeadlineCheckedLate) => {
                let late = now.as_micros().saturating_sub(6 * SECOND);
                replica.election.is_leader(Instant::from_micros(late))
            }
            Some(Mistake::NoClockInTheGuard) => replica.said,
            Some(Mistake::ReleasedAfterTheFact) if replica.stopped => {
                replica.said && !replica.election.is_stopped()
            }
            _ => replica.election.is_leader(now),
        }
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Tick => {}
            Event::Fault => {
                if self.now < FAULTS {
                    self.fault();
                    let pause = self.random.below(10 * SECOND);
                    self.plan(self.now + pause, Event::Fault);
                }
            }
            Event::Request(from, id, request) => {
                let answer = self.serve(request);
                let lost = self.now < FAULTS && self.random.one_in(8);
                if !lost {
                    let delay = self.delay();
                    self.plan(self.now + delay, Event::Answer(from, id, answer));
                }
            }
            Event::Answer(to, id, answer) => self.answer(to, id, answer),
        }
    }

    fn answer(&mut self, to: usize, id: LeaseRequestId, answer: LeaseAnswer) {
        if self.is_out(to) {
            // It gets the answer when it runs again, if its connection has survived.
            let later = self.replicas[to].paused_until.max(self.now + SECOND);
            if self.random.one_in(2) {
                self.plan(later, Event::Answer(to, id, answer));
            }
            return;
        }
        let clock = match self.mistake {
            Some(Mistake::ForeignClock) => 0,
            _ => to,
        };
        let now = self.replicas[clock].clock(self.now);
        let replica = &mut self.replicas[to];
        let answer = match (self.mistake, answer) {
            (Some(Mistake::HalfALease), LeaseAnswer::Found(mut lease)) => {
                lease.record.duration /= 2;
                LeaseAnswer::Found(lease)
            }
            (Some(Mistake::HolderIgnored), LeaseAnswer::Found(mut lease)) => {
                lease.record.holder.clear();
                LeaseAnswer::Found(lease)
            }
            (_, answer) => answer,
        };
        let id = match (self.mistake, replica.current) {
            (Some(Mistake::EarlierAnswer), Some(current)) => current,
            _ => id,
        };
        replica.election.answer(id, answer, now);
    }

    fn fault(&mut self) {
        let at = self.random.below(self.replicas.len() as u64) as usize;
        let long = self.now + self.random.below(40 * SECOND);
        match self.random.below(4) {
            0 => self.replicas[at].paused_until = long,
            1 => self.replicas[at].cut_until = long,
            2 if !self.replicas[at].stopped => {
                let replica = &mut self.replicas[at];
                let now = replica.clock(self.now);
                replica.said = replica.election.is_leader(now);
                replica.stopped = true;
                replica.election.stop(now);
            }
            // A new process in the place of one that was stopped.
            _ if self.replicas[at].stopped => {
                let life = self.now;
                let seed = self.random.below(u64::MAX);
                let replica = &mut self.replicas[at];
                replica.election = elector(at, life, seed);
                replica.stopped = false;
                let now = replica.clock(self.now);
                replica.election.start(now);
            }
            _ => {}
        }
    }

    fn is_out(&self, at: usize) -> bool {
        let replica = &self.replicas[at];
        self.now < replica.paused_until || self.now < replica.cut_until
    }

    fn delay(&mut self) -> u64 {
        let usual = self.random.below(SECOND / 10);
        if self.now < FAULTS && self.random.one_in(10) {
            return usual + self.random.below(20 * SECOND);
        }
        usual
    }

    /// Lets a replica do what is due, and sends its request.
    fn drive(&mut self, at: usize) {
        if self.now < self.replicas[at].paused_until {
            return;
        }
        // After the faults, everyone contends again.
        if self.now >= FAULTS && self.replicas[at].stopped {
            self.replicas[at].stopped = false;
            self.replicas[at].election = elector(at, self.now, at as u64);
            let now = self.replicas[at].clock(self.now);
            self.replicas[at].election.start(now);
        }
        let now = self.replicas[at].clock(self.now);
        let replica = &mut self.replicas[at];
        replica.election.advance(now);
        if !replica.stopped {
            replica.said = replica.election.is_leader(now);
        }
        let Some((id, request)) = replica.election.poll_request(now) else {
            return;
        };
        replica.current = Some(id);
        let delay = self.delay();
        let is_lost = self.is_out(at) || self.now < FAULTS && self.random.one_in(8);
        if !is_lost {
            self.plan(self.now + delay, Event::Request(at, id, request));
        } else if self.mistake == Some(Mistake::LossIsSuccess)
            && let LeaseRequest::Create(claim) | LeaseRequest::Update { claim, .. } = request
        {
            let answer = LeaseAnswer::Written(self.written(&claim));
            self.plan(self.now + delay, Event::Answer(at, id, answer));
        }
    }

    fn serve(&mut self, request: LeaseRequest) -> LeaseAnswer {
        let refused = |world: &Self, claim: &Claim| match world.mistake {
            Some(Mistake::ConflictIsSuccess) => LeaseAnswer::Written(world.written(claim)),
            _ => LeaseAnswer::Refused,
        };
        let claim = match (request, &self.lease) {
            (LeaseRequest::Get, Some(lease)) => return LeaseAnswer::Found(lease.clone()),
            (LeaseRequest::Get, None) => return LeaseAnswer::Missing,
            (LeaseRequest::Create(claim), Some(_)) => return refused(self, &claim),
            (LeaseRequest::Create(claim), None) => claim,
            (LeaseRequest::Update { claim, version }, lease) => {
                let is_current = lease.as_ref().is_some_and(|lease| lease.version == version);
                if !is_current && self.mistake != Some(Mistake::NoVersions) {
                    return refused(self, &claim);
                }
                claim
            }
        };
        self.writes += 1;
        let lease = self.written(&claim);
        self.lease = Some(lease.clone());
        LeaseAnswer::Written(lease)
    }

    fn written(&self, claim: &Claim) -> Lease {
        Lease {
            record: LeaseRecord {
                holder: claim.holder.clone(),
                duration: claim.duration,
                acquired: claim
                    .acquired
                    .clone()
                    .unwrap_or_else(|| self.now.to_string()),
                renewed: self.now.to_string(),
                transitions: claim.transitions,
            },
            version: self.writes.to_string(),
        }
    }
}

#[test]
fn at_most_one_replica_leads_and_one_does_when_the_faults_end() {
    for seed in 0..1_000 {
        assert_eq!(World::new(seed, None).run(), None, "seed {seed}");
    }
}

/// `cargo test --release -p informer-core --test election -- --ignored`
#[test]
#[ignore = "takes a minute in a release build"]
fn a_hundred_thousand_worlds() {
    for seed in 1_000..101_000 {
        assert_eq!(World::new(seed, None).run(), None, "seed {seed}");
    }
}

#[test]
fn every_planted_mistake_is_found() {
    for mistake in MISTAKES {
        let found = (0..1_000).find(|seed| {
            let finding = World::new(*seed, Some(mistake)).run();
            matches!(finding, Some(Finding::TwoLeaders { .. }))
        });
        assert!(found.is_some(), "{mistake:?} is not found");
    }
}

/// One replica and what a server would answer, step by step.
struct Alone {
    election: Election,
    now: Instant,
}

impl Alone {
    fn new() -> Self {
        let mut election = elector(1, 0, 1);
        let now = Instant::from_micros(0);
        election.start(now);
        Self { election, now }
    }

    /// The next request; the clock goes on until there is one.
    fn request(&mut self) -> (LeaseRequestId, LeaseRequest) {
        for _ in 0..10 {
            if let Some(request) = self.election.poll_request(self.now) {
                return request;
            }
            self.now = self.election.next_deadline().unwrap();
        }
        panic!("no request: {:?}", self.election);
    }

    fn answer(&mut self, id: LeaseRequestId, answer: LeaseAnswer) {
        self.election.answer(id, answer, self.now);
    }

    /// Begins to lead.
    fn lead(&mut self) -> Lease {
        let (id, request) = self.request();
        assert_eq!(request, LeaseRequest::Get);
        self.answer(id, LeaseAnswer::Missing);
        let (id, request) = self.request();
        let LeaseRequest::Create(claim) = request else {
            panic!("{request:?}");
        };
        let lease = lease(&claim.holder, claim.transitions);
        self.answer(id, LeaseAnswer::Written(lease.clone()));
        assert!(self.election.is_leader(self.now));
        lease
    }
}

fn lease(holder: &str, transitions: u32) -> Lease {
    let record = LeaseRecord {
        holder: holder.to_owned(),
        duration: Duration::from_secs(15),
        transitions,
        ..LeaseRecord::default()
    };
    let version = "7".to_owned();
    Lease { record, version }
}

#[test]
fn a_leader_that_may_read_but_not_write_does_not_hurry() {
    let mut alone = Alone::new();
    let lease = alone.lead();
    let began = alone.now;
    let mut requests = 0;
    while alone.election.is_leader(alone.now) {
        let (id, request) = alone.request();
        requests += 1;
        let answer = match request {
            LeaseRequest::Get => LeaseAnswer::Found(lease.clone()),
            _ => LeaseAnswer::Failed,
        };
        alone.answer(id, answer);
    }
    assert!(alone.now >= began.after(Duration::from_secs(10)));
    // Three for each of five attempts, and the first one afterwards.
    assert!(requests <= 16, "{requests} requests");
}

#[test]
fn a_token_belongs_to_one_term() {
    let mut alone = Alone::new();
    let lease = alone.lead();
    assert_eq!(alone.election.fencing_token(alone.now), Some(0));
    alone.now = alone.now.after(Duration::from_secs(10));
    assert_eq!(alone.election.fencing_token(alone.now), None);
    let (id, request) = alone.request();
    assert_eq!(request, LeaseRequest::Get);
    alone.answer(id, LeaseAnswer::Found(lease));
    // The lease is still that of the first term.
    let (_, request) = alone.request();
    let LeaseRequest::Update { claim, .. } = request else {
        panic!("{request:?}");
    };
    assert_eq!((claim.transitions, claim.acquired), (1, None));
}

#[test]
fn a_leader_whose_lease_was_cleared_begins_another_term() {
    let mut alone = Alone::new();
    alone.lead();
    let (id, request) = alone.request();
    assert!(
        matches!(request, LeaseRequest::Update { .. }),
        "{request:?}"
    );
    alone.answer(id, LeaseAnswer::Refused);
    let (id, _) = alone.request();
    alone.answer(id, LeaseAnswer::Found(lease("", 4)));
    assert!(!alone.election.is_leader(alone.now));
    let (id, request) = alone.request();
    let LeaseRequest::Update { claim, .. } = request else {
        panic!("{request:?}");
    };
    alone.answer(
        id,
        LeaseAnswer::Written(lease(&claim.holder, claim.transitions)),
    );
    assert_eq!(alone.election.terms(), 2);
    assert_eq!(alone.election.fencing_token(alone.now), Some(5));
}

#[test]
fn a_deleted_lease_is_created_by_its_holder_or_when_its_time_has_passed() {
    let mut alone = Alone::new();
    alone.lead();
    let (id, _) = alone.request();
    alone.answer(id, LeaseAnswer::Missing);
    let (id, _) = alone.request();
    alone.answer(id, LeaseAnswer::Missing);
    let (_, request) = alone.request();
    let LeaseRequest::Create(claim) = request else {
        panic!("{request:?}");
    };
    assert_eq!(claim.transitions, 0);

    let mut alone = Alone::new();
    let (id, _) = alone.request();
    alone.answer(id, LeaseAnswer::Found(lease("another", 3)));
    let seen = alone.now;
    loop {
        let (id, request) = alone.request();
        if let LeaseRequest::Create(claim) = request {
            assert_eq!(claim.transitions, 4);
            break;
        }
        alone.answer(id, LeaseAnswer::Missing);
    }
    assert!(alone.now >= seen.after(Duration::from_secs(15)));
}

#[test]
fn a_renewal_counts_from_when_it_was_sent() {
    let mut alone = Alone::new();
    let lease = alone.lead();
    let (id, _) = alone.request();
    let sent = alone.now;
    alone.now = sent.after(Duration::from_secs(3));
    alone.answer(id, LeaseAnswer::Written(lease));
    let until = sent.after(Duration::from_secs(10));
    assert_eq!(alone.election.leads_until(), Some(until));
}

#[test]
fn an_answer_that_comes_too_late_is_not_awaited() {
    let mut alone = Alone::new();
    let (id, _) = alone.request();
    assert!(alone.election.awaits(id));
    alone.now = alone.now.after(Duration::from_secs(5));
    alone.election.advance(alone.now);
    assert!(!alone.election.awaits(id));
}

#[test]
fn settings_that_do_not_fit_are_refused() {
    let new = |change: fn(&mut ElectionConfig)| {
        let mut config = ElectionConfig::new();
        change(&mut config);
        Election::new("a", config, 1)
            .map(drop)
            .map_err(|error| error.to_string())
    };
    assert!(new(|_| {}).is_ok());
    for (change, word) in [
        (
            (|config| config.renew_deadline = Duration::from_secs(15)) as fn(&mut ElectionConfig),
            "two replicas could lead at once",
        ),
        (
            |config| config.retry_period = Duration::from_secs(5),
            "2.2 times",
        ),
        (|config| config.retry_period = Duration::ZERO, "above zero"),
        (
            |config| {
                config.lease_duration = Duration::from_millis(900);
                config.renew_deadline = Duration::from_millis(600);
                config.retry_period = Duration::from_millis(100);
            },
            "whole seconds",
        ),
    ] {
        let error = new(change).unwrap_err();
        assert!(error.contains(word), "{error}");
    }
    assert!(Election::new("", ElectionConfig::new(), 1).is_err());
}
