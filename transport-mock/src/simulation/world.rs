//! Server, wire, clock, informers, listeners and oracle, together.

use std::fmt;
use std::time::Duration;

use informer_core::Instant;
use informer_core::storage::{Fixed, Heap};

use super::interest::Interest;
use super::ledger::{Calm, Return};
use super::log::{Log, Violation};
use super::record::Record;
use super::setup;
use super::sources::{Change, Sources};
use super::station::{Post, Scene, Station};
use super::tally::Tally;
use super::tamper::{Mutant, Tamper};
use super::writes::Writers;
use crate::fault::FaultPlan;
use crate::random::Random;
use crate::{MockServer, VirtualClock};

/// A world that has not settled after this many rounds never will. A slow listener needs many
/// rounds for one resync.
const ROUNDS: usize = 20_000;

/// A bounded storage with room for what five sources show. Sources that leave may take up some of it.
type Bounded = Fixed<48, 6, 160, 6, 96>;

/// A simulated world: a server, a wire with faults, a clock, informers, listeners, and an oracle
/// that checks their notifications. The seed decides everything.
///
/// ```
/// use informer_transport_mock::simulation::World;
///
/// let first = World::new(7).traced().run();
/// let second = World::new(7).traced().run();
/// assert_eq!(first.trace, second.trace, "equal seeds give equal runs");
/// assert_eq!(first.violation, None);
/// ```
pub struct World {
    seed: u64,
    is_tracing: bool,
    mutant: Option<Mutant>,
}

/// The result of a run.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Outcome {
    /// The first violation, if any.
    pub violation: Option<Violation>,
    /// Counts of what happened.
    pub tally: Tally,
    /// Everything that happened, line by line; empty unless it was traced.
    pub trace: String,
}

impl World {
    /// The world of this seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self {
            seed,
            is_tracing: false,
            mutant: None,
        }
    }

    /// Records everything that happens.
    #[must_use]
    pub const fn traced(mut self) -> Self {
        self.is_tracing = true;
        self
    }

    /// Plants a bug.
    #[must_use]
    pub const fn with_mutant(mut self, mutant: Mutant) -> Self {
        self.mutant = Some(mutant);
        self
    }

    /// Runs until the end or the first violation.
    #[must_use]
    pub fn run(self) -> Outcome {
        let mut run = Run::new(&self);
        run.go();
        run.finish()
    }
}

impl fmt::Debug for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("World")
            .field("seed", &self.seed)
            .field("mutant", &self.mutant)
            .finish_non_exhaustive()
    }
}

struct Run {
    random: Random,
    clock: VirtualClock,
    server: MockServer,
    writers: Writers,
    record: Record,
    /// Objects that were unreadable and have not been written again.
    unreadable: Vec<String>,
    stations: Vec<Box<dyn Station>>,
    /// If its informers have several sources.
    sources: Option<Sources>,
    log: Log,
    tally: Tally,
}

impl Run {
    fn new(world: &World) -> Self {
        let mut random = Random::new(world.seed);
        let clock = VirtualClock::new();
        clock.advance(Duration::from_secs(1));
        let server = MockServer::new(setup::server(&mut random), clock.clone());
        let mut run = Self {
            writers: Writers::new(random.fork()),
            clock,
            server,
            record: Record::default(),
            unreadable: Vec::new(),
            stations: Vec::new(),
            sources: Sources::of(world.seed),
            log: Log::new(world.seed, world.is_tracing),
            tally: Tally::default(),
            random,
        };
        for name in 0..=run.random.index(3) {
            run.add_station(name, world.mutant);
        }
        run
    }

