//! All objects as JSON, written piece by piece from a snapshot.

use informer_core::Object;
use informer_core::indexer::Cursor;
use informer_indexers::shared::Snapshot;
use serde::Serialize;
use serde_json::value::RawValue;

use super::Line;
use super::bodies::Opened;

/// A text that is made while it is sent.
pub(crate) trait Pieces: Send {
    /// The next piece; `None` at the end.
    fn next(&mut self) -> Option<Vec<u8>>;
}

/// About how many bytes a piece has.
const PIECE: usize = 64 * 1024;

/// One object in a dump with bodies.
#[derive(Serialize)]
struct Whole {
    #[serde(flatten)]
    line: Line,
    json: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    why_no_json: Option<String>,
}

pub(super) struct Dump<K> {
    snapshot: Snapshot<Object<K>>,
    opened: Option<Opened<K>>,
    at: At,
    /// The id of the informer.
    id: String,
}

enum At {
    Head,
    Objects { next: Cursor, first: bool },
    End,
}

impl<K: Send + Sync + 'static> Dump<K> {
    pub(super) fn new(id: &str, snapshot: Snapshot<Object<K>>, opened: Option<Opened<K>>) -> Self {
        Self {
            snapshot,
            opened,
            at: At::Head,
            id: id.to_owned(),
        }
    }

    fn head(&self) -> String {
        let (id, version) = (text(&self.id), text(self.snapshot.version()));
        format!(r#"{{"informer":{id},"version":{version},"objects":["#)
    }

    fn write(&self, object: &Object<K>, to: &mut Vec<u8>) {
        let line = Line::of(object);
        let written = match &self.opened {
            None => serde_json::to_writer(to, &line),
            Some(opened) => {
                let (json, why_no_json) = match opened.json(object) {
                    Ok(json) => (Some(json), None),
                    Err(why) => (None, Some(why)),
                };
                let whole = Whole {
                    line,
                    json,
                    why_no_json,
                };
                serde_json::to_writer(to, &whole)
            }
        };
        debug_assert!(written.is_ok(), "texts and JSON can be written to memory");
    }
}

impl<K: Send + Sync + 'static> Pieces for Dump<K> {
    fn next(&mut self) -> Option<Vec<u8>> {
        let (mut next, mut first) = match self.at {
            At::Head => {
                self.at = At::Objects {
                    next: Cursor::default(),
                    first: true,
                };
                return Some(self.head().into_bytes());
            }
            At::Objects { next, first } => (next, first),
            At::End => return None,
        };
        let mut piece = Vec::with_capacity(PIECE);
        for (behind, object) in self.snapshot.iter_from(next) {
            if !first {
                piece.extend_from_slice(b",\n");
            }
            self.write(object, &mut piece);
            (next, first) = (behind, false);
            if piece.len() >= PIECE {
                self.at = At::Objects { next, first };
                return Some(piece);
            }
        }
        self.at = At::End;
        piece.extend_from_slice(b"]}\n");
        Some(piece)
    }
}

/// A JSON string.
fn text(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
