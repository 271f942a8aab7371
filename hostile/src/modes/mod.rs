//! All modes, by what is wrong.

// Connections, before there is an answer.
mod connection;

// HTTP/2 frames.
mod http2;

// HTTP/2 frames without end.
mod floods;

// Heads and framing of answers.
mod answers;

// Statuses that are no success.
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

// Certificates and handshakes.
mod tls;

// What the server offers.
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
        tls::MODES,
        discovery::MODES,
    ];
    modes.into_iter().flatten()
}

/// What lists are answered with, by a server that cannot stream states; the rest is good.
fn on_list(ask: &Ask, reply: impl FnOnce() -> Reply) -> Option<Reply> {
    match ask.kind {
        Kind::List => Some(reply()),
        Kind::Stream => Some(cannot_stream()),
        _ => None,
    }
}

/// What watches are answered with, by a server that cannot stream states: otherwise the stream of the
/// state would be the watch. Lists are good.
fn on_watch(ask: &Ask, reply: impl FnOnce() -> Reply) -> Option<Reply> {
    match ask.kind {
        Kind::Watch => Some(reply()),
        Kind::Stream => Some(cannot_stream()),
        _ => None,
    }
}

/// A version that no good server knows, so that what was told at it is read again.
const LOST: &str = "900";

/// What streamed states are answered with; the rest is good.
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
            assert!(pairs.insert(pair), "{} is like another one", mode.name);
        }
        assert!(pairs.len() >= 60, "{} modes", pairs.len());
    }

    #[test]
    fn both_versions_of_http_are_met() {
        use crate::mode::Over;
        let over = |wanted| all().filter(|mode| mode.over == wanted).count();
        assert!(over(Over::Http1) >= 40);
        assert!(over(Over::Http2) >= 20);
    }
}
