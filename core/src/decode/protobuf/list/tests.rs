//! How much memory a scanner uses, and when it gives up.

use super::*;
use crate::decode::protobuf::wire::WireError;
use alloc::vec;
use alloc::vec::Vec;

const HEAD: &[u8] = b"k8s\0\x0a\x0d\x0a\x02v1\x12\x07PodList";

/// The last thing that a scanner says of a body, whatever the pieces.
fn last(body: &[u8], longest: usize) -> Option<Result<(), ListError>> {
    let in_pieces = |length| {
        let mut list = ListScanner::<Vec<u8>>::new(longest);
        let mut last = None;
        for mut piece in body.chunks(length) {
            while let Some(part) = list.next(&mut piece) {
                last = Some(part.map(|_| ()));
            }
        }
        list.end().map_or_else(|error| Some(Err(error)), |()| last)
    };
    let whole = in_pieces(usize::MAX);
    assert_eq!(whole, in_pieces(1), "the pieces do not matter");
    whole
}

#[test]
fn memory_is_taken_for_bytes_that_arrived() {
    let mut list = ListScanner::<Vec<u8>>::new(1 << 30);
    // A list of 2^40 bytes whose first element has 2^30.
    let body = [
        HEAD,
        b"\x12\x80\x80\x80\x80\x80\x20\x12\x80\x80\x80\x80\x04abc",
    ]
    .concat();
    assert_eq!(list.next(&mut &body[..]), None);
    assert_eq!(list.parts.length(), 3);
    assert!(list.parts.buffer().capacity() < 100);
}

#[test]
fn an_element_beyond_twice_the_limit_is_given_up_at_once() {
    let body = |length: &[u8]| [HEAD, b"\x12\x80\x80\x80\x80\x80\x20\x12", length].concat();
    let error = ListError::TooLong {
        what: "an element",
        longest: 32 << 20,
    };
    assert_eq!(last(&body(b"\x81\x80\x80\x10"), 100), Some(Err(error)));
    let bytes = HEAD.len() as u64 + 12;
    let incomplete = ListError::Incomplete { bytes };
    assert_eq!(last(&body(b"\x80\x80\x80\x10"), 100), Some(Err(incomplete)));
}

#[test]
fn an_element_that_goes_beyond_the_list_is_an_error() {
    let body = [HEAD, b"\x12\x03\x12\x02ab"].concat();
    let error = ListError::Unreadable {
        what: "a field",
        at: HEAD.len() as u64 + 4,
        error: WireError::Truncated.into(),
    };
    assert_eq!(last(&body, 100), Some(Err(error)));
}

#[test]
fn an_oversized_element_keeps_its_start() {
    let body = [HEAD, b"\x12\x09\x12\x04abcd\x12\x01e"].concat();
    for length in [1, 5, 100] {
        let mut list = ListScanner::<Vec<u8>>::new(3);
        let mut found = Vec::new();
        for mut piece in body.chunks(length) {
            while let Some(part) = list.next(&mut piece) {
                if let Ok(Part::Element(element)) = part {
                    found.push((element.frame.bytes.to_vec(), element.frame.oversized));
                }
            }
        }
        assert_eq!(found, [(b"abc".to_vec(), true), (b"e".to_vec(), false)]);
        assert_eq!(list.end(), Ok(()));
    }
}

