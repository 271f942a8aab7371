//! The type that was read last.

use alloc::string::String;
use alloc::vec::Vec;

use super::envelope::{EnvelopeError, read_type};
use crate::decode::TypeMeta;

/// The longest message of a type that is remembered. Servers write about 40 bytes.
const LONGEST: usize = 256;

/// The type that was read last. Nearly all objects of an answer have the same one, and to compare its bytes
/// takes less than to read them again.
#[derive(Clone, Debug, Default)]
pub(super) struct KnownType {
    message: Vec<u8>,
    /// Empty if there is none.
    api_version: String,
    kind: String,
}

impl KnownType {
    /// Reads the message of a type.
    #[inline]
    pub(super) fn read<'a>(&'a mut self, message: &'a [u8]) -> Result<TypeMeta<'a>, EnvelopeError> {
        if self.message != message {
            return self.read_other(message);
        }
        Ok(self.type_meta())
    }

    #[cold]
    fn read_other<'a>(&'a mut self, message: &'a [u8]) -> Result<TypeMeta<'a>, EnvelopeError> {
        let mut type_meta = TypeMeta::default();
        read_type(message, &mut type_meta)?;
        if message.len() > LONGEST {
            return Ok(type_meta);
        }
        self.remember(message, type_meta);
        Ok(self.type_meta())
    }

    #[inline]
    fn type_meta(&self) -> TypeMeta<'_> {
        let [api_version, kind] = [&self.api_version, &self.kind]
            .map(|text| Some(text.as_str()).filter(|text| !text.is_empty()));
        TypeMeta { api_version, kind }
    }

    fn remember(&mut self, message: &[u8], type_meta: TypeMeta<'_>) {
        self.message.clear();
        self.message.extend_from_slice(message);
        for (to, text) in [
            (&mut self.api_version, type_meta.api_version),
            (&mut self.kind, type_meta.kind),
        ] {
            to.clear();
            to.push_str(text.unwrap_or_default());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    const fn type_of<'a>(api_version: Option<&'a str>, kind: Option<&'a str>) -> TypeMeta<'a> {
        TypeMeta { api_version, kind }
    }

    #[test]
    fn each_type_is_read_as_without_the_last_one() {
        let mut known = KnownType::default();
        let long = vec![b'x'; LONGEST];
        let long = [b"\x0a\x80\x02", &long[..], b"\x12\x01L"].concat();
        for message in [
            &b""[..],
            b"\x0a\x02v1\x12\x03Pod",
            b"\x0a\x02v1\x12\x03Pod",
            b"\x0a\x02v2\x12\x03Pod",
            b"\x0a\x02v1\x12\x03Job",
            b"\x12\x03Job",
            &long,
            b"\x12\x03Job",
            b"\x0a\x02v1",
            b"\x0a\x02v\xff",
            b"\x0a\x02v1",
            b"",
        ] {
            let mut expected = TypeMeta::default();
            let read = read_type(message, &mut expected).map(|()| expected);
            for _ in 0..2 {
                assert_eq!(known.read(message), read, "{message:?}");
            }
            assert!(known.message.len() <= LONGEST);
        }
        assert_eq!(
            known.read(b"\x0a\x01a\x12\x01b"),
            Ok(type_of(Some("a"), Some("b")))
        );
    }
}
