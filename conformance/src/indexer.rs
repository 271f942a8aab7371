//! The family `indexer`: the store and its indices.

use alloc::collections::{BTreeMap, BTreeSet};

use informer_core::Resource;
use informer_core::indexer::{IndexError, IndexFn, Indexer};
use informer_core::storage::{Full, Heap, Seed};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::vector::{Case, Mismatch, Objects, Ref, Thing};

#[derive(Deserialize)]
struct Config {
    key_func: KeyFunction,
    #[serde(default)]
    indexers: Indexers,
}

/// Index functions by index name.
type Indexers = BTreeMap<String, IndexFunction>;

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum KeyFunction {
    MetaNamespace,
    Dashes,
}

#[derive(Clone, Copy, Deserialize)]
enum IndexFunction {
    #[serde(rename = "by_namespace")]
    Namespace,
    #[serde(rename = "by_app")]
    App,
    #[serde(rename = "by_label_value")]
    LabelValue,
    #[serde(rename = "by_nothing")]
    Nothing,
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
        #[expect(dead_code, reason = "a store ignores the object in a tombstone")]
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
    AddIndexers {
        indexers: Indexers,
    },
    Get {
        obj: Ref,
    },
    GetByKey {
        key: String,
    },
    List,
    ListKeys,
    Index {
        index: String,
        obj: Ref,
    },
    ByIndex {
        index: String,
        value: String,
    },
    IndexKeys {
        index: String,
        value: String,
    },
    ListIndexFuncValues {
        index: String,
    },
}

/// An object with the case's own key function, which is a `Resource` here.
#[derive(Clone)]
struct Filed {
    key: String,
    thing: Thing,
}

impl Resource for Filed {
    type Key = String;

    fn key(&self) -> &String {
        &self.key
    }

    fn uid(&self) -> &str {
        self.thing.uid()
    }

    fn version(&self) -> &str {
        self.thing.version()
    }

    fn labels(&self, visit: &mut dyn FnMut(&str, &str)) {
        Resource::labels(&self.thing, visit);
    }
}

impl KeyFunction {
    fn file(self, thing: Thing) -> Filed {
        let key = match self {
            Self::MetaNamespace => thing.key().to_string(),
            Self::Dashes => format!("{}---{}", thing.key().namespace(), thing.key().name()),
        };
        Filed { key, thing }
    }
}

impl IndexFunction {
    fn function(self) -> IndexFn<Filed> {
        match self {
            Self::Namespace => IndexFn::new(|filed: &Filed, file| {
                file(filed.thing.key().namespace().as_bytes());
            }),
            Self::App => IndexFn::new(|filed: &Filed, file| {
                if let Some(app) = filed.thing.labels().get("app") {
                    file(app.as_bytes());
                }
            }),
            Self::LabelValue => IndexFn::new(|filed: &Filed, file| {
                filed.labels(&mut |_, value| file(value.as_bytes()));
            }),
            Self::Nothing => IndexFn::new(|_, _| {}),
        }
    }
}

pub(crate) fn replay(case: &Case) -> Result<(), Mismatch> {
    let config: Config = case.config().map_err(Mismatch::before_the_steps)?;
    let mut run = Run {
        objects: &case.objects,
        key_func: config.key_func,
        store: Indexer::new(Seed::new(1)),
        names: BTreeSet::new(),
    };
    match run.add_indexers(&config.indexers) {
        Ok(None) => case.replay(|op| run.play(op)),
        Ok(Some(error)) => Err(Mismatch::before_the_steps(error.to_owned())),
        Err(error) => Err(Mismatch::before_the_steps(error)),
    }
}

struct Run<'a> {
    objects: &'a Objects,
    key_func: KeyFunction,
    store: Indexer<Filed, Heap>,
    /// Every index name that the case tried to add, successfully or not.
    names: BTreeSet<String>,
}

