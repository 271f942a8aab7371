//! Serves the kinds of the CustomResourceDefinitions that are stored, as the controllers of a real
//! server do.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::api::{KindId, Registry, crd};
use crate::server::Server;
use crate::store::metadata::{self, is_deleting};
use crate::store::object::StoredObject;
use crate::store::write::{Author, Part, Target};
use crate::store::{Table, definition};

const DEFINITIONS: &str = "customresourcedefinitions.apiextensions.k8s.io";

/// The definitions that are served.
#[derive(Debug)]
pub(crate) struct Definitions {
    /// The table of the definitions.
    table: Option<KindId>,
    /// The version of the newest definition that was looked at.
    seen: u64,
    served: BTreeMap<String, Served>,
}

impl Definitions {
    pub(crate) fn new(registry: &Registry) -> Self {
        Self {
            table: registry.find(DEFINITIONS).map(|(table, _)| table),
            seen: 0,
            served: BTreeMap::new(),
        }
    }
}

#[derive(Debug)]
struct Served {
    table: KindId,
    spec: Value,
}

impl Server {
    /// Serves new and changed definitions, and ends those that are deleted. Call it after a write.
    pub(crate) fn follow_definitions(&mut self) {
        if self.newest_definition() == self.definitions().seen {
            return;
        }
        let present: Vec<Arc<StoredObject>> = self.objects(DEFINITIONS).cloned().collect();
        let served: Vec<String> = self.definitions().served.keys().cloned().collect();
        for name in served {
            if present.iter().all(|object| object.name() != name) {
                self.end_definition(&name);
            }
        }
        for object in present {
            if !is_deleting(object.value()) {
                self.serve_definition(&object);
            } else if definition::awaits_cleanup(object.value()) {
                self.clean_up(&object);
            }
        }
        self.definitions_mut().seen = self.newest_definition();
    }

    /// The version of the newest change of a definition.
    fn newest_definition(&self) -> u64 {
        let table = self.definitions().table;
        let table = table.and_then(|table| self.store().table(table));
        table.map_or(0, Table::newest)
    }

    fn serve_definition(&mut self, object: &StoredObject) {
        let name = object.name().to_owned();
        let spec = object.value().get("spec").cloned().unwrap_or_default();
        if self.definitions().served.get(&name).map(|it| &it.spec) != Some(&spec) {
            let kinds = crd::kinds(object.value());
            let table = self.definitions().served.get(&name).map(|it| it.table);
            let table = self.serve_kinds(table, kinds);
            let served = Served { table, spec };
            self.definitions_mut().served.insert(name, served);
        }
        let now = self.wall_clock();
        if let Some(status) = definition::established(object.value(), now) {
            let mut established = object.value().clone();
            established.insert("status".to_owned(), status);
            self.rewrite(object, established, Part::Status);
        }
    }

    /// Deletes the objects of a definition, and then the definition.
    fn clean_up(&mut self, object: &StoredObject) {
        let now = self.wall_clock();
        let mut ending = object.value().clone();
        definition::go_on_deleting(&mut ending, now);
        self.rewrite(object, ending.clone(), Part::Status);
        self.end_definition(object.name());
        definition::release(&mut ending);
        self.rewrite(object, ending, Part::Main);
    }

    fn end_definition(&mut self, name: &str) {
        if let Some(served) = self.definitions_mut().served.remove(name) {
            self.remove(served.table);
        }
    }

    /// Writes a part of a definition.
    fn rewrite(&mut self, object: &StoredObject, mut value: Map<String, Value>, part: Part) {
        let Ok((id, kind)) = self.find(DEFINITIONS) else {
            return;
        };
        let target = Target {
            id,
            kind: &kind,
            namespace: None,
        };
        let Some(current) = self.store().get(id, object.key()) else {
            return;
        };
        metadata::copy(&mut value, current.value(), "resourceVersion");
        let author = Author {
            subresource: match part {
                Part::Status => "status",
                Part::Main => "",
            },
            ..self.author("kube-apiserver", false)
        };
        // What the server itself writes is valid.
        let _ = self
            .store_mut()
            .update(target, object.name(), value, part, author);
    }
}
