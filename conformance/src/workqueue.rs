//! The family `workqueue`: limiters alone, the queue alone, and the queue with time and a limiter.

use core::time::Duration;

use informer_core::Instant;
use informer_core::storage::{Full, Heap, Seed};
use informer_core::workqueue::{
    ControllerLimiter, Exponential, FastSlow, MaxOf, MaxWait, RateLimiter, ShutDown, StrayDone,
    TokenBucket, Workqueue, controller_limiter,
};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::vector::{Case, Mismatch};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Config {
    limiter: Option<LimiterConfig>,
}

#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
enum LimiterConfig {
    Exponential {
        #[serde(default)]
        base_ms: u64,
        #[serde(default)]
        max_ms: u64,
    },
    FastSlow {
        #[serde(default)]
        fast_ms: u64,
        #[serde(default)]
        slow_ms: u64,
        #[serde(default)]
        max_fast: u32,
    },
    Bucket {
        #[serde(default)]
        qps: f64,
        #[serde(default)]
        burst: u32,
    },
    MaxOf {
        limiters: Vec<Self>,
    },
    MaxWait {
        #[serde(default)]
        max_ms: u64,
        limiters: [Box<Self>; 1],
    },
    DefaultController,
}

#[derive(Deserialize)]
#[serde(tag = "op", rename_all = "snake_case", deny_unknown_fields)]
enum Op {
    When { item: String },
    Forget { item: String },
    NumRequeues { item: String },
    Advance { ms: u64 },
    Add { item: String },
    AddAfter { item: String, ms: i64 },
    AddRateLimited { item: String },
    Get,
    Done { item: String },
    Shutdown,
    ShutdownWithDrain,
}

/// Which part the case is about.
#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    RateLimiter,
    Queue,
    RateLimitingQueue,
}

/// A limiter built from the case. Nesting uses our own types.
enum Limiter {
    Exponential(Exponential<String, Heap>),
    FastSlow(FastSlow<String, Heap>),
    Bucket(TokenBucket),
    MaxOf(Box<MaxOf<Self, Self>>),
    MaxWait(Box<MaxWait<Self>>),
    DefaultController(ControllerLimiter<String, Heap>),
}

impl Limiter {
    fn new(config: LimiterConfig) -> Result<Self, String> {
        let ms = Duration::from_millis;
        let seed = Seed::new(1);
        Ok(match config {
            LimiterConfig::Exponential { base_ms, max_ms } => {
                Self::Exponential(Exponential::new(ms(base_ms), ms(max_ms), seed))
            }
            LimiterConfig::FastSlow {
                fast_ms,
                slow_ms,
                max_fast,
            } => Self::FastSlow(FastSlow::new(ms(fast_ms), ms(slow_ms), max_fast, seed)),
            LimiterConfig::Bucket { qps, burst } => Self::Bucket(TokenBucket::new(qps, burst)),
            LimiterConfig::MaxOf { limiters } => {
                let limiters: Result<Vec<_>, _> = limiters.into_iter().map(Self::new).collect();
                let both = |a, b| Self::MaxOf(Box::new(MaxOf::new(a, b)));
                let all = limiters?.into_iter().reduce(both);
                all.ok_or("config: max_of without a limiter")?
            }
            LimiterConfig::MaxWait {
                max_ms,
                limiters: [limiter],
            } => Self::MaxWait(Box::new(MaxWait::new(Self::new(*limiter)?, ms(max_ms)))),
            LimiterConfig::DefaultController => Self::DefaultController(controller_limiter(seed)),
        })
    }

    fn as_dyn(&self) -> &dyn RateLimiter<String> {
        match self {
            Self::Exponential(limiter) => limiter,
            Self::FastSlow(limiter) => limiter,
            Self::Bucket(limiter) => limiter,
            Self::MaxOf(limiter) => &**limiter,
            Self::MaxWait(limiter) => &**limiter,
            Self::DefaultController(limiter) => limiter,
        }
    }

    fn as_dyn_mut(&mut self) -> &mut dyn RateLimiter<String> {
        match self {
            Self::Exponential(limiter) => limiter,
            Self::FastSlow(limiter) => limiter,
            Self::Bucket(limiter) => limiter,
            Self::MaxOf(limiter) => &mut **limiter,
            Self::MaxWait(limiter) => &mut **limiter,
            Self::DefaultController(limiter) => limiter,
        }
    }
}

impl RateLimiter<String> for Limiter {
    fn reserve(&mut self, item: &String) -> Result<(), Full> {
        self.as_dyn_mut().reserve(item)
    }

    fn when(&mut self, item: &String, now: Instant) -> Result<Duration, Full> {
        self.as_dyn_mut().when(item, now)
    }

    fn forget(&mut self, item: &String) {
        self.as_dyn_mut().forget(item);
    }

