//! What an answer is cut into. Servers, proxies and networks all do it differently, so the seed
//! decides.

use informer_bench_pods::Random;

/// Gives the sizes of pieces.
#[derive(Clone, Debug)]
pub(crate) struct Cutter {
    random: Random,
    /// The usual size.
    bytes: usize,
    /// The most events of a busy watch that go together.
    events: u64,
}

impl Cutter {
    pub(crate) fn new(seed: u64) -> Self {
        let mut random = Random::new(seed, 3);
        Self {
            bytes: random.one_of(&[4, 8, 16, 32, 64, 128]) << 10,
            events: random.one_of(&[1, 2, 4, 8]),
            random,
        }
    }

    /// The size of the next piece.
    pub(crate) fn bytes(&mut self) -> usize {
        let half = self.bytes / 2;
        half + self.random.below(2 * self.bytes as u64) as usize
    }

    /// How many events go together.
    pub(crate) const fn events(&mut self) -> usize {
        1 + self.random.below(self.events) as usize
    }

    pub(crate) fn describe(&self) -> String {
        let (least, most) = (self.bytes / 2048, (self.bytes / 2 + 2 * self.bytes) / 1024);
        let events = self.events;
        format!("pieces of {least} to {most} KiB, 1 to {events} events at once at full speed")
    }
}