    fn add_station(&mut self, name: usize, mutant: Option<Mutant>) {
        let plan = setup::plan(&mut self.random);
        self.log.line(|| format!("[{name}] {plan:?}"));
        let listeners = plan.listeners.clone();
        let (mut interests, mut returns) = (vec![plan.interest], Return::Never);
        if let Some(sources) = &mut self.sources {
            (interests, returns) = (sources.first(), sources.returns());
            self.log.line(|| format!("[{name}] {interests:?}"));
        }
        let mut seed = self.random.draw();
        let mut transports = Vec::new();
        for interest in interests {
            let transport = self
                .server
                .transport(&interest.target().accepting(plan.encodings), seed);
            transports.push((interest, transport));
            seed = self.sources.as_mut().map_or(seed, Sources::seed);
        }
        let tamper = Tamper::new(mutant, self.random.fork());
        let seed = self.random.draw();
        let station: Result<Box<dyn Station>, String> = match plan.is_bounded {
            true => Post::<Bounded>::new(name, plan, transports, returns, tamper, seed)
                .map(|post| Box::new(post) as _),
            false => Post::<Heap>::new(name, plan, transports, returns, tamper, seed)
                .map(|post| Box::new(post) as _),
        };
        match station {
            Ok(mut station) => {
                for config in listeners {
                    station.join(config, &mut self.scene().0);
                }
                self.stations.push(station);
            }
            Err(why) => self.log.violation(why),
        }
    }

    /// The scene, and the stations.
    fn scene(&mut self) -> (Scene<'_>, &mut [Box<dyn Station>]) {
        for key in self.server.take_corrupted() {
            self.record.spoil(&key);
            self.unreadable.push(key);
        }
        let scene = Scene {
            log: &mut self.log,
            record: &self.record,
            now: self.clock.now(),
        };
        (scene, &mut self.stations)
    }

    fn go(&mut self) {
        for _ in 0..self.random.below(12) {
            self.write();
        }
        let now = self.clock.now();
        for station in &mut self.stations {
            station.start(now);
        }
        for _ in 0..=self.random.below(3) {
            let one_in = 1 + self.random.below(6);
            let plan = match self.random.one_in(4) {
                true => FaultPlan::stuck(self.random.draw()),
                false => FaultPlan::drawn(self.random.draw(), one_in),
            };
            self.server.set_faults(plan);
            for _ in 0..20 + self.random.below(200) {
                if self.log.is_bad() {
                    return;
                }
                self.act();
            }
            self.settle();
            self.change_calmly();
        }
        if self.sources.as_mut().is_some_and(Sources::stops) && !self.log.is_bad() {
            for which in 0..self.stations.len() {
                self.change_sources(which, Sources::calm_change);
                let (mut scene, stations) = self.scene();
                if let Some(station) = stations.get_mut(which) {
                    station.stop(&mut scene);
                }
            }
        }
    }

    fn finish(mut self) -> Outcome {
        for station in &self.stations {
            station.count(&mut self.tally);
        }
        for (name, times) in self.server.fault_counts() {
            *self.tally.faults.entry(name).or_default() += times;
        }
        self.tally.writes = self.writers.written();
        let (trace, violation) = self.log.into_parts();
        Outcome {
            violation,
            tally: self.tally,
            trace,
        }
    }

    /// One random action.
    fn act(&mut self) {
        let which = self.random.index(self.stations.len());
        let few = 1 + self.random.index(6);
        self.change_sources(which, Sources::change);
        match self.random.below(40) {
            0..=7 => self.write(),
            8..=18 => {
                let (mut scene, stations) = self.scene();
                if let Some(station) = stations.get_mut(which) {
                    for _ in 0..few {
                        station.deliver(&mut scene);
                    }
                }
            }
            19..=25 => {
                let (mut scene, stations) = self.scene();
                if let Some(station) = stations.get_mut(which) {
                    station.advance(scene.now);
                    station.execute(&mut scene);
                }
            }
            26..=30 => self.observe(which, few),
            31..=33 => {
                let time = Duration::from_millis(1 + self.random.below(3_000));
                self.pass(time);
            }
            34 | 35 => {
                let deadline = self.stations.get(which).and_then(|it| it.next_deadline());
                let deadline = deadline.or_else(|| self.clock.next_deadline());
                self.pass_until(deadline.unwrap_or_default());
            }
            36 => {
                // A caller whose clock is behind.
                if let Some(station) = self.stations.get_mut(which) {
                    station.advance(Instant::default());
                }
            }
            37 => self.join_or_leave(which),
            38 => self.fault(which),
            _ => {
                self.drive_one(which);
            }
        }
    }

