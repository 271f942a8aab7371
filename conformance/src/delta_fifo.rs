//! The family `delta_fifo`: the queue that groups changes by key.

use informer_core::indexer::{Indexer, Rules};
use informer_core::queue::{DeltaFifo, Epoch, KnownObjects, NothingKnown, QueueError, ReplaceAs};
use informer_core::storage::{Full, Heap, Seed};
use informer_core::{ObjectKey, Resource};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::vector::{Case, Mismatch, Objects, Ref, Thing, TransformName, tombstone};

#[derive(Deserialize)]
struct Config {
    known: Known,
    #[serde(default)]
    known_init: Vec<Ref>,
    emit_replaced: bool,
    #[serde(default)]
    transform: TransformName,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Known {
    None,
    Indexer,
}

#[derive(Deserialize)]
#[serde(tag = "op", rename_all = "snake_case", deny_unknown_fields)]
enum Op {
    Add {
        obj: Ref,
    },
    Update {
        obj: Ref,
    },
    Delete {
        obj: Ref,
    },
    DeleteTombstone {
        key: String,
        obj: Option<Ref>,
    },
    Replace {
        list: Vec<Ref>,
        #[expect(dead_code, reason = "this queue has no use for the version")]
        rv: String,
    },
    Resync,
    Pop {
        #[serde(default)]
        fail: bool,
    },
    Close,
    HasSynced,
}

pub(crate) fn replay(case: &Case) -> Result<(), Mismatch> {
    let config: Config = case.config().map_err(Mismatch::before_the_steps)?;
    let mut run = Run::new(&case.objects, &config).map_err(Mismatch::before_the_steps)?;
    case.replay(|op| run.play(op))
}

/// A queue and, if the case has one, the store that its consumer keeps.
struct Run<'a> {
    objects: &'a Objects,
    fifo: DeltaFifo<Thing, Heap>,
    store: Option<Indexer<Thing, Heap>>,
}

impl<'a> Run<'a> {
    fn new(objects: &'a Objects, config: &Config) -> Result<Self, String> {
        let emit = if config.emit_replaced {
            ReplaceAs::Replaced
        } else {
            ReplaceAs::Sync
        };
        let mut fifo = DeltaFifo::new(Seed::new(1)).with_replace_as(emit);
        if let Some(transform) = config.transform.function() {
            fifo = fifo.with_transform(transform);
        }
        let store = match config.known {
            Known::None => None,
            Known::Indexer => {
                let mut store = Indexer::new(Seed::new(2));
                for object in objects.get_all(&config.known_init)? {
                    store.put(object).map_err(|full| full.to_string())?;
                }
                Some(store)
            }
        };
        Ok(Self {
            objects,
            fifo,
            store,
        })
    }

    fn play(&mut self, op: Op) -> Result<Value, String> {
        let known = View(self.store.as_ref());
        let done = match op {
            Op::Add { obj } => self.fifo.add(self.objects.get(obj)?),
            Op::Update { obj } => self.fifo.update(self.objects.get(obj)?),
            Op::Delete { obj } => self.fifo.delete(self.objects.get(obj)?, &known),
            Op::DeleteTombstone { key, obj } => {
                let last = obj.map(|obj| self.objects.get(obj)).transpose()?;
                let done = self.fifo.delete_as(tombstone(&key, last), &known);
                done.map_err(QueueError::from)
            }
            Op::Replace { list, .. } => {
                let list = self.objects.get_all(&list)?;
                self.fifo.replace(list, &known)
            }
            Op::Resync => self.fifo.resync(&known).map_err(QueueError::from),
            Op::Pop { fail } => {
                let popped = self.pop(fail)?;
                return Ok(self.with_state(popped));
            }
            Op::Close => {
                self.fifo.close();
                Ok(())
            }
            Op::HasSynced => Ok(()),
        };
        let mut answer = Map::new();
        answer.insert("err".to_owned(), json!(error_kind(done)?));
        Ok(self.with_state(answer))
    }

