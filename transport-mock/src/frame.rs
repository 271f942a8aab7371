//! The frames of a watch: lines of JSON, or messages of protobuf.

use std::sync::Arc;

use informer_core::Encoding;

use crate::protobuf;
use crate::status::ApiError;

/// The `type` of a watch event.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum WatchEventType {
    /// The object was created or begins to match.
    Added,
    /// The object has changed.
    Modified,
    /// The object was deleted or stops matching.
    Deleted,
    /// A new version without an object.
    Bookmark,
    /// A Status, after which the watch ends.
    Error,
}

impl WatchEventType {
    const fn name(self) -> &'static str {
        match self {
            Self::Added => "ADDED",
            Self::Modified => "MODIFIED",
            Self::Deleted => "DELETED",
            Self::Bookmark => "BOOKMARK",
            Self::Error => "ERROR",
        }
    }

    /// What precedes the object in a line.
    fn opening(self) -> Vec<u8> {
        format!(r#"{{"type":"{}","object":"#, self.name()).into_bytes()
    }
}

/// One watch event as it goes over the wire. As JSON, it shares the object's bytes with the store.
///
/// ```
/// use informer_core::Instant;
/// use informer_transport_mock::answer::AnswerBody;
/// use informer_transport_mock::request::{ApiRequest, Headers};
/// use informer_transport_mock::watch::{Polled, WatchEventType};
/// use informer_transport_mock::{Server, ServerConfig};
///
/// let now = Instant::default();
/// let mut server = Server::new(ServerConfig::new(42));
/// let query = "watch=true&allowWatchBookmarks=true";
/// let request = ApiRequest::parse("GET", "/api/v1/pods", query, Headers::default())?;
/// let AnswerBody::Watch(mut watch) = server.handle(&request, b"", now).body else { panic!() };
/// let Polled::Frame(frame) = watch.poll(&server, now) else { panic!() };
/// assert_eq!(frame.event(), WatchEventType::Bookmark);
/// assert!(frame.to_bytes().ends_with(b"}\n"));
/// # Ok::<(), informer_transport_mock::status::ApiError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WatchFrame {
    event: WatchEventType,
    encoding: Encoding,
    opening: Vec<u8>,
    object: Arc<[u8]>,
}

impl WatchFrame {
    /// A frame for an object in this encoding, with its envelope.
    pub(crate) fn new(event: WatchEventType, encoding: Encoding, object: Arc<[u8]>) -> Self {
        let opening = match encoding {
            Encoding::Protobuf => protobuf::frame_opening(event.name(), &object),
            _ => event.opening(),
        };
        Self {
            event,
            encoding,
            opening,
            object,
        }
    }

    pub(crate) fn error(refused: &ApiError, encoding: Encoding) -> Self {
        let object = refused.object(encoding);
        Self::new(WatchEventType::Error, encoding, object.into())
    }

    /// The same event with another object.
    pub(crate) fn with_object(&self, object: Vec<u8>) -> Self {
        Self::new(self.event, self.encoding, object.into())
    }

    /// The same object in another event.
    pub(crate) fn with_event(&self, event: WatchEventType) -> Self {
        Self::new(event, self.encoding, Arc::clone(&self.object))
    }

    /// The type of the event.
    #[must_use]
    pub const fn event(&self) -> WatchEventType {
        self.event
    }

    /// Its object: the JSON, or protobuf with its envelope.
    #[must_use]
    pub fn object(&self) -> &[u8] {
        &self.object
    }

    /// Appends the frame to `out`.
    pub fn write_to(&self, out: &mut Vec<u8>) {
        for part in self.parts() {
            out.extend_from_slice(part);
        }
    }

    /// The frame: a line with its newline, or a message behind its length.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        self.parts().concat()
    }

    /// The frame in three pieces, without copying.
    #[must_use]
    pub fn parts(&self) -> [&[u8]; 3] {
        let closing: &[u8] = match self.encoding {
            Encoding::Protobuf => b"",
            _ => b"}\n",
        };
        [&self.opening, &self.object, closing]
    }
}
