//! Compression, where the real server compresses.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::request::Options;

/// A body of this size is sent as it is; a longer one is compressed.
const THRESHOLD: usize = 128 * 1024;

/// Whether an `Accept-Encoding` header asks for gzip. The real server looks for the bare word and
/// knows no weights.
pub(super) fn is_accepted(accept_encoding: Option<&str>) -> bool {
    accept_encoding
        .into_iter()
        .flat_map(|header| header.split(','))
        .any(|coding| coding.trim() == "gzip")
}

/// Whether a complete body is worth it.
pub(super) const fn is_worth_it(body: &[u8]) -> bool {
    body.len() > THRESHOLD
}

/// Whether the lines of a watch are compressed: those of a streamed list are, and of a watch that
/// the server takes for one.
pub(super) fn is_streamed_list(options: &Options) -> bool {
    options.send_initial_events == Some(true)
        || options.resource_version == "0" && options.allow_watch_bookmarks
}

/// One whole gzip member. A streamed list is a chain of them, one for each piece that is sent.
pub(super) fn member(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    // A Vec takes every write.
    let _ = encoder.write_all(bytes);
    encoder.finish().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_bare_word_asks_for_it() {
        for (header, is_asked) in [
            (None, false),
            (Some("identity"), false),
            (Some("gzip"), true),
            (Some("deflate, gzip"), true),
            (Some("gzip;q=1.0"), false),
        ] {
            assert_eq!(is_accepted(header), is_asked, "{header:?}");
        }
    }

    #[test]
    fn streamed_lists_are_compressed_and_other_watches_are_not() {
        for (query, is_compressed) in [
            (
                "watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan",
                true,
            ),
            ("watch=1&resourceVersion=0&allowWatchBookmarks=true", true),
            ("watch=1&resourceVersion=0", false),
            ("watch=1&resourceVersion=7&allowWatchBookmarks=true", false),
        ] {
            let options = Options::parse(query).unwrap();
            assert_eq!(is_streamed_list(&options), is_compressed, "{query}");
        }
    }
}
