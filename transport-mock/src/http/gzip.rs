//! Compression, where the real server compresses.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::request::Options;

/// A body up to this size is sent as it is; a longer one is compressed.
const THRESHOLD: usize = 128 * 1024;

/// Which parts of an answer are compressed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Gzip {
    Nothing,
    /// Complete bodies, if they are long.
    LongBodies,
    /// Long complete bodies, and the lines of a watch.
    LinesToo,
}

impl Gzip {
    /// What an `Accept-Encoding` header asks for. Like the real server, it looks for the bare word
    /// and ignores weights.
    pub(super) fn accepted(accept_encoding: Option<&str>) -> Self {
        let is_accepted = accept_encoding
            .into_iter()
            .flat_map(|header| header.split(','))
            .any(|coding| coding.trim() == "gzip");
        match is_accepted {
            true => Self::LongBodies,
            false => Self::Nothing,
        }
    }

    /// The same for a request that may be a watch. Only streamed lists are compressed, and watches
    /// that the server treats as one.
    pub(super) fn for_request(self, options: &Options) -> Self {
        let is_streamed_list = options.send_initial_events == Some(true)
            || options.resource_version == "0" && options.allow_watch_bookmarks;
        match self {
            Self::LongBodies if is_streamed_list => Self::LinesToo,
            other => other,
        }
    }

    /// Whether to compress a complete body.
    pub(super) fn takes(self, body: &[u8]) -> bool {
        self != Self::Nothing && body.len() > THRESHOLD
    }
}

/// Compresses `bytes` into one gzip member. A streamed list is a chain of members, one per piece.
///
/// The member ends with an empty block, as on the real server. Go's reader looks for the next
/// member before it returns the data of the last block, and the next member may be hours away.
pub(super) fn member(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    // Writing to a Vec cannot fail.
    let _ = encoder.write_all(bytes);
    let _ = encoder.flush();
    encoder.finish().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use flate2::{Decompress, FlushDecompress, Status};

    use super::*;

    #[test]
    fn all_data_can_be_read_before_the_last_block() {
        const HEADER: usize = 10;
        const LAST_BLOCK_AND_TRAILER: usize = 2 + 8;
        let text = b"{\"type\":\"ADDED\"}\n".repeat(100);
        let member = member(&text);
        let before_the_last = &member[HEADER..member.len() - LAST_BLOCK_AND_TRAILER];
        let mut out = vec![0; text.len() + 1];
        let mut reader = Decompress::new(false);
        let status = reader.decompress(before_the_last, &mut out, FlushDecompress::None);
        assert_eq!(status.unwrap(), Status::Ok);
        assert_eq!(reader.total_out(), text.len() as u64);
    }

    #[test]
    fn only_the_bare_word_enables_compression() {
        for (header, accepted) in [
            (None, Gzip::Nothing),
            (Some("identity"), Gzip::Nothing),
            (Some("gzip"), Gzip::LongBodies),
            (Some("deflate, gzip"), Gzip::LongBodies),
            (Some("gzip;q=1.0"), Gzip::Nothing),
        ] {
            assert_eq!(Gzip::accepted(header), accepted, "{header:?}");
        }
    }

    #[test]
    fn streamed_lists_are_compressed_and_other_watches_are_not() {
        for (query, gzip) in [
            (
                "watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan",
                Gzip::LinesToo,
            ),
            (
                "watch=1&resourceVersion=0&allowWatchBookmarks=true",
                Gzip::LinesToo,
            ),
            ("watch=1&resourceVersion=0", Gzip::LongBodies),
            (
                "watch=1&resourceVersion=7&allowWatchBookmarks=true",
                Gzip::LongBodies,
            ),
        ] {
            let options = Options::parse(query).unwrap();
            assert_eq!(Gzip::LongBodies.for_request(&options), gzip, "{query}");
            assert_eq!(Gzip::Nothing.for_request(&options), Gzip::Nothing);
        }
    }
}
