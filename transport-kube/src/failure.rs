//! What went wrong, in the words of informers.

use std::error::Error;
use std::io;

use hyper_util::client::legacy;
use informer_core::Failure;
use informer_transport_http::{Failed, chain, find};
use kube::client::AuthError;
use tower::buffer::error::Closed;

/// The failure of a request that got no answer.
pub(crate) fn unanswered(error: &kube::Error) -> Failed {
    if let Some(error) = find::<AuthError>(error) {
        return Failed::new(Failure::Credentials, refused_by_auth(error));
    }
    if find::<Closed>(error).is_some() {
        let about = "the runtime of the kube client has ended; create a client in another runtime";
        return Failed::new(Failure::Broken, about);
    }
    // The text of a kube error repeats what is below it.
    let below = error.source().unwrap_or(error);
    if let Some(error) = find::<legacy::Error>(error) {
        return match error.is_connect() {
            true => Failed::new(Failure::Unreachable, unreachable(error)),
            false => Failed::new(Failure::Broken, broken(error)),
        };
    }
    if find::<hyper::Error>(error).is_some() {
        return Failed::new(Failure::Broken, broken(below));
    }
    // The server may have got the request, or not.
    let why = chain(below);
    let about = format_args!("the service stack of the kube client failed: {why}; see its layers");
    Failed::new(Failure::Other, about)
}

/// The failure of an answer that breaks off.
pub(crate) fn broken_off(error: &kube::Error) -> Failed {
    let below = error.source().unwrap_or(error);
    match io_kind(below) {
        Some(io::ErrorKind::TimedOut) => Failed::new(
            Failure::TimedOut,
            "the server was silent for longer than `Config::read_timeout` of the kube client allows; \
             leave that unset",
        ),
        Some(io::ErrorKind::InvalidData) => {
            let why = chain(below);
            let about = format_args!("the compressed data of the answer is corrupt: {why}");
            Failed::new(Failure::Undecodable, about)
        }
        _ => Failed::broken_off(below),
    }
}

fn unreachable(error: &(dyn Error + 'static)) -> String {
    let why = chain(error);
    if why.contains("certificate") {
        return format!(
            "the certificate of the server, or ours, was refused: {why}; check `Config::root_cert` (only \
             `Config::root_cert_file` is read again), `Config::tls_server_name` and the client certificate of \
             the kube client"
        );
    }
    match io_kind(error) {
        Some(io::ErrorKind::TimedOut) => {
            "no connection to the server in time; is `Config::cluster_url` of the kube client right, or \
             `Config::connect_timeout` too short?"
                .to_owned()
        }
        Some(kind) if kind != io::ErrorKind::Other => {
            format!("cannot connect to the server: {kind}; is it running? ({why})")
        }
        _ => format!("cannot connect to the server: {why}"),
    }
}

fn broken(error: &(dyn Error + 'static)) -> String {
    match io_kind(error) {
        Some(io::ErrorKind::TimedOut) => "the server did not answer within `Config::read_timeout` \
             of the kube client; leave that unset"
            .to_owned(),
        _ => format!("the connection broke before the answer: {}", chain(error)),
    }
}

/// The kind of the innermost I/O error.
fn io_kind(error: &(dyn Error + 'static)) -> Option<io::ErrorKind> {
    let outer = find::<io::Error>(error)?;
    let inner = outer.get_ref().and_then(|inner| io_kind(inner));
    inner.or_else(|| Some(outer.kind()))
}

/// Why there are no credentials. The texts of kube may quote what a plugin has printed, so only those are
/// repeated that quote nothing secret.
fn refused_by_auth(error: &AuthError) -> String {
    match error {
        AuthError::AuthExecRun { cmd, out } => {
            let program = cmd.split_whitespace().next().unwrap_or_default();
            format!(
                "the credential plugin `{program}` failed ({}); run it by hand to see why",
                out.status
            )
        }
        AuthError::AuthExecStart(error) => {
            format!("the credential plugin cannot be started: {error}; is it installed?")
        }
        AuthError::AuthExecParse(_) | AuthError::ExecPluginFailed => {
            "the credential plugin printed no credential; run it by hand to see what it prints"
                .to_owned()
        }
        AuthError::ReadTokenFile(error, path) => format!(
            "the token file {} cannot be read: {error}; is it mounted?",
            path.display()
        ),
        AuthError::InvalidBasicAuth(_) | AuthError::InvalidBearerToken(_) => {
            "the token or password of the kube client has characters that no header may have; get a \
             new one"
                .to_owned()
        }
        AuthError::MissingCommand
        | AuthError::ExecMissingClusterInfo
        | AuthError::UnrefreshableTokenResponse
        | AuthError::NoValidNativeRootCA(_) => {
            format!("the kube client has no credentials: {error}; check its kubeconfig")
        }
        _ => "the kube client has no credentials: its authentication failed; try `kubectl get \
              --raw /version` with the same kubeconfig"
            .to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(error: AuthError) -> String {
        let failed = unanswered(&kube::Error::Auth(error));
        assert_eq!(failed.failure, Failure::Credentials);
        failed.message
    }

    #[test]
    fn no_credential_is_in_a_message() {
        let printed = |text: &str| text.as_bytes().to_vec();
        let out = Box::new(std::process::Output {
            status: std::process::ExitStatus::default(),
            stdout: printed("hunter2"),
            stderr: printed("hunter2"),
        });
        let cmd = "get-token --password hunter2".to_owned();
        let said = of(AuthError::AuthExecRun { cmd, out });
        assert!(
            said.starts_with("the credential plugin `get-token` failed"),
            "{said}"
        );
        assert!(!said.contains("hunter2"), "{said}");
        assert!(!of(AuthError::AuthExec("hunter2".to_owned())).contains("hunter2"));
        let key = serde_json::from_str::<u8>(r#""hunter2""#).unwrap_err();
        assert!(key.to_string().contains("hunter2"), "the test needs this");
        assert!(!of(AuthError::ParseTokenKey(key)).contains("hunter2"));
    }

    #[test]
    fn errors_of_layers_are_named() {
        let failed = unanswered(&kube::Error::Service("the meter is broken".into()));
        assert_eq!(failed.failure, Failure::Other);
        assert!(
            failed.message.contains("the meter is broken"),
            "{}",
            failed.message
        );
    }

    #[test]
    fn silence_is_a_timeout() {
        let silent = io::Error::from(io::ErrorKind::TimedOut);
        let wrapped = io::Error::other(silent);
        let failed = broken_off(&kube::Error::Service(Box::new(wrapped)));
        assert_eq!(failed.failure, Failure::TimedOut);
        let cut = io::Error::from(io::ErrorKind::ConnectionReset);
        let failed = broken_off(&kube::Error::Service(Box::new(cut)));
        assert_eq!(failed.failure, Failure::Broken);
    }
}
