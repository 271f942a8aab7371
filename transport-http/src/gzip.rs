//! Compressed bodies.

use std::{io, mem};

use bytes::{Buf as _, Bytes};
use flate2::{Decompress, FlushDecompress, Status};

/// The size of a decompressed piece. An object that crosses the border of two pieces is read twice.
const PIECE: usize = 256 << 10;

/// The largest window of gzip, in bits.
const WINDOW: u8 = 15;

/// Decompresses a body piece by piece.
///
/// A streaming server ends a gzip member at every flush, so a body is a chain of members. The contents
/// of one member must come out before the next member arrives.
#[derive(Debug)]
pub(crate) struct Gunzip {
    /// `None` between members.
    member: Option<Decompress>,
    packed: Bytes,
    /// What was decompressed and not taken yet.
    piece: Vec<u8>,
    /// The last piece was full, so there may be more of what went in before.
    may_hold_more: bool,
}

impl Gunzip {
    pub(crate) const fn new() -> Self {
        Self {
            member: None,
            packed: Bytes::new(),
            piece: Vec::new(),
            may_hold_more: false,
        }
    }

    /// Sets the next compressed piece. Call it only after [`fill`](Self::fill) returned `false`.
    pub(crate) fn feed(&mut self, packed: Bytes) {
        self.packed = packed;
    }

    /// Decompresses what there is, up to a full piece. `false` if the input is used up before.
    pub(crate) fn fill(&mut self) -> io::Result<bool> {
        while self.piece.len() < PIECE && (self.may_hold_more || !self.packed.is_empty()) {
            self.piece.reserve_exact(PIECE - self.piece.len());
            self.unpack()?;
        }
        Ok(self.piece.len() >= PIECE)
    }

    /// Takes what was decompressed: at most 256 KiB, whatever the compression ratio; `None` if there is nothing.
    pub(crate) fn take(&mut self) -> Option<Bytes> {
        (!self.piece.is_empty()).then(|| mem::take(&mut self.piece).into())
    }

    /// Fills the room in the piece, unless the member or the input ends before.
    fn unpack(&mut self) -> io::Result<()> {
        let member = self
            .member
            .get_or_insert_with(|| Decompress::new_gzip(WINDOW));
        let before = (member.total_in(), member.total_out());
        let status = member.decompress_vec(&self.packed, &mut self.piece, FlushDecompress::None)?;
        let after = (member.total_in(), member.total_out());
        let used = usize::try_from(after.0 - before.0).unwrap_or(usize::MAX);
        self.packed.advance(used.min(self.packed.len()));
        self.may_hold_more = self.piece.len() == self.piece.capacity();
        if status == Status::StreamEnd {
            self.member = None;
            self.may_hold_more = false;
        } else if after == before && !self.packed.is_empty() {
            return Err(io::ErrorKind::InvalidData.into());
        }
        Ok(())
    }

    /// Checks that the body may end here: between members, not within one.
    pub(crate) fn end(&self) -> io::Result<()> {
        match self.member {
            None => Ok(()),
            Some(_) => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

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
        let mut full = true;
        while full {
            full = gunzip.fill().unwrap();
            let piece = gunzip.take().unwrap_or_default();
            assert_eq!(piece.len() == PIECE, full);
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
    fn a_wrong_checksum_is_an_error() {
        let mut packed = member(b"something");
        let checksum = packed.len() - 8;
        *packed.get_mut(checksum).unwrap() ^= 1;
        let mut gunzip = Gunzip::new();
        gunzip.feed(packed.into());
        assert!(gunzip.fill().is_err());
    }

    #[test]
    fn noise_behind_a_member_is_an_error() {
        let mut gunzip = Gunzip::new();
        gunzip.feed([member(b"one\n"), b"noise".to_vec()].concat().into());
        assert!(gunzip.fill().is_err());
    }

    #[test]
    fn noise_is_an_error() {
        let mut gunzip = Gunzip::new();
        gunzip.feed(Bytes::from_static(b"<html>this is no gzip</html>"));
        assert!(gunzip.fill().is_err());
    }
}
