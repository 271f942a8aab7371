//! Compressed bodies.

use std::io::{self, Write as _};

use bytes::buf::Writer;
use bytes::{Buf as _, BufMut as _, Bytes, BytesMut};
use flate2::write::MultiGzDecoder;

/// How many decompressed bytes to gather. An object that crosses the border of two pieces is read twice.
const PIECE: usize = 64 << 10;

/// Decompresses a body piece by piece.
///
/// A streaming server ends a gzip member at every flush, so a body is a chain of members. The contents
/// of one member must come out before the next member arrives.
#[derive(Debug)]
pub(crate) struct Gunzip {
    decoder: MultiGzDecoder<Writer<BytesMut>>,
    packed: Bytes,
    has_begun: bool,
}

impl Gunzip {
    pub(crate) fn new() -> Self {
        Self {
            decoder: MultiGzDecoder::new(BytesMut::new().writer()),
            packed: Bytes::new(),
            has_begun: false,
        }
    }

    /// Sets the next compressed piece. Call it only after [`next`](Self::next) returned `None`.
    pub(crate) fn feed(&mut self, packed: Bytes) {
        self.has_begun |= !packed.is_empty();
        self.packed = packed;
    }

    /// The next decompressed piece, or `None` when the input is used up. A piece is at most some tens
    /// of KiB, whatever the compression ratio.
    pub(crate) fn next(&mut self) -> io::Result<Option<Bytes>> {
        while !self.packed.is_empty() && self.unpacked().len() < PIECE {
            let used = self.decoder.write(&self.packed)?;
            self.packed.advance(used);
            self.decoder.flush()?;
        }
        let unpacked = self.unpacked();
        Ok((!unpacked.is_empty()).then(|| unpacked.split().freeze()))
    }

    fn unpacked(&mut self) -> &mut BytesMut {
        self.decoder.get_mut().get_mut()
    }

    /// Checks that the body may end here: between members, not within one.
    pub(crate) fn end(&mut self) -> io::Result<()> {
        if self.has_begun {
            self.decoder.try_finish()?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;

    fn member(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn out(gunzip: &mut Gunzip, packed: &[u8]) -> Vec<u8> {
        gunzip.feed(Bytes::copy_from_slice(packed));
        let mut out = Vec::new();
        while let Some(piece) = gunzip.next().unwrap() {
            assert!(piece.len() <= 128 << 10);
            out.extend(piece);
        }
        out
    }

    #[test]
    fn each_member_comes_out_as_it_comes_in() {
        let mut gunzip = Gunzip::new();
        for text in ["first\n", "second\n", "third\n"] {
            assert_eq!(out(&mut gunzip, &member(text.as_bytes())), text.as_bytes());
        }
        gunzip.end().unwrap();
    }

    #[test]
    fn piece_boundaries_do_not_matter() {
        let packed = [member(b"one\n"), member(b""), member(b"two\n")].concat();
        let mut gunzip = Gunzip::new();
        let mut unpacked = Vec::new();
        for byte in packed {
            unpacked.extend(out(&mut gunzip, &[byte]));
        }
        assert_eq!(unpacked, b"one\ntwo\n");
        gunzip.end().unwrap();
    }

    #[test]
    fn a_flush_within_a_member_comes_out() {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(b"half").unwrap();
        encoder.flush().unwrap();
        let mut gunzip = Gunzip::new();
        assert_eq!(out(&mut gunzip, encoder.get_ref()), b"half");
        assert!(gunzip.end().is_err());
    }

    #[test]
    fn a_large_output_comes_in_small_pieces() {
        let mut gunzip = Gunzip::new();
        let zeros = vec![0; 16 << 20];
        assert_eq!(out(&mut gunzip, &member(&zeros)).len(), zeros.len());
    }

    #[test]
    fn an_end_within_a_member_is_an_error_and_an_empty_body_is_not() {
        let packed = member(b"something");
        for cut in 1..packed.len() {
            let mut gunzip = Gunzip::new();
            out(&mut gunzip, packed.get(..cut).unwrap());
            assert!(gunzip.end().is_err(), "cut at {cut}");
        }
        Gunzip::new().end().unwrap();
    }

    #[test]
    fn noise_is_an_error() {
        let mut gunzip = Gunzip::new();
        gunzip.feed(Bytes::from_static(b"<html>this is no gzip</html>"));
        assert!(gunzip.next().is_err());
    }
}
