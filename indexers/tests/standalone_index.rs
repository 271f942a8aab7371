//! Tests the output of the example.
#![allow(clippy::unwrap_used, reason = "tests")]

#[allow(dead_code, reason = "the test does not call its `main`")]
#[path = "../examples/standalone_index.rs"]
mod example;

const EXPECTED: &str = r#"5 pods, version 105

by label, app in (cart,orders),tier!=db: 3 candidates from the index "app"
  shop/cart-1
  shop/cart-2

the same in namespace shop: 3 candidates from the index "namespace"
  shop/cart-1
  shop/cart-2

by range, priority from 1 on, highest first:
  shop/orders-0
  shop/cart-2
  shop/cart-1

by key shop---cart-2:
  shop/cart-2

in the order of the keys, two by two:
  blog---pages-1 blog---render-7
  shop---cart-1 shop---cart-2
  shop---orders-0

the table of the index app:
cart: shop---cart-1 shop---cart-2
orders: shop---orders-0
pages: blog---pages-1 blog---render-7

"#;

#[test]
fn the_example_prints_every_answer() {
    let mut out = Vec::new();
    example::run(example::PODS.as_bytes(), &mut out).unwrap();
    assert_eq!(String::from_utf8(out).unwrap(), EXPECTED);
}

#[test]
fn an_invalid_line_is_named() {
    let lines = b"{\"metadata\":{\"name\":\"a\"}}\n\n{\"metadata\":{}}\n";
    let error = example::run(&lines[..], &mut Vec::new()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "line 3: `metadata.name` is missing or empty"
    );
}
