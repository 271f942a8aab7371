//! The family `real_fifo` in its atomic mode: the queue that keeps every change in order.

use informer_core::queue::{FullState, InOrderQueue, Queued, Transform};
use informer_core::storage::Seed;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::delta_fifo::{admit, error_kind};
use crate::vector::{Case, Mismatch, Objects, Ref, Thing, TransformName, tombstone};

#[derive(Deserialize)]
struct Config {
    emit_bookmark: bool,
    #[serde(default)]
    transform: TransformName,
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
        rv: String,
    },
    Bookmark {
        rv: String,
    },
    Resync,
    Pop {
        #[serde(default)]
        fail: bool,
    },
    PopBatch {
        #[serde(default)]
        fail: bool,
    },
    Close,
    HasSynced,
}

/// Whether the case uses the non-atomic mode, which we do not have.
pub(crate) fn is_plain(case: &Case) -> bool {
    case.config.get("atomic") == Some(&Value::Bool(false))
}

pub(crate) fn replay(case: &Case) -> Result<(), Mismatch> {
    let config: Config = case.config().map_err(Mismatch::before_the_steps)?;
    let mut run = Run {
        objects: &case.objects,
        transform: config.transform.function(),
        queue: InOrderQueue::new(Seed::new(1)).with_bookmarks(config.emit_bookmark),
    };
    case.replay(|op| run.play(op))
}

struct Run<'a> {
    objects: &'a Objects,
    transform: Option<Transform<Thing>>,
    queue: InOrderQueue<Thing>,
}

impl Run<'_> {
    fn play(&mut self, op: Op) -> Result<Value, String> {
        let queue = &mut self.queue;
        let admit = |object| admit(self.transform.as_ref(), object);
        let done = match op {
            Op::Add { obj } => admit(self.objects.get(obj)?)
                .inspect_err(|_| queue.populate())
                .map(|object| queue.add(object)),
            Op::Update { obj } => admit(self.objects.get(obj)?)
                .inspect_err(|_| queue.populate())
                .map(|object| queue.update(object)),
            Op::Delete { obj } => admit(self.objects.get(obj)?)
                .inspect_err(|_| queue.populate())
                .map(|object| queue.delete(object)),
            Op::DeleteTombstone { key, obj } => {
                let last = obj.map(|obj| self.objects.get(obj)).transpose()?;
                queue.delete_as(tombstone(&key, last));
                Ok(())
            }
            Op::Replace { list, rv } => {
                let list = self.objects.get_all(&list)?;
                let objects: Result<_, _> = list.into_iter().map(admit).collect();
                objects.map(|objects| {
                    queue.replace(FullState {
                        objects,
                        unreadable: Vec::new(),
                        gone: Vec::new(),
                        complete: true,
                        version: Some(rv),
                    });
                })
            }
            Op::Bookmark { rv } => {
                queue.bookmark(&rv);
                Ok(())
            }
            Op::Resync => {
                queue.resync();
                Ok(())
            }
            Op::Pop { fail } => {
                let popped = self.queue.pop().map(
                    |(entry, initial)| json!({"deltas": [self.entry(&entry)], "initial": initial}),
                );
                return Ok(self.popped(popped, fail));
            }
            Op::PopBatch { fail } => {
                let popped = self.queue.pop_batch().map(|batch| {
                    let how = if batch.entries.len() == 1 {
                        "single"
                    } else {
                        "batch"
                    };
                    let deltas: Value = batch.entries.iter().map(|e| self.entry(e)).collect();
                    json!({"deltas": deltas, "initial": batch.initial, "how": how})
                });
                return Ok(self.popped(popped, fail));
            }
            Op::Close => {
                queue.close();
                Ok(())
            }
            Op::HasSynced => Ok(()),
        };
        let mut answer = Map::new();
        answer.insert("err".to_owned(), json!(error_kind(done.map(Ok))?));
        Ok(self.with_state(answer))
    }

    /// The answer to a pop with a handler that fails or not.
    fn popped(&self, popped: Option<Value>, fail: bool) -> Value {
        let mut answer = Map::new();
        let error = match &popped {
            Some(_) if fail => Some("handler"),
            None if self.queue.is_closed() => Some("closed"),
            Some(_) => None,
            None => {
                answer.insert("would_block".to_owned(), json!(true));
                None
            }
        };
        answer.insert("err".to_owned(), json!(error));
        if let Some(popped) = popped {
            answer.insert("popped".to_owned(), popped);
        }
        self.with_state(answer)
    }

    /// Adds the state of the queue, which every answer contains.
    fn with_state(&self, mut answer: Map<String, Value>) -> Value {
        let items: Value = self.queue.iter().map(|entry| self.entry(entry)).collect();
        answer.insert("items".to_owned(), items);
        answer.insert("synced".to_owned(), json!(self.queue.is_synced()));
        Value::Object(answer)
    }

    fn entry(&self, entry: &Queued<Thing>) -> Value {
        match entry {
            Queued::Delta(delta) => self.objects.delta(delta),
            Queued::ReplacedAll(state) => {
                let list = self.objects.numbers(&state.objects);
                json!({"t": "ReplacedAll", "list": list, "rv": state.version})
            }
            Queued::SyncAll => json!({"t": "SyncAll"}),
            Queued::Bookmark(version) => json!({"t": "Bookmark", "rv": version}),
        }
    }
}
