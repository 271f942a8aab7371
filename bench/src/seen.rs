//! What has come by of an answer that nobody decodes. `bench-receive` includes this file.

use memchr::memmem;

/// The annotation of the bookmark that ends a streamed state.
const MARK: &[u8] = b"k8s.io/initial-events-end";

/// How a token for the next page begins: it is base64 of JSON with this first member, `{"v":`.
const TOKEN: &[u8] = b"eyJ2Ijoi";

/// Where such a token would be: a list begins with its metadata.
const BEGINNING: usize = 1024;

/// Counts an answer, and finds its end.
#[derive(Default)]
pub(crate) struct Seen {
    bytes: u64,
    /// The first bytes.
    beginning: Vec<u8>,
    /// The last bytes: the mark may have started in them.
    tail: Vec<u8>,
}

impl Seen {
    /// The length of what has come by.
    pub(crate) const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Counts these bytes. `true` if the mark is wanted and ends in them.
    pub(crate) fn add(&mut self, bytes: &[u8], wants_mark: bool) -> bool {
        self.bytes += bytes.len() as u64;
        let missing = BEGINNING - self.beginning.len();
        let first = bytes.get(..missing).unwrap_or(bytes);
        self.beginning.extend_from_slice(first);
        if !wants_mark {
            return false;
        }
        if memmem::find(bytes, MARK).is_some() {
            return true;
        }
        let beginning = bytes.get(..MARK.len()).unwrap_or(bytes);
        self.tail.extend_from_slice(beginning);
        let is_across = memmem::find(&self.tail, MARK).is_some();
        if bytes.len() >= MARK.len() {
            self.tail.clear();
            let from = bytes.len() - (MARK.len() - 1);
            self.tail
                .extend_from_slice(bytes.get(from..).unwrap_or_default());
        } else {
            let from = self.tail.len().saturating_sub(MARK.len() - 1);
            self.tail.drain(..from);
        }
        is_across
    }

    /// Whether the list goes on in another page. A server pages only what it reads from its database, and
    /// it answers the first list of an informer from its cache.
    pub(crate) fn has_more_pages(&self) -> bool {
        memmem::find(&self.beginning, TOKEN).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_not_the_whole_list() {
        let page =
            br#"{"kind":"PodList","metadata":{"continue":"eyJ2IjoibWV0YS5rOHMuaW8vdjEifQ"}}"#;
        for size in 1..=page.len() {
            let mut seen = Seen::default();
            for piece in page.chunks(size) {
                seen.add(piece, false);
            }
            assert!(seen.has_more_pages(), "in pieces of {size}");
        }
        let mut whole = Seen::default();
        whole.add(
            br#"{"kind":"PodList","metadata":{"resourceVersion":"7"}}"#,
            false,
        );
        assert!(!whole.has_more_pages());
    }

    #[test]
    fn the_mark_is_found_in_pieces_of_any_size() {
        let text = [b"before k8s.io/in".as_slice(), MARK, b"behind"].concat();
        for size in 1..=text.len() {
            let mut seen = Seen::default();
            let at = text.chunks(size).position(|piece| seen.add(piece, true));
            assert_eq!(at, Some((text.len() - 7) / size), "in pieces of {size}");
            let mut unmarked = Seen::default();
            let unfinished = text.get(..text.len() - 7).unwrap_or_default();
            let mut pieces = unfinished.chunks(size);
            assert!(!pieces.any(|piece| unmarked.add(piece, true)));
            assert_eq!(unmarked.bytes, unfinished.len() as u64);
        }
    }
}
