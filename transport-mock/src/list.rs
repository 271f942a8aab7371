//! Lists: the choice of version and page.

use std::sync::Arc;

use crate::api::KindId;
use crate::continue_token::ContinueToken;
use crate::form::Page;
use crate::options::Options;
use crate::selection::Selection;
use crate::status::ApiError;
use crate::store::Store;
use crate::store::object::StoredObject;

/// The state that a list shows.
enum Moment {
    /// The newest state.
    Present,
    /// The state at a version.
    Past(u64),
}

/// A validated list request.
pub(crate) struct List<'a> {
    pub(crate) id: KindId,
    pub(crate) selection: &'a Selection,
    pub(crate) options: &'a Options,
}

impl List<'_> {
    /// The objects of the page.
    pub(crate) fn page<'s>(
        &self,
        store: &'s Store,
    ) -> Result<(Vec<&'s Arc<StoredObject>>, Page), ApiError> {
        let (moment, start) = self.place(store)?;
        let Some(table) = store.table(self.id) else {
            return Err(ApiError::page_not_found());
        };
        let prefix = self.selection.prefix.as_str();
        let start = format!("{prefix}{start}");
        Ok(match moment {
            Moment::Present => self.take(table.present(prefix, &start), store.version()),
            Moment::Past(version) => {
                let objects = table.past(prefix, &start, version);
                self.take(objects.into_iter(), version)
            }
        })
    }

    /// Decides the version and the first key.
    fn place(&self, store: &Store) -> Result<(Moment, String), ApiError> {
        let options = self.options;
        if !options.continue_token.is_empty() {
            let token = ContinueToken::decoded(&options.continue_token)?;
            if !matches!(options.resource_version.as_str(), "" | "0") {
                return Err(ApiError::bad_request(
                    "specifying resource version is not allowed when using continue",
                ));
            }
            let Some(version) = token.version else {
                return Ok((Moment::Present, token.start));
            };
            check_reached(version, store)?;
            if version < store.compacted() {
                let fresh = ContinueToken {
                    version: None,
                    start: token.start,
                };
                return Err(ApiError::expired_continue(fresh.encoded()));
            }
            return Ok((Moment::Past(version), token.start));
        }
        let version = version(&options.resource_version)
            .map_err(|wrong| ApiError::bad_request(format!("invalid resource version: {wrong}")))?;
        check_reached(version, store)?;
        let is_exact = match options.resource_version_match.as_str() {
            "Exact" => true,
            "NotOlderThan" => false,
            // The legacy meaning of a limit with a version, from before `resourceVersionMatch`.
            _ => options.limit > 0 && version > 0,
        };
        if !is_exact {
            return Ok((Moment::Present, String::new()));
        }
        if version < store.compacted() {
            return Err(ApiError::expired(
                "The resourceVersion for the provided list is too old.",
            ));
        }
        Ok((Moment::Past(version), String::new()))
    }

    /// Fills the page.
    fn take<'s>(
        &self,
        objects: impl Iterator<Item = &'s Arc<StoredObject>>,
        version: u64,
    ) -> (Vec<&'s Arc<StoredObject>>, Page) {
        // Version 0 is served from the watch cache, and the real server does not page that.
        let limit = match self.options.resource_version.as_str() {
            "0" => 0,
            _ => usize::try_from(self.options.limit).unwrap_or(usize::MAX),
        };
        let mut objects = objects.peekable();
        let mut taken = Vec::new();
        while limit == 0 || taken.len() < limit {
            let Some(object) = objects.next() else { break };
            if self.selection.matches(object) {
                taken.push(object);
            }
        }
        let mut page = Page {
            version,
            continue_token: String::new(),
            remaining: None,
        };
        if let Some(last) = taken.last().filter(|_| objects.peek().is_some()) {
            let key = last.key();
            let start = key.strip_prefix(&self.selection.prefix).unwrap_or(key);
            let token = ContinueToken {
                version: Some(version),
                // The real server strips the list's prefix, but keeps its last slash.
                start: format!("/{start}\0"),
            };
            page.continue_token = token.encoded();
            page.remaining = self
                .selection
                .is_everything()
                .then(|| objects.count() as u64);
        }
        (taken, page)
    }
}

fn check_reached(version: u64, store: &Store) -> Result<(), ApiError> {
    if version > store.version() {
        Err(ApiError::too_large_version(version, store.version()))
    } else {
        Ok(())
    }
}

/// Parses a version; an absent one is 0. The error names the field and the problem.
pub(crate) fn version(text: &str) -> Result<u64, String> {
    if text.is_empty() {
        return Ok(0);
    }
    unsigned(text).map_err(|why| format!("resourceVersion: Invalid value: {text:?}: {why}"))
}

/// Parses an unsigned number. The error is worded as in Go.
pub(crate) fn unsigned(text: &str) -> Result<u64, String> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_number).ok_or_else(|| {
        let why = match is_number {
            true => "value out of range",
            false => "invalid syntax",
        };
        format!("strconv.ParseUint: parsing {text:?}: {why}")
    })
}
