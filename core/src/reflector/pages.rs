//! How far a list has come in pages, and whether it will ever end.

/// Pages of one list. So many hold five million objects, if nobody asks for smaller ones.
const MOST: u32 = 10_000;

/// Pages of one list that are not half full. They are paced, so that so many take about as long as a
/// server remembers its tokens.
const MOST_SPARSE: u32 = 100;

/// The longest token of a page, in bytes. A server's names a key, and has a few hundred.
pub(super) const MAX_TOKEN: usize = 4096;

#[derive(Clone, Debug)]
pub(super) struct Pages<X> {
    /// Pages that were followed by another one.
    read: u32,
    sparse: u32,
    /// Objects on this page.
    items: u64,
    /// The token of the page that was the first, the second, the fourth, …: whatever goes round in a
    /// circle comes back to it.
    mark: Option<X>,
}

/// What a page with a token is followed by.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Turn {
    /// The next page at once: this one was worth it.
    Full,
    /// The next page, at a bearable pace.
    Sparse,
    /// Nothing: the token was there before.
    Repeats,
    /// Nothing: there is no end of them.
    TooMany,
}

impl<X: AsRef<str> + Clone> Pages<X> {
    pub(super) const fn new() -> Self {
        Self {
            read: 0,
            sparse: 0,
            items: 0,
            mark: None,
        }
    }

    /// Whether this page is the first one.
    pub(super) const fn is_first(&self) -> bool {
        self.read == 0
    }

    /// An object has come.
    pub(super) const fn item(&mut self) {
        self.items += 1;
    }

    /// A page has ended with a token for the next one. It was asked for by the token `asked`, and for
    /// `limit` objects.
    pub(super) fn turn(&mut self, token: &X, asked: Option<&X>, limit: Option<u32>) -> Turn {
        let items = core::mem::take(&mut self.items);
        let is_sparse = limit.is_none_or(|limit| items.saturating_mul(2) < limit.into());
        // The next page is this one again, or one of those before it.
        let mut before = asked.into_iter().chain(&self.mark);
        if before.any(|before| before.as_ref() == token.as_ref()) {
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

    /// Turns pages of `items` objects with the tokens that `token` makes until something else than
    /// the next page follows. Says what, and after how many pages.
    fn ends(items: u64, limit: Option<u32>, token: fn(u32) -> u32) -> (Turn, u32) {
        let mut pages: Pages<String> = Pages::new();
        let mut asked = None;
        for page in 1.. {
            for _ in 0..items {
                pages.item();
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
        unreachable!("it has an end")
    }

    #[test]
    fn a_list_has_an_end_whatever_its_pages_hold() {
        assert_eq!(ends(500, Some(500), |n| n), (Turn::TooMany, MOST));
        assert_eq!(ends(250, Some(500), |n| n), (Turn::TooMany, MOST));
        assert_eq!(ends(249, Some(500), |n| n), (Turn::TooMany, MOST_SPARSE));
        assert_eq!(ends(0, Some(1), |n| n), (Turn::TooMany, MOST_SPARSE));
        assert_eq!(ends(1, Some(1), |n| n), (Turn::TooMany, MOST));
        assert_eq!(ends(9_000, None, |n| n), (Turn::TooMany, MOST_SPARSE));
    }

    #[test]
    fn tokens_that_go_round_in_a_circle_are_noticed() {
        assert_eq!(ends(0, Some(500), |_| 7), (Turn::Repeats, 2));
        // However far the list has come, the same page is never asked for twice in a row.
        assert_eq!(ends(500, Some(500), |n| n.min(70)), (Turn::Repeats, 71));
        assert_eq!(ends(500, Some(500), |n| n.min(3)), (Turn::Repeats, 4));
        assert_eq!(ends(500, Some(500), |n| n % 2), (Turn::Repeats, 4));
        let (turn, pages) = ends(500, Some(500), |n| n % 100);
        assert_eq!(turn, Turn::Repeats);
        assert!((100..=300).contains(&pages), "{pages}");
    }
}