    /// Lets the sources of an informer come and go, if there can be several. Returns what happened.
    fn change_sources(
        &mut self,
        which: usize,
        draw: impl FnOnce(&mut Sources, &[Interest]) -> Option<Change>,
    ) -> Option<Change> {
        let (sources, station) = (self.sources.as_mut()?, self.stations.get(which)?);
        let current = station.interests();
        let change = draw(sources, &current)?;
        let (server, seed) = (self.server.clone(), sources.seed());
        let (mut scene, stations) = self.scene();
        let station = stations.get_mut(which)?;
        match change {
            Change::Remove(at) | Change::Renew(at, _) => station.remove_source(at, &mut scene),
            Change::Clear => current
                .iter()
                .for_each(|_| station.remove_source(0, &mut scene)),
            Change::Lag(at) => station.lag(at),
            Change::Add(_) => {}
        }
        if let Change::Add(interest) | Change::Renew(_, interest) = change {
            let target = interest.target().accepting(station.encodings());
            let transport = server.transport(&target, seed);
            station.add_source(interest, transport, &mut scene);
        }
        if let Change::Lag(_) = change {
            self.tally.fault("lagging-source");
        }
        Some(change)
    }

    /// Changes the sources of one informer while nothing else happens.
    fn change_calmly(&mut self) {
        if self.log.is_bad() {
            return;
        }
        let count = self.stations.len();
        let which = self.sources.as_mut().map_or(0, |it| it.index(count));
        let calm = match self.change_sources(which, Sources::calm_change) {
            Some(Change::Add(_)) => Calm::Added,
            Some(Change::Remove(_)) => Calm::Removed,
            _ => return,
        };
        for (at, station) in self.stations.iter_mut().enumerate() {
            station.expect((at == which).then_some(calm));
        }
        self.settle();
        for station in &mut self.stations {
            station.expect(None);
        }
    }

    fn write(&mut self) {
        let (writers, record) = (&mut self.writers, &mut self.record);
        let what = self.server.with(|server| writers.write(server, record));
        self.log.line(|| format!("users {what}"));
    }

    fn observe(&mut self, which: usize, most: usize) {
        let count = self.stations.get(which).map_or(0, |it| it.listeners());
        let listener = self.random.index(count);
        let (mut scene, stations) = self.scene();
        if let Some(station) = stations.get_mut(which) {
            station.observe(listener, most, &mut scene);
        }
    }

    fn join_or_leave(&mut self, which: usize) {
        let config = setup::listener(&mut self.random);
        let (joins, listener) = (self.random.one_in(2), self.random.index(4));
        let (mut scene, stations) = self.scene();
        let Some(station) = stations.get_mut(which) else {
            return;
        };
        if !joins {
            station.leave(listener, &mut scene);
        } else if station.listeners() < 4 {
            station.join(config, &mut scene);
        }
    }

    /// A fault that does not concern a single answer.
    fn fault(&mut self, which: usize) {
        let version = self.server.with(|server| server.version());
        let name = match self.random.below(8) {
            0 => {
                let back = self.random.below(10);
                let version = version.saturating_sub(back);
                self.server.with(|server| server.compact(version));
                "compact"
            }
            1 => {
                self.server.with(|server| server.forget_changes());
                "forget-changes"
            }
            2 => {
                self.server.with(|server| server.restart());
                "restart"
            }
            3 => {
                let time = Duration::from_secs(self.random.below(1_000));
                self.pass(time);
                "clock-jump"
            }
            4 => {
                let back = Duration::from_secs(self.random.below(100));
                let now = self.clock.now().since(Instant::default());
                let then = now.saturating_sub(back).max(Duration::from_secs(1));
                self.clock.set(Instant::default().after(then));
                "clock-jump-back"
            }
            5 | 6 => {
                let listener = self.random.index(4);
                if let Some(station) = self.stations.get_mut(which) {
                    station.stick(listener);
                }
                "stuck-handler"
            }
            _ => {
                if let Some(station) = self.stations.get_mut(which) {
                    station.reset();
                }
                "cut"
            }
        };
        self.log.line(|| format!("fault {name}"));
        self.tally.fault(name);
    }

