//! All modes, by the part that is wrong.

// Connections, before there is an answer.
mod connection;

// HTTP/2 frames.
mod http2;

// HTTP/2 frames without end.
mod floods;

// Headers and framing of answers.
mod answers;

// Error statuses.
mod refusals;

// Compressed bodies.
mod gzip;

// Lists whose JSON is wrong or endless.
mod lists;

// Pages, versions and objects of lists.
mod pages;

// Watches that end.
mod watches;

// Events.
mod events;

// Streamed states.
mod streams;

// Bodies in protobuf.
mod protobuf;

// Certificates and handshakes.
mod tls;

// Discovery.
mod discovery;

use crate::mode::Mode;
use crate::server::ask::{Ask, Kind};
use crate::server::reply::Reply;

/// All modes.
pub(crate) fn all() -> impl Iterator<Item = &'static Mode> {
    let modes = [
        connection::MODES,
        http2::MODES,
        floods::MODES,
        answers::MODES,
        refusals::MODES,
        gzip::MODES,
        lists::MODES,
        pages::MODES,
        watches::MODES,
        events::MODES,
        streams::MODES,
        protobuf::MODES,
        tls::MODES,
        discovery::MODES,
    ];
    modes.into_iter().flatten()
}

/// Answers lists with `reply`, as a server that cannot stream lists. Everything else is good.
fn on_list(ask: &Ask, reply: impl FnOnce() -> Reply) -> Option<Reply> {
    match ask.kind {
        Kind::List => Some(reply()),
        Kind::Stream => Some(cannot_stream()),
        _ => None,
    }
}

/// Answers watches with `reply`, as a server that cannot stream lists. Otherwise the streamed list
/// would be the watch. Lists are good.
fn on_watch(ask: &Ask, reply: impl FnOnce() -> Reply) -> Option<Reply> {
    match ask.kind {
        Kind::Watch => Some(reply()),
        Kind::Stream => Some(cannot_stream()),
        _ => None,
    }
}

/// A version that no good server knows, so that a client at this version has to relist.
const LOST: &str = "900";

/// Answers streamed lists with `reply`. Everything else is good.
fn on_stream(ask: &Ask, reply: impl FnOnce() -> Reply) -> Option<Reply> {
    (ask.kind == Kind::Stream).then(reply)
}

fn cannot_stream() -> Reply {
    let message = "sendInitialEvents: Forbidden: sendInitialEvents is forbidden for watch";
    Reply::failure(422, "Invalid", message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn no_two_modes_share_a_name_or_both_mechanism_and_limit() {
        let (mut names, mut pairs) = (HashSet::new(), HashSet::new());
        for mode in all() {
            assert!(names.insert(mode.name), "{} twice", mode.name);
            let pair = (mode.mechanism, mode.limit);
            assert!(pairs.insert(pair), "{} repeats another mode", mode.name);
        }
        assert!(pairs.len() >= 60, "{} modes", pairs.len());
    }

    #[test]
    fn both_http_versions_are_covered() {
        use crate::mode::Over;
        let over = |wanted| all().filter(|mode| mode.over == wanted).count();
        assert!(over(Over::Http1) >= 40);
        assert!(over(Over::Http2) >= 20);
    }
}
