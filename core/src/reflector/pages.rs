//! Counts the pages of a list and detects lists that never end.

/// The most pages of one list. At the default page size they hold five million objects.
const MOST: u32 = 10_000;

/// The most pages of one list that are less than half full. They are paced, so this many take about as
/// long as a server keeps its continue tokens.
const MOST_SPARSE: u32 = 100;

/// The longest continue token, in bytes. A real token names a key and has a few hundred bytes.
pub(super) const MAX_TOKEN: usize = 4096;

/// The pages of one list.
#[derive(Clone, Debug, Default)]
pub(super) struct Pages<X> {
    /// Pages that led to another page.
    read: u32,
    sparse: u32,
    /// Objects on all pages, and those before the current page.
    pub(super) items: u64,
    before: u64,
    /// The token of page 1, 2, 4, 8 and so on, whichever was last: tokens that go round in a circle
    /// return to it (Brent's algorithm).
    mark: Option<X>,
}

/// What follows a page that has a continue token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Turn {
    /// The next page, at once: this page was at least half full.
    Full,
    /// The next page, paced: this page was less than half full.
    Sparse,
    /// Nothing: an earlier page had the same token.
    Repeats,
    /// Nothing: the list has too many pages.
    TooMany,
}

impl<X: AsRef<str> + Clone> Pages<X> {
    /// Whether the current page is the first.
    pub(super) const fn is_first(&self) -> bool {
        self.read == 0
    }

    /// Ends a page that has a continue token. The request for the page carried the token `asked` and
    /// asked for `limit` objects.
    pub(super) fn turn(&mut self, token: &X, asked: Option<&X>, limit: Option<u32>) -> Turn {
        let items = self.items - core::mem::replace(&mut self.before, self.items);
        let is_sparse = limit.is_none_or(|limit| items.saturating_mul(2) < limit.into());
        let mut earlier = asked.into_iter().chain(&self.mark);
        if earlier.any(|earlier| earlier.as_ref() == token.as_ref()) {
            return Turn::Repeats;
        }
        self.read += 1;
        self.sparse += u32::from(is_sparse);
        if self.read.is_power_of_two() {
            self.mark = Some(token.clone());
        }
        if self.read >= MOST || self.sparse >= MOST_SPARSE {
            Turn::TooMany
        } else if is_sparse {
            Turn::Sparse
        } else {
            Turn::Full
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::format;
    use std::string::String;

    /// Turns pages of `items` objects, with the tokens from `token`, until no page follows. Returns why,
    /// and after how many pages.
    fn ends(items: u64, limit: Option<u32>, token: fn(u32) -> u32) -> (Turn, u32) {
        let mut pages: Pages<String> = Pages::default();
        let mut asked = None;
        for page in 1.. {
            for _ in 0..items {
                pages.items += 1;
            }
            let next = format!("{}", token(page));
            let turn = pages.turn(&next, asked.as_ref(), limit);
            asked = Some(next);
            if matches!(turn, Turn::Repeats | Turn::TooMany) {
                return (turn, page);
            }
            let sparse = limit.is_none_or(|limit| items * 2 < limit.into());
            assert_eq!(turn == Turn::Sparse, sparse, "{items} of {limit:?}");
        }
        unreachable!("every list ends")
    }

    #[test]
    fn every_list_ends_however_full_its_pages_are() {
        assert_eq!(ends(500, Some(500), |n| n), (Turn::TooMany, MOST));
        assert_eq!(ends(250, Some(500), |n| n), (Turn::TooMany, MOST));
        assert_eq!(ends(249, Some(500), |n| n), (Turn::TooMany, MOST_SPARSE));
        assert_eq!(ends(0, Some(1), |n| n), (Turn::TooMany, MOST_SPARSE));
        assert_eq!(ends(1, Some(1), |n| n), (Turn::TooMany, MOST));
        assert_eq!(ends(9_000, None, |n| n), (Turn::TooMany, MOST_SPARSE));
    }

    #[test]
    fn tokens_that_go_round_in_a_circle_are_detected() {
        assert_eq!(ends(0, Some(500), |_| 7), (Turn::Repeats, 2));
        // The same page is never requested twice in a row, even far into a list.
        assert_eq!(ends(500, Some(500), |n| n.min(70)), (Turn::Repeats, 71));
        assert_eq!(ends(500, Some(500), |n| n.min(3)), (Turn::Repeats, 4));
        assert_eq!(ends(500, Some(500), |n| n % 2), (Turn::Repeats, 4));
        let (turn, pages) = ends(500, Some(500), |n| n % 100);
        assert_eq!(turn, Turn::Repeats);
        assert!((100..=300).contains(&pages), "{pages}");
    }
}
