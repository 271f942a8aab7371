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

// What a client of objects must do, on any server.
pub mod writes;

// What controllers write, on any server.
pub mod kit;

// Who held a Lease, and when.
pub mod tenure;

// The report.
pub mod report;

/// The folder of the repository.
pub const REPOSITORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

// For scenarios: numbers from a seed.
pub use informer_test_support::Random;

/// The result of a test. Its error is for people.
pub type Outcome<T = ()> = Result<T, Box<dyn std::error::Error + Send + Sync>>;
