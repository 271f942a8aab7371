//! The same body in JSON and in protobuf.

use core::fmt::Debug;

use informer_core::decode::form::Form;
use informer_core::decode::{Body, Decoder};
use informer_core::flow::Fact;
use informer_core::{Encoding, Object};

use super::feed_in;

/// A body in both encodings.
pub(crate) type Bodies = [(Encoding, &'static [u8]); 2];

/// A body in both encodings, from its file.
#[allow(unused_macros, reason = "every test file uses a part of this")]
macro_rules! body {
    ($name:literal) => {
        [
            (
                Encoding::Json,
                include_bytes!(concat!("protobuf_bodies/", $name, ".json")).as_slice(),
            ),
            (
                Encoding::Protobuf,
                include_bytes!(concat!("protobuf_bodies/", $name, ".pb")).as_slice(),
            ),
        ]
    };
}

#[allow(unused_imports, reason = "every test file uses a part of this")]
pub(crate) use body;

const PIECES: [&[usize]; 4] = [&[usize::MAX], &[1], &[3], &[100, 1, 7]];

/// The facts of a body in both encodings, which do not depend on the pieces.
pub(crate) fn facts_of<F>(form: F, body: Body, bodies: Bodies) -> [Vec<String>; 2]
where
    F: Form<Body: Debug> + Copy,
{
    bodies.map(|(encoding, bytes)| {
        let [whole, others @ ..] = PIECES.map(|pieces| {
            let mut facts = Vec::new();
            let decoder = &mut Decoder::new(form);
            feed_in(encoding, decoder, body, bytes, pieces, |fact| {
                facts.push(format!("{fact:?}"));
            });
            facts
        });
        for other in others {
            assert_eq!(whole, other, "the pieces do not matter");
        }
        whole
    })
}

/// The objects of a list or a watch in both encodings.
pub(crate) fn objects_of<F: Form + Copy>(
    form: F,
    body: Body,
    bodies: Bodies,
) -> impl Iterator<Item = (Object<F::Body>, Object<F::Body>)> {
    let [json, protobuf] = bodies.map(|(encoding, bytes)| {
        let mut objects = Vec::new();
        let decoder = &mut Decoder::new(form);
        feed_in(encoding, decoder, body, bytes, &[1000], |fact| match fact {
            Fact::Item(object)
            | Fact::Added(object)
            | Fact::Modified(object)
            | Fact::Deleted(object) => objects.push(object),
            _ => {}
        });
        objects
    });
    assert_eq!(json.len(), protobuf.len());
    json.into_iter().zip(protobuf)
}

/// Everything that an object says without a schema.
pub(crate) fn said<K>(object: &Object<K>) -> String {
    let mut annotations = Vec::new();
    object.each_annotation(&mut |key, value| annotations.push((key.to_owned(), value.to_owned())));
    format!(
        "{} {} {} {} {} {} {:?} {:?} {:?} {:?} {:?}",
        object.key(),
        object.uid(),
        object.version(),
        object.generation(),
        object.creation_time(),
        object.deletion_time(),
        object.labels(),
        annotations,
        object.owners(),
        object.controller(),
        object.annotation("team/owner"),
    )
}
