//! The lines of a watch.

use std::sync::Arc;

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
    const fn opening(self) -> &'static [u8] {
        match self {
            Self::Added => br#"{"type":"ADDED","object":"#,
            Self::Modified => br#"{"type":"MODIFIED","object":"#,
            Self::Deleted => br#"{"type":"DELETED","object":"#,
            Self::Bookmark => br#"{"type":"BOOKMARK","object":"#,
            Self::Error => br#"{"type":"ERROR","object":"#,
        }
    }
}

const CLOSING: &[u8] = b"}\n";

/// One watch event as it goes over the wire. It shares the object's bytes with the store.
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
    object: Arc<[u8]>,
}

impl WatchFrame {
    pub(crate) const fn new(event: WatchEventType, object: Arc<[u8]>) -> Self {
        Self { event, object }
    }

    pub(crate) fn error(refused: &ApiError) -> Self {
        let mut object = Vec::new();
        refused.write_object(&mut object);
        Self::new(WatchEventType::Error, object.into())
    }

    /// The type of the event.
    #[must_use]
    pub const fn event(&self) -> WatchEventType {
        self.event
    }

    /// The JSON of its object.
    #[must_use]
    pub fn object(&self) -> &[u8] {
        &self.object
    }

    /// Appends the line to `out`, newline included.
    pub fn write_to(&self, out: &mut Vec<u8>) {
        for part in self.parts() {
            out.extend_from_slice(part);
        }
    }

    /// The line, newline included.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        self.parts().concat()
    }

    /// The line in three pieces, without copying.
    #[must_use]
    pub fn parts(&self) -> [&[u8]; 3] {
        [self.event.opening(), &self.object, CLOSING]
    }
}
