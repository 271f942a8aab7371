//! The cluster flags.

use clap::{Args as _, Command, FromArgMatches as _};
use informer_examples::{Cluster, ClusterArgs};

fn parse(flags: &[&str]) -> Result<ClusterArgs, clap::Error> {
    let command = ClusterArgs::augment_args(Command::new("example").no_binary_name(true));
    ClusterArgs::from_arg_matches(&command.try_get_matches_from(flags)?)
}

#[tokio::test]
async fn without_flags_there_is_a_mock_server() {
    let cluster = Cluster::open(&parse(&[]).unwrap()).await.unwrap();
    assert!(cluster.server().is_some());
    let version = cluster.client().get("/version").await.unwrap();
    assert!(version.starts_with(b"{"), "{version:?}");
}

#[tokio::test]
async fn a_server_that_does_not_answer_is_named() {
    let flags = parse(&["--server", "http://127.0.0.1:1"]).unwrap();
    let error = Cluster::open(&flags).await.unwrap_err().to_string();
    assert!(error.contains("127.0.0.1:1"), "{error}");
    assert!(!error.contains('\n'), "{error}");
}

#[tokio::test]
async fn a_missing_kubeconfig_is_named() {
    let flags = parse(&["--kubeconfig", "/nonexistent/config"]).unwrap();
    let error = Cluster::open(&flags).await.unwrap_err().to_string();
    assert!(error.contains("/nonexistent/config"), "{error}");
}

#[test]
fn conflicting_flags_are_rejected() {
    for flags in [
        &["--server", "http://a", "--context", "b"][..],
        &["--server", "http://a", "--kubeconfig", "b"],
        &["--nosuch"],
    ] {
        let error = parse(flags).unwrap_err();
        assert_eq!(error.exit_code(), 2, "{flags:?}: {error}");
    }
}
