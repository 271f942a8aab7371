//! What lies between the server and whoever reads its answers.

// One answer on its way, piece by piece.
pub(crate) mod delivery;

// Where the objects of a list are in its text.
pub(crate) mod list_text;

// A place where what is sent can be changed.
pub(crate) mod tap;
