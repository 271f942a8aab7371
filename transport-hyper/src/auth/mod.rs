//! The credentials of each request, and how they are renewed.

// Plugins that print credentials.
pub(crate) mod exec;

// Impersonation headers.
mod impersonation;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderMap, HeaderValue, header};
use informer_core::Failure;
use informer_transport_http::Failed;

use crate::config::Config;
use crate::secret::Secret;
use exec::{ExecCredential, ExecPlugin, ExecRunner};
pub(crate) use impersonation::Impersonation;

/// How to authenticate, apart from a client certificate.
#[derive(Clone, Debug)]
pub(crate) enum Authentication {
    None,
    Token(Secret),
    /// A file with a token that is rotated from time to time.
    TokenFile {
        file: PathBuf,
        /// The token to use until the file has been read once.
        fallback: Option<Secret>,
    },
    Basic {
        username: String,
        password: Secret,
    },
    Exec(ExecPlugin),
}

/// Why there are no credentials, or none yet. The text is for people and contains no secret. No request
/// was sent, so the known state is as good as before.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct AuthError {
    pub(crate) message: String,
}

impl AuthError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
        }
    }
}

impl From<AuthError> for Failed {
    fn from(AuthError { message }: AuthError) -> Self {
        Self::new(Failure::Credentials, message)
    }
}

/// The credentials of one request.
#[derive(Clone, Default)]
pub(crate) struct Shown {
    /// The value of `Authorization`.
    authorization: Option<Secret>,
    /// The output of a plugin. Its certificate is used for new connections.
    pub(crate) exec: Option<Arc<ExecCredential>>,
}

impl Shown {
    pub(crate) fn add_to(&self, headers: &mut HeaderMap) -> Result<(), AuthError> {
        if let Some(text) = &self.authorization {
            let mut value = HeaderValue::from_str(text.expose()).map_err(|_| {
                AuthError::new(
                    "cannot send the token: it contains characters that are not allowed in an HTTP \
                     header; check it for line breaks",
                )
            })?;
            value.set_sensitive(true);
            headers.insert(header::AUTHORIZATION, value);
        }
        Ok(())
    }

    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.authorization == other.authorization
    }
}

/// The credentials of a client, shared by all its requests.
pub(crate) struct Credentials {
    source: Source,
    /// Why the credentials are withheld, if they are.
    withheld: Option<String>,
    /// The impersonation headers.
    impersonation: HeaderMap,
}

enum Source {
    Fixed(Shown),
    TokenFile {
        file: PathBuf,
        last: Mutex<Option<Secret>>,
    },
    Exec(ExecRunner),
}

impl Credentials {
    pub(crate) fn new(config: &Config) -> Result<Self, AuthError> {
        let fixed = |text: String| {
            Source::Fixed(Shown {
                authorization: Some(Secret::from(text)),
                exec: None,
            })
        };
        let withheld = config.withholds_credentials().then(|| {
            format!(
                "the credentials were withheld because {} is reached without TLS; use https://, or \
                 allow it with `Config::with_credentials_over_http`",
                config.server_url()
            )
        });
        let authentication = match withheld {
            None => config.authentication.clone(),
            Some(_) => Authentication::None,
        };
        let source = match authentication {
            Authentication::None => Source::Fixed(Shown::default()),
            Authentication::Token(token) => fixed(format!("Bearer {}", token.expose())),
            Authentication::Basic { username, password } => {
                let pair = Secret::from(format!("{username}:{}", password.expose()));
                fixed(format!("Basic {}", STANDARD.encode(pair.expose())))
            }
            Authentication::TokenFile { file, fallback } => Source::TokenFile {
                file,
                last: Mutex::new(fallback),
            },
            Authentication::Exec(plugin) => Source::Exec(ExecRunner::new(plugin)),
        };
        let impersonation = match &config.impersonation {
            Some(impersonation) => impersonation.headers()?,
            None => HeaderMap::new(),
        };
        Ok(Self {
            source,
            withheld,
            impersonation,
        })
    }

    /// The reason to add to an `Unauthorized` failure.
    pub(crate) fn withheld(&self) -> Option<&str> {
        self.withheld.as_deref()
    }

    /// Waits for a slow plugin. An informer does not need this: it retries and reports what it waits for.
    /// A single request has only one try, and perhaps a person is typing at a terminal.
    pub(crate) async fn prepare(&self) {
        if let Source::Exec(runner) = &self.source {
            runner.prepare().await;
        }
    }

    /// The current credentials.
    pub(crate) async fn current(&self) -> Result<Shown, AuthError> {
        self.newer_than(None).await
    }

    /// The credentials to try after the server rejected `refused`. They may be the same.
    pub(crate) async fn after_refusal(&self, refused: &Shown) -> Result<Shown, AuthError> {
        self.newer_than(refused.exec.as_ref()).await
    }

    pub(crate) const fn impersonation(&self) -> &HeaderMap {
        &self.impersonation
    }

    async fn newer_than(&self, refused: Option<&Arc<ExecCredential>>) -> Result<Shown, AuthError> {
        match &self.source {
            Source::Fixed(shown) => Ok(shown.clone()),
            Source::TokenFile { file, last } => {
                let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
                // Requests are rare and the file is small, so reading it each time is the simplest way
                // to notice a new token. While the file is being replaced, the last token serves.
                let read = crate::file::read(file);
                match read.as_ref().map(|text| text.expose().trim()) {
                    Ok("") | Err(_) if last.is_some() => {}
                    Ok("") => {
                        return Err(AuthError::new(format!(
                            "the token file {} is empty; write a token to it",
                            file.display()
                        )));
                    }
                    Ok(token) => *last = Some(Secret::from(token.to_owned())),
                    Err(error) => {
                        return Err(AuthError::new(format!(
                            "cannot read {}: {error}",
                            file.display()
                        )));
                    }
                }
                Ok(bearer(last.as_ref(), None))
            }
            Source::Exec(runner) => {
                let credential = runner.credential(refused).await?;
                Ok(bearer(credential.token.as_ref(), Some(credential.clone())))
            }
        }
    }
}

fn bearer(token: Option<&Secret>, exec: Option<Arc<ExecCredential>>) -> Shown {
    Shown {
        authorization: token.map(|token| Secret::from(format!("Bearer {}", token.expose()))),
        exec,
    }
}