    fn attempts(&self, item: &String) -> u32 {
        self.as_dyn().attempts(item)
    }
}

pub(crate) fn replay(case: &Case) -> Result<(), Mismatch> {
    let (kind, limiter) = read(case).map_err(Mismatch::before_the_steps)?;
    if kind == Kind::RateLimiter {
        let mut run = LimiterRun { limiter, ms: 0 };
        return case.replay(|op| run.play(op));
    }
    let queue = Workqueue::new(Seed::new(1))
        .with_stray_done(StrayDone::Requeue)
        .with_limiter(limiter);
    let mut run = QueueRun {
        queue,
        ms: 0,
        tells_time: kind == Kind::RateLimitingQueue,
        draining: false,
    };
    case.replay(|op| run.play(op))
}

fn read(case: &Case) -> Result<(Kind, Limiter), String> {
    let kind = case.rest.get("kind").unwrap_or(&Value::Null);
    let kind = Kind::deserialize(kind).map_err(|error| format!("kind: {error}"))?;
    let config: Config = case.config()?;
    let limiter = match config.limiter {
        Some(limiter) => limiter,
        // It is never used.
        None if kind == Kind::Queue => LimiterConfig::DefaultController,
        None => return Err("config: missing limiter".to_owned()),
    };
    Ok((kind, Limiter::new(limiter)?))
}

fn at(ms: u64) -> Instant {
    Instant::default().after(Duration::from_millis(ms))
}

struct LimiterRun {
    limiter: Limiter,
    ms: u64,
}

impl LimiterRun {
    fn play(&mut self, op: Op) -> Result<Value, String> {
        let mut answer = Map::new();
        match op {
            // The vectors tolerate rounding differences, but ours gives the same bits.
            Op::When { item } => {
                let delay = self.limiter.when(&item, at(self.ms)).map_err(text)?;
                answer.insert("delay_ns".to_owned(), json!(nanoseconds(delay)));
            }
            Op::Forget { item } => self.limiter.forget(&item),
            Op::NumRequeues { item } => {
                answer.insert("n".to_owned(), json!(self.limiter.attempts(&item)));
            }
            Op::Advance { ms } => self.ms += ms,
            _ => return Err("not a step for a limiter".to_owned()),
        }
        answer.insert("t_ms".to_owned(), json!(self.ms));
        Ok(Value::Object(answer))
    }
}

struct QueueRun {
    queue: Workqueue<String, Limiter, Heap>,
    ms: u64,
    tells_time: bool,
    draining: bool,
}

impl QueueRun {
    fn play(&mut self, op: Op) -> Result<Value, String> {
        let now = at(self.ms);
        let mut answer = Map::new();
        match op {
            Op::Add { item } => self.queue.add(item, now).map_err(text)?,
            Op::AddAfter { item, ms } => {
                let delay = Duration::from_millis(u64::try_from(ms).unwrap_or(0));
                self.queue.add_after(item, delay, now).map_err(text)?;
            }
            Op::AddRateLimited { item } => self.queue.retry(item, now).map_err(text)?,
            Op::Forget { item } => self.queue.forget(&item),
            Op::NumRequeues { item } => {
                answer.insert("n".to_owned(), json!(self.queue.attempts(&item)));
            }
            Op::Get => match self.queue.take(now) {
                Some(item) => {
                    answer.insert("item".to_owned(), json!(item));
                    answer.insert("shutdown".to_owned(), json!(false));
                }
                None => {
                    let name = if self.queue.is_shutting_down() {
                        "shutdown"
                    } else {
                        "would_block"
                    };
                    answer.insert(name.to_owned(), json!(true));
                }
            },
            Op::Done { item } => self.queue.done(&item, now),
            Op::Shutdown => self.queue.shut_down(ShutDown::Now, now),
            Op::ShutdownWithDrain => {
                self.draining = true;
                self.queue.shut_down(ShutDown::DrainTaken, now);
            }
            Op::Advance { ms } => {
                self.ms += ms;
                self.queue.advance(at(self.ms));
            }
            Op::When { .. } => return Err("not a step for a queue".to_owned()),
        }
        answer.insert("len".to_owned(), json!(self.queue.len()));
        let shutting_down = self.queue.is_shutting_down();
        answer.insert("shutting_down".to_owned(), json!(shutting_down));
        if self.draining {
            answer.insert("drained".to_owned(), json!(self.queue.is_drained()));
        }
        if self.tells_time {
            answer.insert("t_ms".to_owned(), json!(self.ms));
        }
        Ok(Value::Object(answer))
    }
}

/// client-go counts nanoseconds in 63 bits, and its largest number means "forever".
fn nanoseconds(delay: Duration) -> i64 {
    i64::try_from(delay.as_nanos()).unwrap_or(i64::MAX)
}

fn text(full: Full) -> String {
    full.to_string()
}
