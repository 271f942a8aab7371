//! What the end-to-end tests are made of: a real server as a child process, a line to it that can be
//! broken on purpose, writers and a judge. The tests themselves are the program `e2e`.

// A line that can be cut, slowed and silenced.
pub mod proxy;

// The server side: etcd and kube-apiserver, as processes.
pub mod cluster;

// Writes, and what the server says that it has; not by the code under test.
pub mod api;

// An informer under test, with its judge.
pub mod follower;

// What is printed.
pub mod report;

/// What a test gives. Its error is for people.
pub type Outcome<T = ()> = Result<T, Box<dyn std::error::Error + Send + Sync>>;