impl Run<'_> {
    fn play(&mut self, op: Op) -> Result<Value, String> {
        let full = |full: Full| full.to_string();
        match op {
            // A store treats both the same.
            Op::Add { obj } | Op::Update { obj } => {
                let object = self.object(obj)?;
                self.store.put(object).map_err(full)?;
            }
            Op::Delete { obj } => {
                // client-go's `Delete` takes an object and adopts its version. Ours takes a key,
                // and the caller sets the version, as our informer does.
                let object = self.object(obj)?;
                self.store.set_version(object.version()).map_err(full)?;
                self.store.remove(&object.key);
            }
            Op::DeleteTombstone { key, .. } => {
                self.store.remove(&key);
            }
            Op::Replace { list, rv } => {
                let list: Result<Vec<_>, _> = list.iter().map(|obj| self.object(*obj)).collect();
                self.store.replace(list?, &rv).map_err(full)?;
            }
            Op::Bookmark { rv } => self.store.set_version(&rv).map_err(full)?,
            // A store does nothing here.
            Op::Resync => {}
            Op::AddIndexers { indexers } => {
                let error = self.add_indexers(&indexers)?;
                return Ok(json!({"err": error, "state": self.state()?}));
            }
            Op::Get { obj } => {
                let key = self.object(obj)?.key;
                return Ok(self.get(&key));
            }
            Op::GetByKey { key } => return Ok(self.get(&key)),
            Op::List => return Ok(json!({"err": null, "objs": self.show(self.store.iter())})),
            Op::ListKeys => return Ok(json!({"err": null, "keys": keys(self.store.iter())})),
            Op::Index { index, obj } => {
                let mut found = Vec::new();
                let object = self.object(obj)?;
                let asked = self.store.matching(index.as_str(), &object, |filed| {
                    found.push(filed.clone());
                });
                return Ok(match asked {
                    Ok(()) => json!({"err": null, "objs": self.show(&found)}),
                    Err(_) => unknown_index(),
                });
            }
            Op::ByIndex { index, value } => {
                return Ok(match self.store.by_index(index.as_str(), value) {
                    Ok(found) => json!({"err": null, "objs": self.show(found)}),
                    Err(_) => unknown_index(),
                });
            }
            Op::IndexKeys { index, value } => {
                return Ok(match self.store.by_index(index.as_str(), value) {
                    Ok(found) => json!({"err": null, "keys": keys(found)}),
                    Err(_) => unknown_index(),
                });
            }
            Op::ListIndexFuncValues { index } => {
                // client-go returns an empty list if there is no such index.
                let values = self.store.index_values(index.as_str());
                let mut values: Vec<_> = values.into_iter().flatten().map(text).collect();
                values.sort_unstable();
                return Ok(json!({"err": null, "values": values}));
            }
        }
        Ok(json!({"err": null, "state": self.state()?}))
    }

    fn object(&self, number: Ref) -> Result<Filed, String> {
        Ok(self.key_func.file(self.objects.get(number)?))
    }

    /// Adds all or none. Returns the vectors' word for the error.
    fn add_indexers(&mut self, indexers: &Indexers) -> Result<Option<&'static str>, String> {
        self.names.extend(indexers.keys().cloned());
        let named = indexers.iter();
        let indices: Vec<_> = named
            .map(|(name, f)| (name.as_str(), f.function()))
            .collect();
        match self.store.add_indices(&indices) {
            Ok(()) => Ok(None),
            Err(IndexError::NameTaken(_)) => Ok(Some("conflict")),
            Err(error) => Err(error.to_string()),
        }
    }

    fn get(&self, key: &String) -> Value {
        let found = self.store.get(key);
        let obj = found.map(|filed| self.objects.number(&filed.thing));
        json!({"err": null, "exists": found.is_some(), "obj": obj})
    }

    /// The numbers of the objects, in key order.
    fn show<'a>(&self, found: impl IntoIterator<Item = &'a Filed>) -> Value {
        let mut found: Vec<_> = found.into_iter().collect();
        found.sort_by(|a, b| a.key.cmp(&b.key));
        self.objects
            .numbers(found.into_iter().map(|filed| &filed.thing))
    }

    fn state(&self) -> Result<Value, String> {
        let number = |filed: &Filed| (filed.key.clone(), self.objects.number(&filed.thing));
        let items: Map<_, _> = self.store.iter().map(number).collect();
        let mut indices = Map::new();
        // Failed names too: they must not have been added.
        for name in &self.names {
            if self.store.index(name.as_str()).is_ok() {
                let table = self.store.table(name.as_str());
                let table = table.map_err(|unknown| unknown.to_string())?;
                let rows = table
                    .rows()
                    .map(|(value, filed)| (text(value), keys(filed)));
                let rows = rows.collect();
                indices.insert(name.clone(), Value::Object(rows));
            }
        }
        Ok(json!({"items": items, "indices": indices, "rv": self.store.version()}))
    }
}

/// The keys of the objects, sorted.
fn keys<'a>(found: impl IntoIterator<Item = &'a Filed>) -> Value {
    let mut keys: Vec<_> = found.into_iter().map(|filed| &filed.key).collect();
    keys.sort_unstable();
    json!(keys)
}

fn text(value: &[u8]) -> String {
    String::from_utf8_lossy(value).into_owned()
}

fn unknown_index() -> Value {
    json!({"err": "unknown_index"})
}