    /// Pops once, and does with the deltas what an informer does, unless the handler is to fail.
    fn pop(&mut self, fail: bool) -> Result<Map<String, Value>, String> {
        let mut answer = Map::new();
        let key = self.fifo.keys().next().cloned();
        if let Some(popped) = self.fifo.pop() {
            let (initial, seen) = (popped.is_initial(), popped.seen());
            let deltas: Vec<_> = popped.collect();
            let key = key.map(|key| key.to_string());
            let shown = self.objects.deltas(&deltas);
            let popped = json!({"key": key, "deltas": shown, "initial": initial});
            answer.insert("popped".to_owned(), popped);
            answer.insert("err".to_owned(), json!(fail.then_some("handler")));
            if !fail && let Some(store) = &mut self.store {
                let mut notes = Vec::new();
                for delta in deltas {
                    let applied = store.apply(delta, initial, seen, Rules::client_go());
                    let applied = applied.map_err(|full| full.to_string())?;
                    notes.extend(applied.into_iter().map(|n| self.objects.notification(&n)));
                }
                answer.insert("notes".to_owned(), notes.into());
            }
        } else if self.fifo.is_closed() {
            answer.insert("err".to_owned(), json!("closed"));
        } else {
            answer.insert("err".to_owned(), Value::Null);
            answer.insert("would_block".to_owned(), json!(true));
            return Ok(answer);
        }
        if let Some(store) = &self.store {
            answer.insert("known".to_owned(), self.objects.by_key(store.iter()));
        }
        Ok(answer)
    }

    /// Adds what every answer tells about the queue.
    fn with_state(&self, mut answer: Map<String, Value>) -> Value {
        let keys: Vec<_> = self.fifo.keys().collect();
        let chain = |key: &&ObjectKey| {
            let deltas = self.objects.deltas(self.fifo.deltas(key));
            (key.as_str().to_owned(), deltas)
        };
        let deltas: Map<_, _> = keys.iter().map(chain).collect();
        let queue: Vec<_> = keys.iter().map(|key| key.as_str()).collect();
        answer.insert("queue".to_owned(), json!(queue));
        answer.insert("deltas".to_owned(), Value::Object(deltas));
        answer.insert("synced".to_owned(), json!(self.fifo.is_synced()));
        Value::Object(answer)
    }
}

/// The vectors' word for an error of a queue.
pub(crate) fn error_kind(done: Result<(), QueueError>) -> Result<Option<&'static str>, String> {
    match done {
        Ok(()) => Ok(None),
        Err(QueueError::Transform(_)) => Ok(Some("transform")),
        Err(error) => Err(error.to_string()),
    }
}

/// The known objects. A view visits them in the order of its slots; the recorded store lists its keys
/// in sorted order, which decides the order of the queue.
struct View<'a>(Option<&'a Indexer<Thing, Heap>>);

impl KnownObjects<Thing> for View<'_> {
    fn newest(&self) -> Epoch {
        self.0.map_or(Epoch::NEVER, |store| store.newest())
    }

    fn knows(&self, key: &ObjectKey) -> bool {
        match self.0 {
            Some(store) => (**store).knows(key),
            None => KnownObjects::<Thing>::knows(&NothingKnown, key),
        }
    }

    fn each(&self, visit: &mut dyn FnMut(&Thing, Epoch) -> Result<(), Full>) -> Result<(), Full> {
        let Some(store) = self.0 else {
            return NothingKnown.each(visit);
        };
        let mut all = Vec::new();
        (**store).each(&mut |object, seen| {
            all.push((object.clone(), seen));
            Ok(())
        })?;
        all.sort_by(|(a, _), (b, _)| a.key().cmp(b.key()));
        all.iter()
            .try_for_each(|(object, seen)| visit(object, *seen))
    }
}