#[test]
fn endless_gaps_and_heads_are_given_up() {
    // Unknown fields, 16 bytes each, without an end.
    let mut list = ListScanner::<Vec<u8>>::new(100);
    assert_eq!(list.next(&mut { HEAD }), None);
    assert_eq!(list.next(&mut &b"\x12\x80\x80\x80\x80\x80\x20"[..]), None);
    let field = [&b"\x1a\x0e"[..], &[0; 14]].concat();
    let gap = field.repeat(1 << 16);
    let given_up = (0..40).find_map(|_| list.next(&mut &gap[..])?.err());
    let what = "what stands between two elements";
    let longest = 32 << 20;
    assert_eq!(given_up, Some(ListError::TooLong { what, longest }));

    let longest = 64 << 10;
    let what = "`metadata`";
    let body = [HEAD, b"\x12\xff\xff\x7f\x0a\x81\x80\x04x"].concat();
    let error = ListError::TooLong { what, longest };
    assert_eq!(last(&body, 100), Some(Err(error)));
    // Many small ones are merged, and together too long.
    let field = [&b"\x0a\x40\x12\x3e"[..], &[b'7'; 62]].concat();
    let many = field.repeat(1025);
    let body = [HEAD, b"\x12\xff\xff\x7f", &many].concat();
    assert_eq!(last(&body, 100), Some(Err(error)));
    let what = "the type";
    let error = ListError::TooLong { what, longest };
    assert_eq!(
        last(b"k8s\0\x0a\xff\xff\xff\xff\x7f.", 100),
        Some(Err(error))
    );
}

#[test]
fn repeated_metadata_is_merged() {
    let mut list = ListScanner::<Vec<u8>>::new(100);
    let body = [
        HEAD,
        b"\x12\x0f\x0a\x03\x12\x017\x0a\x08\x12\x018\x1a\x01n\x20\x05",
    ]
    .concat();
    assert_eq!(list.next(&mut &body[..]), Some(Ok(Part::End)));
    assert_eq!(list.version(), "8");
    assert_eq!((list.next_page(), list.remaining()), (Some("n"), Some(5)));
}

#[test]
fn unknown_fields_and_groups_are_skipped() {
    // In the envelope and in the list: a number, 8 bytes, 4 bytes, a text, and a group with an element.
    let unknown = b"\x58\xff\x01\x59........\x5d....\x5a\x03abc\x5b\x12\x01x\x53\x54\x5c";
    let list = [&unknown[..], b"\x12\x01e", unknown].concat();
    let length = u8::try_from(list.len()).unwrap_or_default();
    let body = [b"k8s\0", &unknown[..], &HEAD[4..], &[0x12, length], &list].concat();
    assert_eq!(last(&body, 100), Some(Ok(())));
    for cut in 0..body.len() {
        assert_eq!(elements(&body, cut), Ok(vec![b"e".to_vec()]), "{cut}");
    }
}

/// The elements of a body in two pieces.
fn elements(body: &[u8], cut: usize) -> Result<Vec<Vec<u8>>, ListError> {
    let mut list = ListScanner::<Vec<u8>>::new(100);
    let mut found = Vec::new();
    let (one, two) = body.split_at_checked(cut).unwrap_or_default();
    for mut piece in [one, two] {
        while let Some(part) = list.next(&mut piece) {
            if let Part::Element(element) = part? {
                found.push(element.frame.bytes.to_vec());
            }
        }
    }
    list.end().map(|()| found)
}

#[test]
fn the_second_half_of_a_tag_begins_no_element() {
    let body = [HEAD, b"\x12\x09\x92\x12\x02ab\x12\x02cd"].concat();
    for cut in 0..body.len() {
        assert_eq!(elements(&body, cut), Ok(vec![b"cd".to_vec()]), "{cut}");
    }
}

#[test]
fn the_head_of_an_element_counts_as_a_part_of_the_gap_before_it_in_any_pieces() {
    let longest = 32 << 20;
    let what = "what stands between two elements";
    for (shorter, is_too_long) in [(0, true), (1, true), (2, false), (3, false)] {
        // An element, an unknown field, and another element.
        let filling = vec![b'.'; longest - shorter - 5];
        let list = [
            b"\x12\x01d\x5a",
            &length_of(filling.len())[..],
            &filling,
            b"\x12\x01e",
        ]
        .concat();
        let body = [HEAD, b"\x12", &length_of(list.len()), &list].concat();
        for cut in [0, 100, body.len() - 3, body.len() - 2, body.len() - 1] {
            let expected = match is_too_long {
                true => Err(ListError::TooLong { what, longest }),
                false => Ok(vec![b"d".to_vec(), b"e".to_vec()]),
            };
            assert_eq!(elements(&body, cut), expected, "{shorter} {cut}");
        }
    }
}

