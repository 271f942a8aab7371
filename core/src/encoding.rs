//! The encodings in which a server answers.

use core::fmt;

/// How an answer is encoded. Its `Content-Type` tells, list by list and watch by watch: a server that
/// was asked for several encodings chooses.
///
/// ```
/// use informer_core::Encoding;
///
/// let of = Encoding::of_content_type;
/// assert_eq!(of(Some("application/json; charset=utf-8")), Ok(Encoding::Json));
/// assert_eq!(
///     of(Some("text/html")).unwrap_err().to_string(),
///     "the answer is `text/html` and not JSON; does something else answer in place of the API server?"
/// );
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[non_exhaustive]
pub enum Encoding {
    /// JSON, which every server speaks for every kind.
    #[default]
    Json,
}

impl Encoding {
    /// All of them.
    pub const ALL: [Self; 1] = [Self::Json];

    /// Its name in the headers `Accept` and `Content-Type`.
    #[must_use]
    pub const fn media_type(self) -> &'static str {
        match self {
            Self::Json => "application/json",
        }
    }

    /// The encoding that the header `Content-Type` of an answer names. An answer without that header
    /// is taken for JSON.
    ///
    /// # Errors
    ///
    /// It names none that we know. A login page is a successful answer, too.
    pub fn of_content_type(header: Option<&str>) -> Result<Self, UnknownContentType<'_>> {
        let Some(found) = header else {
            return Ok(Self::default());
        };
        let is_end = |character: char| matches!(character, ';' | ',') || character.is_whitespace();
        let media_type = found.trim_start().split(is_end).next().unwrap_or_default();
        Self::ALL
            .into_iter()
            .find(|encoding| encoding.media_type().eq_ignore_ascii_case(media_type))
            .ok_or(UnknownContentType { found })
    }
}

/// An answer whose `Content-Type` names no [`Encoding`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UnknownContentType<'a> {
    found: &'a str,
}

impl fmt::Display for UnknownContentType<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // So much of it is told, so that what to do about it is told, too.
        const TOLD: usize = 60;
        write!(
            f,
            "the answer is `{:.TOLD$}` and not JSON; does something else answer in place of the API server?",
            self.found
        )
    }
}

impl core::error::Error for UnknownContentType<'_> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_media_type_decides_whatever_its_parameters() {
        let is_known = |header| Encoding::of_content_type(Some(header)).is_ok();
        for known in [
            "application/json",
            " application/json;stream=watch",
            "Application/JSON; charset=utf-8",
            "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
            "application/json, text/html",
        ] {
            assert!(is_known(known), "{known}");
        }
        for unknown in [
            "",
            "text/html",
            "application/json-seq",
            "application/vnd.kubernetes.protobuf",
        ] {
            assert!(!is_known(unknown), "{unknown}");
        }
        assert_eq!(Encoding::of_content_type(None), Ok(Encoding::Json));
    }
}
