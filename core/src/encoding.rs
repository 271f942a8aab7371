//! The encodings of an answer.

use core::fmt;

/// How the body of an answer is encoded.
///
/// The `Content-Type` of each answer decides: if a request accepts several encodings, the server
/// picks one.
///
/// ```
/// use informer_core::Encoding;
///
/// let encoding = Encoding::from_content_type;
/// assert_eq!(encoding(Some("application/json; charset=utf-8")), Ok(Encoding::Json));
/// assert_eq!(
///     encoding(Some("text/html")).unwrap_err().to_string(),
///     "the answer is `text/html`, neither JSON nor protobuf; does something other than the API server answer?"
/// );
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[non_exhaustive]
pub enum Encoding {
    /// JSON. Every server supports it for every kind.
    #[default]
    Json,
    /// The protobuf encoding of Kubernetes. Servers support it for built-in kinds, not for custom
    /// resources.
    Protobuf,
}

impl Encoding {
    /// Every encoding.
    pub const ALL: [Self; 2] = [Self::Json, Self::Protobuf];

    /// The media type of lists and single objects, for the `Accept` and `Content-Type` headers.
    #[must_use]
    pub const fn media_type(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::Protobuf => "application/vnd.kubernetes.protobuf",
        }
    }

    /// The media type of watches.
    #[must_use]
    pub const fn watch_type(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::Protobuf => "application/vnd.kubernetes.protobuf;stream=watch",
        }
    }

    /// The media type that asks for a list of objects without spec and status.
    #[must_use]
    pub const fn metadata_list_type(self) -> &'static str {
        match self {
            Self::Json => "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
            Self::Protobuf => {
                "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
            }
        }
    }

    /// The media type that asks for single objects, or a watch of objects, without spec and status.
    #[must_use]
    pub const fn metadata_type(self) -> &'static str {
        match self {
            Self::Json => "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
            Self::Protobuf => {
                "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
            }
        }
    }

    /// The encoding that a `Content-Type` header names. Without that header, JSON is assumed.
    ///
    /// # Errors
    ///
    /// The header names no known encoding. For example, a login page is a successful answer too.
    pub fn from_content_type(header: Option<&str>) -> Result<Self, UnknownContentType<'_>> {
        let Some(found) = header else {
            return Ok(Self::default());
        };
        let is_end = |character: char| matches!(character, ';' | ',') || character.is_whitespace();
        let text = found.trim_start();
        let media_type = text.split_once(is_end).map_or(text, |(before, _)| before);
        Self::ALL
            .into_iter()
            .find(|encoding| encoding.media_type().eq_ignore_ascii_case(media_type))
            .ok_or(UnknownContentType { found })
    }
}

/// The encodings that a request accepts. [`Target::accepting`] sets them.
///
/// ```
/// use informer_core::{Encoding, Encodings};
///
/// let both = Encodings::ProtobufOrJson;
/// assert_eq!(both.of_answer(Some("application/json")), Ok(Encoding::Json));
/// assert_eq!(
///     Encodings::Protobuf.of_answer(Some("application/json")).unwrap_err().to_string(),
///     "the answer is JSON, but only protobuf can be read here; \
///      custom resources have no protobuf: read them as JSON"
/// );
/// ```
///
/// [`Target::accepting`]: crate::transport::Target::accepting
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
#[non_exhaustive]
pub enum Encodings {
    /// JSON.
    #[default]
    Json,
    /// Protobuf, or JSON for what a server does not have as protobuf, such as custom resources.
    ProtobufOrJson,
    /// Protobuf. A server refuses requests for what it does not have as protobuf.
    Protobuf,
}

impl Encodings {
    /// The encodings, the preferred one first.
    #[must_use]
    pub const fn in_order(self) -> &'static [Encoding] {
        match self {
            Self::Json => &[Encoding::Json],
            Self::ProtobufOrJson => &[Encoding::Protobuf, Encoding::Json],
            Self::Protobuf => &[Encoding::Protobuf],
        }
    }

    /// The encoding of an answer, by its `Content-Type`. Without that header, JSON is assumed.
    ///
    /// # Errors
    ///
    /// The header names no known encoding, or one that the request does not accept.
    pub fn of_answer(self, content_type: Option<&str>) -> Result<Encoding, ContentTypeError<'_>> {
        let encoding =
            Encoding::from_content_type(content_type).map_err(ContentTypeError::Unknown)?;
        if self.in_order().contains(&encoding) {
            Ok(encoding)
        } else {
            Err(ContentTypeError::NotAccepted(encoding))
        }
    }
}

/// Why the body of an answer cannot be decoded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ContentTypeError<'a> {
    /// The `Content-Type` names no encoding.
    Unknown(UnknownContentType<'a>),
    /// The request does not accept this encoding.
    NotAccepted(Encoding),
}

impl fmt::Display for ContentTypeError<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(error) => error.fmt(f),
            Self::NotAccepted(Encoding::Json) => f.write_str(
                "the answer is JSON, but only protobuf can be read here; \
                 custom resources have no protobuf: read them as JSON",
            ),
            Self::NotAccepted(Encoding::Protobuf) => f.write_str(
                "the answer is protobuf, but the request accepts only JSON; \
                 does something other than the API server answer?",
            ),
        }
    }
}

impl core::error::Error for ContentTypeError<'_> {}

/// The `Content-Type` of an answer names no [`Encoding`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UnknownContentType<'a> {
    found: &'a str,
}

impl fmt::Display for UnknownContentType<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Quote only the start, so that the hint still fits into a message.
        const QUOTED: usize = 60;
        write!(
            f,
            "the answer is `{:.QUOTED$}`, neither JSON nor protobuf; does something other than the API server answer?",
            self.found
        )
    }
}

impl core::error::Error for UnknownContentType<'_> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_of_the_media_type_are_ignored() {
        let is_known = |header| Encoding::from_content_type(Some(header)).is_ok();
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
            "application/vnd.kubernetes.protobuf2",
        ] {
            assert!(!is_known(unknown), "{unknown}");
        }
        assert_eq!(Encoding::from_content_type(None), Ok(Encoding::Json));
    }

    #[test]
    fn every_media_type_names_its_encoding() {
        for encoding in Encoding::ALL {
            for media_type in [
                encoding.media_type(),
                encoding.watch_type(),
                encoding.metadata_list_type(),
                encoding.metadata_type(),
            ] {
                assert_eq!(
                    Encoding::from_content_type(Some(media_type)),
                    Ok(encoding),
                    "{media_type}"
                );
            }
        }
    }

    #[test]
    fn an_answer_in_an_encoding_that_was_not_asked_for_is_refused() {
        let json = Some("application/json");
        let protobuf = Some("application/vnd.kubernetes.protobuf;stream=watch");
        let not_accepted = |encoding| Err(ContentTypeError::NotAccepted(encoding));
        for (accepted, of_json, of_protobuf) in [
            (
                Encodings::Json,
                Ok(Encoding::Json),
                not_accepted(Encoding::Protobuf),
            ),
            (
                Encodings::ProtobufOrJson,
                Ok(Encoding::Json),
                Ok(Encoding::Protobuf),
            ),
            (
                Encodings::Protobuf,
                not_accepted(Encoding::Json),
                Ok(Encoding::Protobuf),
            ),
        ] {
            assert_eq!(accepted.of_answer(json), of_json, "{accepted:?}");
            assert_eq!(accepted.of_answer(protobuf), of_protobuf, "{accepted:?}");
            assert!(accepted.of_answer(Some("text/html")).is_err());
        }
    }
}
