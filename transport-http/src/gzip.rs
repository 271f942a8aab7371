//! Compressed bodies.

use std::{io, mem};

use bytes::{Buf as _, Bytes, BytesMut};
use flate2::{Decompress, FlushDecompress, Status};

/// The largest decompressed piece. An object that crosses the border of two pieces is read twice.
const PIECE: usize = 256 << 10;

/// The room for a piece at first. A watch needs no more for most events.
const FIRST_ROOM: usize = 16 << 10;

/// How many compressed bytes to decompress in one go. Before each go the inflater copies the last 32 KiB of what it
/// wrote.
const INPUT: usize = 64 << 10;

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
    packed: BytesMut,
    /// Where the next piece is written. All of it is initialised, which takes time, so it is used again.
    room: BytesMut,
    /// The room of the last piece, which the reader may still have.
    lent: Bytes,
    /// The last piece was full, so there may be more of what went in before.
    may_hold_more: bool,
}

impl Gunzip {
    pub(crate) fn new() -> Self {
        Self {
            member: None,
            packed: BytesMut::new(),
            room: BytesMut::new(),
            lent: Bytes::new(),
            may_hold_more: false,
        }
    }

    /// Whether to wait for more before the next piece is made, if more has arrived.
    pub(crate) fn is_hungry(&self) -> bool {
        !self.may_hold_more && self.packed.len() < INPUT
    }

    /// Adds compressed bytes.
    pub(crate) fn feed(&mut self, packed: Bytes) {
        if self.packed.is_empty() {
            self.packed = packed.into();
        } else {
            self.packed.extend_from_slice(&packed);
        }
    }

    /// Decompresses what there is: at most 256 KiB, whatever the compression ratio; `None` if there is nothing.
    pub(crate) fn piece(&mut self) -> io::Result<Option<Bytes>> {
        let mut length = 0;
        while length < PIECE && (self.may_hold_more || !self.packed.is_empty()) {
            if length == self.room.len() {
                self.make_room();
            }
            length += self.unpack(length)?;
        }
        if length == 0 {
            return Ok(None);
        }
        let whole = mem::take(&mut self.room).freeze();
        let piece = whole.slice(..length);
        // Someone who waits for a little at a time needs no room meanwhile.
        if length > whole.len() / 2 {
            self.lent = whole;
        }
        Ok(Some(piece))
    }

    /// Takes the room of the last piece back, or makes more.
    fn make_room(&mut self) {
        if self.room.is_empty()
            && let Ok(room) = mem::take(&mut self.lent).try_into_mut()
            && !room.is_empty()
        {
            self.room = room;
        } else {
            let more = (self.room.len() * 2).clamp(FIRST_ROOM, PIECE);
            self.room.resize(more, 0);
        }
    }

    /// Decompresses into the room from here on, until it is full, or the member or the input ends. Returns how
    /// many bytes came out.
    fn unpack(&mut self, from: usize) -> io::Result<usize> {
        let member = self
            .member
            .get_or_insert_with(|| Decompress::new_gzip(WINDOW));
        let before = (member.total_in(), member.total_out());
        let room = self.room.get_mut(from..).unwrap_or_default();
        let status = member.decompress(&self.packed, room, FlushDecompress::None)?;
        let [used, written] = [member.total_in() - before.0, member.total_out() - before.1]
            .map(|count| usize::try_from(count).unwrap_or(usize::MAX));
        self.packed.advance(used.min(self.packed.len()));
        self.may_hold_more = written == room.len();
        if status == Status::StreamEnd {
            self.member = None;
            self.may_hold_more = false;
        } else if used == 0 && written == 0 && !self.packed.is_empty() {
            return Err(io::ErrorKind::InvalidData.into());
        }
        Ok(written)
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
        while let Some(piece) = gunzip.piece().unwrap() {
            assert!(piece.len() <= PIECE);
            out.extend(piece);
        }
        assert!(gunzip.is_hungry());
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
        assert!(gunzip.piece().is_err());
    }

    #[test]
    fn noise_behind_a_member_is_an_error() {
        let mut gunzip = Gunzip::new();
        gunzip.feed([member(b"one\n"), b"noise".to_vec()].concat().into());
        assert!(gunzip.piece().is_err());
    }

    #[test]
    fn noise_is_an_error() {
        let mut gunzip = Gunzip::new();
        gunzip.feed(Bytes::from_static(b"<html>this is no gzip</html>"));
        assert!(gunzip.piece().is_err());
    }
}
