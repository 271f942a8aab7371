//! An indexed, queryable local store of Kubernetes objects.
#![no_std]

extern crate alloc;
#[cfg(any(test, feature = "std"))]
extern crate std;

// Which objects are meant, by their labels or fields.
pub mod selector;
