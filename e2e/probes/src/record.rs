//! The recorded answers of a real server.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::error::ProbeError;

/// The recorded answers of a real server.
#[derive(Clone, PartialEq, Debug, Default)]
#[non_exhaustive]
pub struct Record {
    /// Its version.
    pub server: String,
    /// Its answers, by request.
    pub answers: BTreeMap<String, Value>,
}

impl Record {
    /// Creates a record.
    #[must_use]
    pub const fn new(server: String, answers: BTreeMap<String, Value>) -> Self {
        Self { server, answers }
    }

    /// The path of the file.
    #[must_use]
    pub fn path() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("recorded.json")
    }

    /// Reads the file.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or is not a record.
    pub fn read() -> Result<Self, ProbeError> {
        let path = Self::path();
        let wrong = |error: &dyn std::fmt::Display| ProbeError::file(path.display(), error);
        let text = fs::read_to_string(&path).map_err(|error| wrong(&error))?;
        let mut answers: BTreeMap<String, Value> =
            serde_json::from_str(&text).map_err(|error| wrong(&error))?;
        let server = answers.remove(SERVER);
        let server = server.as_ref().and_then(Value::as_str);
        Ok(Self {
            server: server
                .ok_or_else(|| wrong(&"the entry `server` is missing"))?
                .to_owned(),
            answers,
        })
    }

    /// Writes the file, one answer per line, for readable diffs.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn write(&self) -> Result<(), ProbeError> {
        let path = Self::path();
        fs::write(&path, self.text()).map_err(|error| ProbeError::file(path.display(), error))
    }

    fn text(&self) -> String {
        let server = Value::from(self.server.as_str());
        let mut text = format!("{{\n\"{SERVER}\": {server}");
        for (question, answer) in &self.answers {
            text += &format!(",\n{}: {answer}", Value::from(question.as_str()));
        }
        text + "\n}\n"
    }
}

/// The entry that is not an answer.
const SERVER: &str = "server";
