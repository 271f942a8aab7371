//! Random writes to the server.

use serde_json::{Value, json};

use super::record::Record;
use crate::random::Random;
use crate::server::Server;
use crate::status::ApiError;

const NAMESPACES: [&str; 3] = ["a", "b", "c"];
const APPS: [&str; 3] = ["web", "db", "job"];
const NODES: [&str; 2] = ["n1", "n2"];

/// Names per namespace.
const NAMES: u64 = 6;

/// The users of a server. They use few names, so that names recur.
#[derive(Debug)]
pub(super) struct Writers {
    random: Random,
    written: u64,
}

impl Writers {
    pub(super) const fn new(random: Random) -> Self {
        Self { random, written: 0 }
    }

    /// How many writes were made.
    pub(super) const fn written(&self) -> u64 {
        self.written
    }

    /// Makes one random write. Returns a description of it.
    pub(super) fn write(&mut self, server: &mut Server, record: &mut Record) -> String {
        let namespace = self.random.pick(&NAMESPACES);
        let key = format!("{namespace}/p{}", self.random.below(NAMES));
        let is_there = server.get("pods", &key).is_some();
        let what = match self.random.below(12) {
            _ if !is_there => self.create(server, &key),
            0..=4 => self.change(server, &key),
            5 => {
                // Delete and recreate, perhaps before an informer notices.
                let deleted = server.delete("pods", &key).map(|_| "delete");
                self.note(server, record, &key);
                match server.get("pods", &key) {
                    None => self.create(server, &key),
                    Some(_) => deleted,
                }
            }
            6..=8 => server.delete("pods", &key).map(|_| "delete"),
            9 => server
                .patch("pods", &key, json!({"metadata": {"finalizers": null}}))
                .map(|_| "release"),
            _ => {
                server.skip_version();
                Ok("write something else than")
            }
        };
        self.note(server, record, &key);
        let what = what.unwrap_or("fail to write");
        format!("{what} {key} at {}", server.version())
    }

    /// Changes an object, if it exists.
    pub(super) fn touch(&mut self, server: &mut Server, record: &mut Record, key: &str) {
        if server.get("pods", key).is_some() {
            // The object exists, and there are no other writers.
            let _ = self.change(server, key);
            self.note(server, record, key);
        }
    }

    fn create(&mut self, server: &mut Server, key: &str) -> Result<&'static str, ApiError> {
        let (namespace, name) = key.split_once('/').unwrap_or(("", key));
        let mut object = self.fields();
        if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
            metadata.insert("name".to_owned(), json!(name));
            metadata.insert("namespace".to_owned(), json!(namespace));
            if self.random.one_in(8) {
                metadata.insert("finalizers".to_owned(), json!(["example.com/stay"]));
            }
        }
        server.create("pods", object).map(|_| "create")
    }

    fn change(&mut self, server: &mut Server, key: &str) -> Result<&'static str, ApiError> {
        let fields = self.fields();
        server.patch("pods", key, fields).map(|_| "change")
    }

    /// Values that identify the write.
    fn fields(&mut self) -> Value {
        self.written += 1;
        json!({
            "metadata": {
                "labels": {"app": self.random.pick(&APPS)},
                "annotations": {"write": format!("{} \"\\é\n{{", self.written)},
            },
            "spec": {"nodeName": self.random.pick(&NODES)},
        })
    }

    fn note(&self, server: &Server, record: &mut Record, key: &str) {
        if let Some(object) = server.get("pods", key) {
            record.write(object);
        }
    }
}
