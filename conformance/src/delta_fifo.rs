//! The family `delta_fifo`: the queue that groups changes by key.

use informer_core::ObjectKey;
use informer_core::flow::Step;
use informer_core::indexer::{Indexer, Rules};
use informer_core::queue::{DeltaFifo, Epoch, Known, ReplaceAs, Transform, TransformError};
use informer_core::storage::{Full, Heap, Seed};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::vector::{Case, Mismatch, Objects, Ref, Thing, TransformName, tombstone};

#[derive(Deserialize)]
struct Config {
    known: Consumer,
    #[serde(default)]
    known_init: Vec<Ref>,
    emit_replaced: bool,
    #[serde(default)]
    transform: TransformName,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Consumer {
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
        #[expect(dead_code, reason = "this queue ignores the version")]
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

/// A queue, the transform before it, and the consumer's store, if the case has one.
struct Run<'a> {
    objects: &'a Objects,
    transform: Option<Transform<Thing>>,
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
        let fifo = DeltaFifo::new(Seed::new(1)).with_replace_as(emit);
        let store = match config.known {
            Consumer::None => None,
            Consumer::Indexer => {
                let mut store = Indexer::new(Seed::new(2));
                for object in objects.get_all(&config.known_init)? {
                    store.put(object).map_err(|full| full.to_string())?;
                }
                Some(store)
            }
        };
        Ok(Self {
            objects,
            transform: config.transform.function(),
            fifo,
            store,
        })
    }

    fn play(&mut self, op: Op) -> Result<Value, String> {
        let known = View::new(self.store.as_ref());
        let fifo = &mut self.fifo;
        let transform = self.transform.as_ref();
        let refused = match op {
            Op::Add { obj } => admit(transform, self.objects.get(obj)?)
                .inspect_err(|_| fifo.populate())
                .map(|object| fifo.add(object).map_err(full)),
            Op::Update { obj } => admit(transform, self.objects.get(obj)?)
                .inspect_err(|_| fifo.populate())
                .map(|object| fifo.update(object).map_err(full)),
            Op::Delete { obj } => {
                let object = self.objects.get(obj)?;
                // A change of an unknown object that is not queued is ignored before the transform
                // sees it.
                let is_news = known.get(object.key()).is_some()
                    || fifo.keys().any(|queued| queued == object.key());
                admit(transform.filter(|_| is_news), object)
                    .inspect_err(|_| fifo.populate())
                    .map(|object| fifo.delete(object, &known).map_err(full))
            }
            Op::DeleteTombstone { key, obj } => {
                let last = obj.map(|obj| self.objects.get(obj)).transpose()?;
                Ok(fifo.delete_as(tombstone(&key, last), &known).map_err(full))
            }
            Op::Replace { list, .. } => {
                let list = self.objects.get_all(&list)?;
                replace(fifo, list, transform, &known)
            }
            Op::Resync => Ok(fifo.resync(&known).map_err(full)),
            Op::Pop { fail } => {
                let popped = self.pop(fail)?;
                return Ok(self.with_state(popped));
            }
            Op::Close => {
                fifo.close();
                Ok(Ok(()))
            }
            Op::HasSynced => Ok(Ok(())),
        };
        let mut answer = Map::new();
        answer.insert("err".to_owned(), json!(error_kind(refused)?));
        Ok(self.with_state(answer))
    }

    /// Pops once and processes the deltas like an informer, unless the handler has to fail.
    fn pop(&mut self, fail: bool) -> Result<Map<String, Value>, String> {
        let mut answer = Map::new();
        let key = self.fifo.keys().next().cloned();
        if let Some(popped) = self.fifo.pop() {
            let steps: Vec<_> = popped.collect();
            let initial = steps.iter().any(is_initial);
            let deltas: Vec<_> = steps.iter().cloned().filter_map(Step::into_delta).collect();
            let key = key.map(|key| key.to_string());
            let shown = self.objects.deltas(&deltas);
            let popped = json!({"key": key, "deltas": shown, "initial": initial});
            answer.insert("popped".to_owned(), popped);
            answer.insert("err".to_owned(), json!(fail.then_some("handler")));
            if !fail && let Some(store) = &mut self.store {
                let mut notes = Vec::new();
                for step in steps {
                    let applied = store.apply(step, Rules::client_go());
                    notes.extend(applied.notifications.map(|n| self.objects.notification(&n)));
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

    /// Adds the state of the queue, which every answer contains.
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

fn is_initial(step: &Step<Thing>) -> bool {
    matches!(step, Step::Delta { initial: true, .. })
}

/// Runs the transform before the queue.
pub(crate) fn admit(
    transform: Option<&Transform<Thing>>,
    mut object: Thing,
) -> Result<Thing, TransformError> {
    if let Some(transform) = transform {
        transform.apply(&mut object)?;
    }
    Ok(object)
}

/// A full state whose objects pass the transform one by one.
fn replace(
    fifo: &mut DeltaFifo<Thing, Heap>,
    objects: Vec<Thing>,
    transform: Option<&Transform<Thing>>,
    known: &View,
) -> Result<Result<(), String>, TransformError> {
    fifo.begin_replace(known);
    for object in objects {
        let admitted = admit(transform, object).inspect_err(|_| fifo.abandon_replace())?;
        if let Err(error) = fifo.replace_item(admitted) {
            return Ok(Err(full(error)));
        }
    }
    Ok(fifo.end_replace(known).map_err(full))
}

fn full(full: Full) -> String {
    full.to_string()
}

/// The vectors' word for a failed transform.
pub(crate) fn error_kind(
    done: Result<Result<(), String>, TransformError>,
) -> Result<Option<&'static str>, String> {
    match done {
        Ok(done) => done.map(|()| None),
        Err(_) => Ok(Some("transform")),
    }
}

/// The known objects in key order. A store visits its objects in slot order, but the recorded store
/// lists keys sorted, and that decides the order of the queue.
struct View {
    newest: Epoch,
    objects: Vec<(Thing, Epoch)>,
}

impl View {
    fn new(store: Option<&Indexer<Thing, Heap>>) -> Self {
        let Some(store) = store else {
            return Self {
                newest: Epoch::NEVER,
                objects: Vec::new(),
            };
        };
        let at = |place| store.at(place).map(|(object, seen)| (object.clone(), seen));
        let mut objects: Vec<_> = (0..store.places()).filter_map(at).collect();
        objects.sort_by(|(a, _), (b, _)| a.key().cmp(b.key()));
        Self {
            newest: store.newest(),
            objects,
        }
    }
}

impl Known<Thing> for View {
    fn newest(&self) -> Epoch {
        self.newest
    }

    fn get(&self, key: &ObjectKey) -> Option<&Thing> {
        let mut objects = self.objects.iter().map(|(object, _)| object);
        objects.find(|object| object.key() == key)
    }

    fn places(&self) -> u32 {
        u32::try_from(self.objects.len()).unwrap_or(u32::MAX)
    }

    fn at(&self, place: u32) -> Option<(&Thing, Epoch)> {
        let (object, seen) = self.objects.get(place as usize)?;
        Some((object, *seen))
    }
}
