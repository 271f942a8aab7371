//! How much memory a scanner uses, and when it gives up.

use super::*;
use alloc::vec::Vec;

#[test]
fn endless_parts_are_given_up_and_memory_stays_bounded() {
    for (beginning, more, what, longest) in [
        (
            &br#"{"items":[{"a":"#[..],
            &b"[[0],"[..],
            "an element",
            100_000,
        ),
        (br#"{"items":[{"a":""#, b"abcde", "an element", 100_000),
        (br#"{"items":[1"#, b"11111", "an element", 100_000),
        (br#"{"items":["#, b"     ", "between", 100_000),
        (br#"{"items":[{}"#, b"     ", "between", 100_000),
        (br#"{"items":[{}],"#, br#""a":1,"#, "between", 100_000),
        (b"", b"  \r\n\t", "between", 100_000),
        (br#"{"other":{"a":"#, b"[[0],", "between", 100_000),
        (br#"{"other":""#, b"abcde", "between", 100_000),
        (br#"{"other":"#, b"     ", "between", 100_000),
        (br#"{"metadata":{"a":"#, b"[[0],", "metadata", MAX_HEAD),
        (
            br#"{"metadata":{"managedFields":[""#,
            b"abcde",
            "metadata",
            MAX_HEAD,
        ),
        (br#"{"kind":""#, b"abcde", "kind", MAX_HEAD),
        (br#"{"apiVersion":""#, b"abcde", "apiVersion", MAX_HEAD),
        (br#"{""#, b"abcde", "name", MAX_HEAD),
        (br#"{"other":1"#, b"11111", "a value", MAX_HEAD),
        (br#"{"items":nul"#, b"lllll", "items", MAX_HEAD),
    ] {
        let mut list = ListScanner::<Vec<u8>>::new(1000);
        list.endless = 100_000;
        let mut passed = beginning.len();
        let mut input = beginning;
        while let Some(Ok(_)) = list.next(&mut input) {}
        let error = loop {
            match list.next(&mut { more }) {
                None => passed += more.len(),
                Some(Err(error)) => break error,
                Some(Ok(_)) => {}
            }
            assert!(passed < longest + 100, "{what}");
            let most = if longest == MAX_HEAD { MAX_HEAD } else { 1000 };
            assert!(list.parts.buffer().capacity() <= most);
        };
        let said = alloc::format!("{error}");
        assert!(said.contains(what), "{said}");
        assert!(said.contains(&alloc::format!("{longest} bytes")), "{said}");
    }
}

#[test]
fn short_gaps_never_add_up() {
    let mut list = ListScanner::<Vec<u8>>::new(1000);
    list.endless = 100;
    let mut input = &br#"{"items":["#[..];
    assert!(list.next(&mut input).is_none());
    for _ in 0..100 {
        let mut input = &b"{}     ,      "[..];
        while list.next(&mut input).is_some() {}
    }
    let mut input = &b"{}]}"[..];
    assert!(matches!(list.next(&mut input), Some(Ok(Part::Element(_)))));
    assert!(matches!(list.next(&mut input), Some(Ok(Part::End))));
}

#[test]
fn an_element_in_one_piece_is_not_copied() {
    let mut list = ListScanner::<Vec<u8>>::new(1000);
    let mut input = &br#"{"items":[{"a":1}, {"b":2}]}"#[..];
    let second = input.as_ptr().wrapping_add(19);
    assert!(list.next(&mut input).is_some());
    let Some(Ok(Part::Element(element))) = list.next(&mut input) else {
        unreachable!("there are two elements");
    };
    assert_eq!(element.frame.bytes, br#"{"b":2}"#);
    assert_eq!(element.frame.bytes.as_ptr(), second);
    assert!(list.parts.is_empty() && list.parts.buffer().is_empty());
}

#[test]
#[cfg(feature = "heapless")]
fn a_fixed_buffer_reads_the_same_and_reports_what_does_not_fit() {
    type Small = ListScanner<heapless::Vec<u8, 24>>;
    let read = |body: &str, pieces: usize| {
        let (mut list, mut elements) = (Small::new(1000), Vec::new());
        for mut piece in body.as_bytes().chunks(pieces) {
            while let Some(part) = list.next(&mut piece) {
                match part {
                    Ok(Part::Element(element)) => {
                        elements.push((element.frame.bytes.to_vec(), element.frame.oversized));
                    }
                    Ok(Part::End) => {}
                    Err(error) => return Err(alloc::format!("{error}")),
                }
            }
        }
        let said = [list.kind(), list.next_page(), Some(list.version())];
        Ok((
            elements,
            said.map(|said| said.map(alloc::string::String::from)),
        ))
    };
    for pieces in 1..100 {
        let body = r#"{"kind":"L\u0069st","metadata":{"continue":"t"},"items":[{"a":1},{"b":"longer than it may be"},3]}"#;
        let (elements, said) = read(body, pieces).unwrap_or_default();
        let cut = &br#"{"b":"longer than it may be"}"#[..24];
        let expected = [(&br#"{"a":1}"#[..], false), (cut, true), (b"3", false)];
        let found: Vec<_> = elements
            .iter()
            .map(|(bytes, over)| (&bytes[..], *over))
            .collect();
        assert_eq!(found, expected);
        assert_eq!(
            said.each_ref().map(Option::as_deref),
            [Some("List"), Some("t"), Some("")]
        );
        let error = read(
            r#"{"kind":"AListOfManyThings","apiVersion":"example.com/v1"}"#,
            pieces,
        );
        assert_eq!(
            error,
            Err("`apiVersion` of the list is longer than 24 bytes".into())
        );
        let error = read(
            "<html><body>This is a login page, and a long one, too</body></html>",
            pieces,
        );
        assert_eq!(
            error,
            Err("the body is not a JSON object; it starts with: <html><body>This is a lo".into())
        );
    }
}
