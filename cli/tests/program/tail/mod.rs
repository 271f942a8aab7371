//! `tail`.

// A running `tail`.
mod running;

// Lines for programs.
mod json;

// Lines for people.
mod table;

// A hostile server.
mod hostile;

// Resources, namespaces and selectors.
mod selection;

// Errors and exit statuses.
mod errors;
