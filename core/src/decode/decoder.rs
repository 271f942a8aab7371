//! Decodes each answer by its encoding.

use super::facts::{FactOf, Facts, ends_body};
use super::form::{Form, ProtobufUse};
use super::json::reading::JsonReading;
use super::protobuf::reading::ProtobufReading;
use super::{Body, Decode, InvalidLimit, Limits};
use crate::decoded::Object;
use crate::encoding::Encoding;
use crate::failure::Failure;
use crate::flow::Fact;

/// Decodes lists and watches into objects whose body has the form `F`. It decodes each answer in
/// the encoding that the answer has.
///
/// It looks at each byte a fixed number of times, whatever the pieces, and holds at most one
/// incomplete object. An object that cannot be used becomes a [`Fact::Rejected`], with its key if
/// that is readable, and does not affect other objects. The decoder does not check the kind of an
/// object: the form decides what fits.
///
/// ```
/// use informer_core::Encoding;
/// use informer_core::decode::{Body, Decode, Decoder, Lean};
/// use informer_core::flow::Fact;
///
/// let mut decoder = Decoder::new(Lean);
/// decoder.begin(Body::List, Encoding::Json);
///
/// let mut piece = &br#"{"kind":"PodList","metadata":{"resourceVersion":"7"},"items":[{"meta"#[..];
/// assert_eq!(decoder.decode(&mut piece), None);
///
/// let mut piece = &br#"data":{"namespace":"web","name":"a"}}]}"#[..];
/// let Some(Fact::Item(pod)) = decoder.decode(&mut piece) else { panic!() };
/// assert_eq!(pod.key().as_str(), "web/a");
/// let end = Fact::PageEnd { version: "7", next: None, remaining: None };
/// assert_eq!(decoder.decode(&mut piece), Some(end));
/// assert_eq!(decoder.end(), Fact::Closed);
/// ```
#[derive(Clone, Debug)]
pub struct Decoder<F: Form> {
    facts: Facts<F>,
    /// The encoding of the current answer.
    encoding: Encoding,
    json: JsonReading,
    protobuf: ProtobufReading,
    /// No more facts are expected; the rest of the body is skipped.
    over: bool,
}

impl<F: Form> Decoder<F> {
    /// Creates a decoder with the default [`Limits`].
    #[must_use]
    pub fn new(form: F) -> Self {
        Self::bounded(form, Limits::new())
    }

    /// Creates a decoder with these limits.
    ///
    /// # Errors
    ///
    /// A limit is zero, or the depth is above [`MAX_DEPTH`](super::json::text::MAX_DEPTH).
    pub fn with_limits(form: F, limits: Limits) -> Result<Self, InvalidLimit> {
        limits.check()?;
        Ok(Self::bounded(form, limits))
    }

    fn bounded(form: F, limits: Limits) -> Self {
        Self {
            json: JsonReading::new(&form, limits),
            facts: Facts::new(form, limits),
            encoding: Encoding::Json,
            protobuf: ProtobufReading::new(limits),
            over: true,
        }
    }
}

impl<F: Form> Decode for Decoder<F> {
    type Object = Object<F::Body>;

    fn begin(&mut self, body: Body, encoding: Encoding) {
        self.over = false;
        self.encoding = encoding;
        match encoding {
            Encoding::Json => self.json.begin(body),
            Encoding::Protobuf => self.protobuf.begin(body),
        }
    }

    fn decode(&mut self, input: &mut &[u8]) -> Option<Fact<'_, Self::Object>> {
        if self.over {
            *input = &[];
            return None;
        }
        let fact = match self.encoding {
            other if !reads::<F>(other) => refuse(other, input, &mut self.facts),
            Encoding::Json => self.json.next(input, &mut self.facts)?,
            Encoding::Protobuf => self.protobuf.next(input, &mut self.facts)?,
        };
        self.over = ends_body(&fact);
        Some(fact)
    }

    fn end(&mut self) -> Fact<'_, Self::Object> {
        if core::mem::replace(&mut self.over, true) {
            return Fact::Closed;
        }
        match self.encoding {
            other if !reads::<F>(other) => refuse(other, &mut &[][..], &mut self.facts),
            Encoding::Json => self.json.end(&mut self.facts),
            Encoding::Protobuf => self.protobuf.end(&mut self.facts),
        }
    }
}

fn reads<F: Form>(encoding: Encoding) -> bool {
    match encoding {
        Encoding::Json => F::READS_JSON,
        Encoding::Protobuf => F::PROTOBUF != ProtobufUse::Refused,
    }
}

/// The only fact of an answer that the form does not read.
fn refuse<'a, F: Form>(
    encoding: Encoding,
    input: &mut &[u8],
    facts: &'a mut Facts<F>,
) -> FactOf<'a, F> {
    *input = &[];
    let text = match encoding {
        Encoding::Json => {
            "the server answers in JSON, and the type reads only protobuf; \
             custom resources have no protobuf: use a serde type, or lean or metadata objects"
        }
        Encoding::Protobuf => {
            "the server answers in protobuf, and the type reads only JSON; ask for JSON, or use a \
             prost type, or lean or metadata objects"
        }
    };
    facts.fail(Failure::Undecodable, text)
}
