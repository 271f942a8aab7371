//! The parts of the end-to-end tests: a real server as a child process, a connection to it that can
//! be broken on purpose, writers and checks. The tests themselves are the program `e2e`.

// A line that can be cut, slowed and silenced.
pub mod proxy;

// The server side: etcd and kube-apiserver, as processes.
pub mod cluster;

// Writes and reads without the code under test.
pub mod api;

// An informer under test, and its checks.
pub mod follower;

// The report.
pub mod report;

/// The result of a test. Its error is for people.
pub type Outcome<T = ()> = Result<T, Box<dyn std::error::Error + Send + Sync>>;
