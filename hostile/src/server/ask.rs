//! A client's request.

use super::protobuf::PROTOBUF;

/// The relevant parts of a request.
#[derive(Clone, Debug)]
pub(crate) struct Ask {
    pub(crate) kind: Kind,
    pub(crate) path: String,
    /// The requested version; empty if none.
    pub(crate) version: String,
    /// The page token; empty for the first page.
    pub(crate) page: String,
    /// Whether the answer may be protobuf.
    pub(crate) accepts_protobuf: bool,
    /// How many requests came before it.
    pub(crate) number: usize,
    /// The address of another server, which clients must never contact.
    pub(crate) elsewhere: String,
}

/// The type of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    List,
    /// A watch that begins with the whole state.
    Stream,
    Watch,
    /// API discovery.
    Discovery,
}

impl Ask {
    /// Parses a path with its query.
    pub(crate) fn parse(target: &str, accept: &str, number: usize, elsewhere: String) -> Self {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let value = |name: &str| {
            let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
            let found = pairs.find(|(key, _)| *key == name);
            found.map(|(_, value)| value.to_owned()).unwrap_or_default()
        };
        let kind = match (value("watch").as_str(), value("sendInitialEvents").as_str()) {
            _ if !path.ends_with("/pods") => Kind::Discovery,
            ("true", "true") => Kind::Stream,
            ("true", _) => Kind::Watch,
            _ => Kind::List,
        };
        Self {
            kind,
            path: path.to_owned(),
            version: value("resourceVersion"),
            page: value("continue"),
            accepts_protobuf: accept.contains(PROTOBUF),
            number,
            elsewhere,
        }
    }

    pub(crate) fn is_watch(&self) -> bool {
        self.kind == Kind::Watch
    }
}
