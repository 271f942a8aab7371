#![doc = include_str!("../README.md")]

#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