/// A length in four bytes.
fn length_of(length: usize) -> [u8; 4] {
    let seven = |at: u32| (length >> (7 * at)) as u8 & 0x7f;
    [seven(0) | 0x80, seven(1) | 0x80, seven(2) | 0x80, seven(3)]
}

#[test]
fn broken_lists_say_what_is_wrong() {
    use crate::decode::protobuf::envelope::EnvelopeError;
    use crate::decode::protobuf::wire::WireError;
    for (list, error) in [
        // An element, a tag, a number and a group that go beyond the list.
        (&b"\x12\x05\x12\x04abc"[..], WireError::Truncated),
        (b"\x12\x01\x80\x01", WireError::Truncated),
        (b"\x12\x02\x08\x80\x01", WireError::Truncated),
        (b"\x12\x03\x09...", WireError::Truncated),
        (b"\x12\x01\x0b\x0c", WireError::Truncated),
        // The end of a group, field 0, an unknown type, a number of more than 64 bits.
        (b"\x12\x09\x0c", WireError::InvalidTag),
        (b"\x12\x09\x00\x00", WireError::InvalidTag),
        (b"\x12\x09\x0f\x00", WireError::InvalidTag),
        (
            b"\x12\x7f\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02",
            WireError::NumberTooLarge,
        ),
        // `metadata` with a field beyond its end.
        (b"\x12\x09\x0a\x02\x12\x05", WireError::Truncated),
    ] {
        let body = [HEAD, list].concat();
        let found = last(&body, 100);
        let Some(Err(ListError::Unreadable { error: found, .. })) = found else {
            unreachable!("{found:?} for {list:?}");
        };
        assert_eq!(found, EnvelopeError::Wire(error), "{list:?}");
    }
}

#[test]
fn only_lists_are_lists() {
    let body = |kind: &str| {
        let length = |bytes: &[u8]| vec![u8::try_from(bytes.len()).unwrap_or_default()];
        let kind = [b"\x12", &length(kind.as_bytes())[..], kind.as_bytes()].concat();
        [b"k8s\0\x0a", &length(&kind)[..], &kind, b"\x12\x02\x0a\x00"].concat()
    };
    assert_eq!(last(&body("PodList"), 100), Some(Ok(())));
    assert_eq!(last(&body("Status"), 100), Some(Err(ListError::Status)));
    for (body, kind) in [(body("Pod"), Some("Pod")), (body(""), None)] {
        let found = last(&body, 100);
        let Some(Err(ListError::NotAList { kind: found })) = found else {
            unreachable!("{found:?}");
        };
        assert_eq!(found.map(|kind| alloc::format!("{kind}")).as_deref(), kind);
    }
    for (body, start) in [
        (
            &b"<html><body>Please log in to continue to the page that you want to see"[..],
            60,
        ),
        (b"k8s", 3),
        (b"k8", 2),
        (b"{}", 2),
        (b"k8s.", 4),
    ] {
        match last(body, 100) {
            Some(Err(ListError::NoMagic { found })) => {
                let start = body.get(..start).unwrap_or_default();
                assert_eq!(found, crate::decode::Beginning::new(start));
            }
            Some(Err(ListError::Incomplete { bytes })) => assert_eq!(bytes, start as u64),
            other => unreachable!("{other:?}"),
        }
    }
}

#[test]
fn a_gap_ends_with_an_element() {
    let mut list = ListScanner::<Vec<u8>>::new(100);
    assert_eq!(list.next(&mut { HEAD }), None);
    assert_eq!(list.next(&mut &b"\x12\x80\x80\x80\x80\x80\x20"[..]), None);
    // Two gaps of 20 MiB are longer than one may be.
    let gap = vec![0; 20 << 20];
    for _ in 0..2 {
        assert_eq!(list.next(&mut &b"\x1a\x80\x80\x80\x0a"[..]), None);
        assert_eq!(list.next(&mut &gap[..]), None);
        let element = list.next(&mut &b"\x12\x01e"[..]);
        assert!(matches!(element, Some(Ok(Part::Element(_)))), "{element:?}");
    }
}
