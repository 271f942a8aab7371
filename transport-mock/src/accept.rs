//! The `Accept` header: how the client wants its answer, and how it gets it.

use informer_core::Encoding;

use crate::api::ApiKind;
use crate::form::ObjectForm;
use crate::protobuf;
use crate::representation::Representation;
use crate::status::ApiError;

/// What a client accepts, in the order of its preference.
///
/// ```
/// use informer_core::Encoding;
/// use informer_transport_mock::request::Accept;
///
/// let header = "application/vnd.kubernetes.protobuf;stream=watch,application/json";
/// assert_eq!(Accept::parse(Some(header)).for_errors(), Encoding::Protobuf);
/// assert_eq!(Accept::parse(None), Accept::default());
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Accept {
    /// The media types that this server knows. `None` in place of a form that it does not know.
    clauses: Vec<(Encoding, Option<ObjectForm>)>,
}

impl Accept {
    /// Parses the header. Without it, a client gets JSON. Media types that the server does not know are
    /// left out, and weights are ignored.
    #[must_use]
    pub fn parse(header: Option<&str>) -> Self {
        let Some(header) = header.filter(|header| !header.trim().is_empty()) else {
            return Self::default();
        };
        let clauses = header.split(',').filter_map(|text| {
            let mut parts = text.split(';').map(str::trim);
            let encoding = match parts.next() {
                Some("*/*") => Encoding::Json,
                media_type => Encoding::ALL
                    .into_iter()
                    .find(|encoding| media_type == Some(encoding.media_type()))?,
            };
            Some((encoding, ObjectForm::from_parameters(parts)))
        });
        Self {
            clauses: clauses.collect(),
        }
    }

    /// The first representation that the server has of this kind.
    pub(crate) fn choose(&self, kind: &ApiKind) -> Result<Representation, ApiError> {
        if self.clauses.is_empty() {
            return Err(ApiError::no_such_media_type());
        }
        let known = self.clauses.iter().find_map(|(encoding, form)| {
            let form = (*form)?;
            let has = match (encoding, form) {
                (Encoding::Json, _) => true,
                (_, ObjectForm::Object) => protobuf::message_of(kind).is_some(),
                (_, ObjectForm::Metadata | ObjectForm::MetadataList) => true,
                (_, ObjectForm::Table) => false,
            };
            has.then_some(Representation {
                form,
                encoding: *encoding,
            })
        });
        known.ok_or_else(ApiError::not_acceptable)
    }

    /// The encoding of a refusal. The real server does not turn refusals into other forms, so a client
    /// that accepts only these gets JSON.
    #[must_use]
    pub fn for_errors(&self) -> Encoding {
        let mut clauses = self.clauses.iter();
        let plain = clauses.find(|(_, form)| *form == Some(ObjectForm::Object));
        plain.map(|(encoding, _)| *encoding).unwrap_or_default()
    }
}

/// JSON, as for a request without the header.
impl Default for Accept {
    fn default() -> Self {
        ObjectForm::Object.into()
    }
}

/// JSON in this form.
impl From<ObjectForm> for Accept {
    fn from(form: ObjectForm) -> Self {
        Self {
            clauses: vec![(Encoding::Json, Some(form))],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::Registry;

    const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";

    fn chosen(plural: &str, accept: &str) -> Result<(Encoding, ObjectForm), u16> {
        let mut registry = Registry::with_builtins();
        registry.register(ApiKind::custom("example.com", "v1", "widgets", "Widget"));
        let (_, kind) = registry.find(plural).unwrap();
        let chosen = Accept::parse(Some(accept)).choose(kind);
        chosen
            .map(|it| (it.encoding, it.form))
            .map_err(|refused| refused.code())
    }

    #[test]
    fn the_first_supported_representation_wins() {
        let kubectl = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json";
        let metadata = "as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
        let json = |form| Ok((Encoding::Json, form));
        let protobuf = |form| Ok((Encoding::Protobuf, form));
        for (plural, accept, expected) in [
            ("pods", "", json(ObjectForm::Object)),
            ("pods", "*/*", json(ObjectForm::Object)),
            ("pods", kubectl, json(ObjectForm::Table)),
            ("pods", PROTOBUF, protobuf(ObjectForm::Object)),
            (
                "pods",
                &format!("{PROTOBUF};stream=watch,application/json"),
                protobuf(ObjectForm::Object),
            ),
            (
                "pods",
                &format!("application/json, {PROTOBUF}"),
                json(ObjectForm::Object),
            ),
            (
                "pods",
                &format!("application/json;{metadata}"),
                json(ObjectForm::MetadataList),
            ),
            (
                "pods",
                &format!("{PROTOBUF};{metadata},application/json;{metadata}"),
                protobuf(ObjectForm::MetadataList),
            ),
            (
                "pods",
                &format!("{PROTOBUF};as=Table;g=meta.k8s.io;v=v1,application/json"),
                json(ObjectForm::Object),
            ),
            // Custom resources have no protobuf, but their metadata has.
            ("widgets", PROTOBUF, Err(406)),
            (
                "widgets",
                &format!("{PROTOBUF},application/json"),
                json(ObjectForm::Object),
            ),
            (
                "widgets",
                &format!("{PROTOBUF};{metadata}"),
                protobuf(ObjectForm::MetadataList),
            ),
            ("pods", "application/cbor", Err(406)),
            ("pods", "application/json;as=Poem;v=v1", Err(406)),
        ] {
            assert_eq!(chosen(plural, accept), expected, "{plural} {accept}");
        }
    }

    #[test]
    fn refusals_are_not_converted() {
        let metadata = "as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
        for (accept, expected) in [
            ("text/html", Encoding::Json),
            (PROTOBUF, Encoding::Protobuf),
            (&format!("{PROTOBUF};{metadata}"), Encoding::Json),
            (
                &format!("{PROTOBUF};{metadata},{PROTOBUF}"),
                Encoding::Protobuf,
            ),
            (
                &format!("{PROTOBUF};stream=watch,application/json"),
                Encoding::Protobuf,
            ),
        ] {
            let accept = Accept::parse(Some(accept));
            assert_eq!(accept.for_errors(), expected, "{accept:?}");
        }
    }
}
