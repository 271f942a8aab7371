//! What a scanner holds, and how long it waits.

use super::*;

#[test]
fn nobody_waits_for_the_end_of_anything_and_memory_stays_within_the_bound() {
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
        (br#"{"other":1"#, b"11111", "number", MAX_HEAD),
        (br#"{"items":nul"#, b"lllll", "items", MAX_HEAD),
    ] {
        let mut list = ListScanner::new(1000);
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
            assert!(list.element.capacity() <= 1000);
            assert!(list.text.capacity() <= MAX_HEAD);
        };
        let said = alloc::format!("{error}");
        assert!(said.contains(what), "{said}");
        assert!(said.contains(&alloc::format!("{longest} bytes")), "{said}");
    }
}

#[test]
fn what_is_short_is_waited_for_however_often_it_comes() {
    let mut list = ListScanner::new(1000);
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
    let mut list = ListScanner::new(1000);
    let mut input = &br#"{"items":[{"a":1}, {"b":2}]}"#[..];
    let second = input.as_ptr().wrapping_add(19);
    assert!(list.next(&mut input).is_some());
    let Some(Ok(Part::Element(element))) = list.next(&mut input) else {
        unreachable!("there are two elements");
    };
    assert_eq!(element.frame.bytes, br#"{"b":2}"#);
    assert_eq!(element.frame.bytes.as_ptr(), second);
    assert_eq!(list.element.capacity(), 0);
}
