//! The forms of objects in answers: whole, metadata, or table rows.

use std::sync::Arc;
use std::time::Duration;

use crate::api::ApiKind;
use crate::encode::{Encoded, json};
use crate::request::Verb;
use crate::status::{ApiError, Reason};
use crate::timestamp::Timestamp;

/// The form in which a client wants objects.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[non_exhaustive]
pub enum ObjectForm {
    /// Whole objects.
    #[default]
    Object,
    /// `as=PartialObjectMetadata`: metadata, for one object or a watch.
    Metadata,
    /// `as=PartialObjectMetadataList`: metadata, for a list.
    MetadataList,
    /// `as=Table`: name and age, as `kubectl get` wants them.
    Table,
}

const METADATA_OPENING: &[u8] =
    br#"{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":"#;

const COLUMNS: &[u8] = br#""columnDefinitions":[{"name":"Name","type":"string","format":"name","description":"The name of the object.","priority":0},{"name":"Age","type":"string","format":"","description":"How long ago the object was created.","priority":0}]"#;

impl ObjectForm {
    /// The form that the parameters of a media type ask for; `None` if unknown.
    pub(crate) fn from_parameters<'a>(
        parts: impl Iterator<Item = &'a str> + Clone,
    ) -> Option<Self> {
        let value = |name: &str| parts.clone().find_map(|part| part.strip_prefix(name));
        let is_known = matches!(value("v="), Some("v1" | "v1beta1"));
        match value("as=") {
            None => Some(Self::Object),
            Some("PartialObjectMetadata") if is_known => Some(Self::Metadata),
            Some("PartialObjectMetadataList") if is_known => Some(Self::MetadataList),
            Some("Table") if is_known => Some(Self::Table),
            Some(_) => None,
        }
    }

    /// Refuses the metadata form of an object for a list, and the reverse.
    pub(crate) fn check(self, kind: &ApiKind, verb: Verb) -> Result<(), ApiError> {
        let wrong = match (self, verb) {
            (Self::Metadata, Verb::List) => format!(
                "you requested PartialObjectMetadata, but the requested object is a list ({}List)",
                kind.go_type()
            ),
            (Self::MetadataList, Verb::Get) => format!(
                "you requested PartialObjectMetadataList, but the requested object is not a list ({})",
                kind.go_type()
            ),
            _ => return Ok(()),
        };
        Err(ApiError::new(Reason::NotAcceptable, wrong))
    }

    /// Writes the part before the items of a list.
    pub(crate) fn begin_list(self, kind: &ApiKind, page: &Page, out: &mut Vec<u8>) {
        let (list_kind, api_version) = match self {
            Self::Object => (kind.list_kind(), kind.api_version()),
            Self::Metadata | Self::MetadataList => ("PartialObjectMetadataList", META.to_owned()),
            Self::Table => ("Table", META.to_owned()),
        };
        if self == Self::Object && kind.is_custom() {
            let opening = format!(r#"{{"apiVersion":"{api_version}","items":["#);
            out.extend_from_slice(opening.as_bytes());
            return;
        }
        let opening = format!(r#"{{"kind":"{list_kind}","apiVersion":"{api_version}","metadata":"#);
        out.extend_from_slice(opening.as_bytes());
        page.write(out);
        match self {
            Self::Table => {
                out.push(b',');
                out.extend_from_slice(COLUMNS);
                out.extend_from_slice(br#","rows":["#);
            }
            _ => out.extend_from_slice(br#","items":["#),
        }
    }

    /// Writes one list item.
    pub(crate) fn item(self, object: &Encoded, row: Row<'_>, out: &mut Vec<u8>) {
        match self {
            Self::Object => object.write_item(out),
            Self::Metadata | Self::MetadataList => metadata_alone(object, out),
            Self::Table => row.write(object, out),
        }
    }

    /// Writes the part after the items of a list.
    pub(crate) fn end_list(self, kind: &ApiKind, page: &Page, out: &mut Vec<u8>) {
        out.push(b']');
        if self == Self::Object && kind.is_custom() {
            let middle = format!(r#","kind":"{}","metadata":"#, kind.list_kind());
            out.extend_from_slice(middle.as_bytes());
            page.write_custom(out);
        }
        out.extend_from_slice(b"}\n");
    }

    /// Encodes a single object. A watch sends the table columns once, with the first row.
    pub(crate) fn object(self, object: &Encoded, row: Row<'_>, has_columns: bool) -> Arc<[u8]> {
        let mut out = Vec::new();
        match self {
            Self::Object => return Arc::clone(&object.whole),
            Self::Metadata | Self::MetadataList => metadata_alone(object, &mut out),
            Self::Table => {
                let opening = format!(
                    r#"{{"kind":"Table","apiVersion":"{META}","metadata":{{"resourceVersion":"{}"}},"#,
                    row.version
                );
                out.extend_from_slice(opening.as_bytes());
                out.extend_from_slice(match has_columns {
                    true => COLUMNS,
                    false => br#""columnDefinitions":null"#,
                });
                out.extend_from_slice(br#","rows":["#);
                row.write(object, &mut out);
                out.extend_from_slice(b"]}");
            }
        }
        out.into()
    }
}

pub(crate) const META: &str = "meta.k8s.io/v1";

fn metadata_alone(object: &Encoded, out: &mut Vec<u8>) {
    out.extend_from_slice(METADATA_OPENING);
    out.extend_from_slice(object.metadata());
    out.push(b'}');
}

/// The metadata of a list.
#[derive(Clone, Debug)]
pub(crate) struct Page {
    pub(crate) version: u64,
    /// Empty on the last page.
    pub(crate) continue_token: String,
    /// `None` on the last page, and with a selector.
    pub(crate) remaining: Option<u64>,
}

impl Page {
    fn write(&self, out: &mut Vec<u8>) {
        let mut text = format!(r#"{{"resourceVersion":"{}""#, self.version);
        if !self.continue_token.is_empty() {
            text += &format!(r#","continue":"{}""#, self.continue_token);
        }
        if let Some(remaining) = self.remaining {
            text += &format!(r#","remainingItemCount":{remaining}"#);
        }
        text.push('}');
        out.extend_from_slice(text.as_bytes());
    }

    /// Lists of custom resources are in alphabetical order and always have a token.
    fn write_custom(&self, out: &mut Vec<u8>) {
        let mut text = format!(r#"{{"continue":"{}""#, self.continue_token);
        if let Some(remaining) = self.remaining {
            text += &format!(r#","remainingItemCount":{remaining}"#);
        }
        text += &format!(r#","resourceVersion":"{}"}}"#, self.version);
        out.extend_from_slice(text.as_bytes());
    }
}

/// The table row of an object.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row<'a> {
    pub(crate) name: &'a str,
    pub(crate) version: u64,
    pub(crate) created: Option<&'a str>,
    pub(crate) now: Timestamp,
}

impl Row<'_> {
    fn write(&self, object: &Encoded, out: &mut Vec<u8>) {
        out.extend_from_slice(br#"{"cells":["#);
        json(out, self.name);
        out.push(b',');
        json(out, &self.age());
        out.extend_from_slice(br#"],"object":"#);
        metadata_alone(object, out);
        out.push(b'}');
    }

    fn age(&self) -> String {
        match self.created.and_then(Timestamp::parse) {
            Some(created) => {
                let seconds = self.now.as_unix().saturating_sub(created.as_unix());
                human(Duration::from_secs(seconds))
            }
            None => "<unknown>".to_owned(),
        }
    }
}

/// A duration in one or two units, as kubectl shows ages.
fn human(duration: Duration) -> String {
    let seconds = duration.as_secs();
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86_400);
    let pair = |big: u64, unit: char, small: u64, rest: char| match small {
        0 => format!("{big}{unit}"),
        _ => format!("{big}{unit}{small}{rest}"),
    };
    match seconds {
        0..120 => format!("{seconds}s"),
        120..600 => pair(minutes, 'm', seconds % 60, 's'),
        600..10_800 => format!("{minutes}m"),
        10_800..28_800 => pair(hours, 'h', minutes % 60, 'm'),
        28_800..172_800 => format!("{hours}h"),
        172_800..691_200 => pair(days, 'd', hours % 24, 'h'),
        691_200..63_072_000 => format!("{days}d"),
        63_072_000..252_288_000 => pair(days / 365, 'y', days % 365, 'd'),
        _ => format!("{}y", days / 365),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages() {
        for (seconds, text) in [
            (0, "0s"),
            (119, "119s"),
            (120, "2m"),
            (125, "2m5s"),
            (600, "10m"),
            (10_800, "3h"),
            (10_860, "3h1m"),
            (30_000, "8h"),
            (180_000, "2d2h"),
            (700_000, "8d"),
            (63_072_000, "2y"),
            (300_000_000, "9y"),
        ] {
            assert_eq!(human(Duration::from_secs(seconds)), text);
        }
    }
}