    fn pass(&mut self, time: Duration) {
        self.pass_until(self.clock.now().after(time));
    }

    fn pass_until(&mut self, then: Instant) {
        if then > self.clock.now() {
            self.clock.set(then);
            self.log.line(|| format!("time {}", then.as_micros()));
        }
    }

    /// Injects no more faults, runs until nothing moves, and checks that everything agrees.
    fn settle(&mut self) {
        self.log.line(|| "settle".to_owned());
        self.server.set_faults(FaultPlan::none());
        for station in &mut self.stations {
            station.unstick();
        }
        for _ in 0..ROUNDS {
            let moved = self.drive();
            if self.log.is_bad() {
                return;
            }
            if moved || self.repair() {
                continue;
            }
            if self.stations.iter().all(|station| station.is_settled()) {
                return self.compare();
            }
            let deadlines = self.stations.iter().filter_map(|it| it.next_deadline());
            let next = deadlines.chain(self.clock.next_deadline());
            let next = next.filter(|deadline| *deadline > self.clock.now()).min();
            self.pass_until(next.unwrap_or_default());
        }
        let unsettled = self.stations.iter().find(|station| !station.is_settled());
        let status = unsettled.map(|station| station.status());
        let what = format!("it never settles: {}", status.unwrap_or_default());
        self.log.violation(what);
    }

    /// Lets every station do what it can do now. Returns whether anything moved.
    fn drive(&mut self) -> bool {
        let mut moved = false;
        for which in 0..self.stations.len() {
            moved |= self.drive_one(which);
        }
        moved
    }

    fn drive_one(&mut self, which: usize) -> bool {
        let (mut scene, stations) = self.scene();
        let Some(station) = stations.get_mut(which) else {
            return false;
        };
        let mut moved = false;
        station.advance(scene.now);
        station.execute(&mut scene);
        while !scene.log.is_bad() && station.deliver(&mut scene) {
            moved = true;
            station.execute(&mut scene);
        }
        let (mut scene, stations) = self.scene();
        let Some(station) = stations.get_mut(which) else {
            return false;
        };
        for listener in 0..station.listeners() {
            moved |= station.observe(listener, 64, &mut scene) > 0;
        }
        moved
    }

    /// Repairs what only others can: rewrites unreadable objects, and ends connections that would
    /// stay dead. Returns whether it did anything.
    fn repair(&mut self) -> bool {
        let unreadable = std::mem::take(&mut self.unreadable);
        for key in &unreadable {
            let (writers, record) = (&mut self.writers, &mut self.record);
            self.server
                .with(|server| writers.touch(server, record, key));
            self.log.line(|| format!("users write {key} again"));
        }
        let mut repaired = !unreadable.is_empty();
        let mut stations = self.stations.iter();
        if stations.any(|station| station.is_settled() && station.is_unswept()) {
            self.log.line(|| "restart, to be swept".to_owned());
            let several = self.sources.is_some();
            self.server.with(|server| {
                if several {
                    // All sources must relist, not only those whose watches have just begun.
                    server.skip_version();
                }
                server.restart();
            });
            repaired = true;
        }
        for station in &mut self.stations {
            if station.is_dead() {
                self.log.line(|| "cut what is dead".to_owned());
                station.reset();
                repaired = true;
            }
        }
        repaired
    }

    fn compare(&mut self) {
        self.tally.comparisons += 1;
        let objects: Vec<_> = self
            .server
            .with(|server| server.objects("pods").cloned().collect());
        for station in &mut self.stations {
            let mut scene = Scene {
                log: &mut self.log,
                record: &self.record,
                now: self.clock.now(),
            };
            station.compare(&objects, &mut scene);
        }
    }
}
