//! Between the server and the readers of its answers.

// An answer on its way, piece by piece.
pub(crate) mod delivery;

// The objects in the body of a list.
pub(crate) mod list_body;

// A hook that may change what is sent.
pub(crate) mod tap;
