//! Who we are: what is shown with each request, and how it is renewed.

// The plugins that print credentials.
pub(crate) mod exec;

// Whom we act for.
mod impersonation;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderMap, HeaderValue, header};
use informer_core::Failure;

use crate::config::Config;
use crate::exchange::Failed;
use crate::secret::Secret;
use exec::{ExecCredential, ExecPlugin, ExecRunner};
pub(crate) use impersonation::Impersonation;

/// How we prove who we are, beside a client certificate.
#[derive(Clone, Debug)]
pub(crate) enum Authentication {
    None,
    Token(Secret),
    /// A file with a token that somebody replaces from time to time.
    TokenFile {
        file: PathBuf,
        /// What to use as long as the file could not be read.
        fallback: Option<Secret>,
    },
    Basic {
        username: String,
        password: Secret,
    },
    Exec(ExecPlugin),
}

/// Why there are no credentials, or none yet; the text is for people and holds no secret. Nothing was
/// said to the server: what we know of it is as good as before.
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

/// What is shown with a request.
#[derive(Clone, Default)]
pub(crate) struct Shown {
    /// The value of `Authorization`.
    authorization: Option<Secret>,
    /// What the plugin printed: its certificate is shown when a connection is made.
    pub(crate) exec: Option<Arc<ExecCredential>>,
}

impl Shown {
    pub(crate) fn add_to(&self, headers: &mut HeaderMap) -> Result<(), AuthError> {
        if let Some(text) = &self.authorization {
            let mut value = HeaderValue::from_str(text.expose()).map_err(|_| {
                AuthError::new("the token contains characters that no header can carry")
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
    /// Why they are not shown, if they are not.
    withheld: Option<String>,
    /// The headers of an impersonation.
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
                "the credentials were withheld, as {} is reached without TLS: use https://, or \
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

    /// What to add to the message of a server that does not know who we are.
    pub(crate) fn withheld(&self) -> Option<&str> {
        self.withheld.as_deref()
    }

    /// Waits for a plugin that takes its time. An informer asks again and says meanwhile what it waits
    /// for; a single request has one try, and perhaps a person at a terminal.
    pub(crate) async fn prepare(&self) {
        if let Source::Exec(runner) = &self.source {
            runner.prepare().await;
        }
    }

    /// What to show now.
    pub(crate) async fn current(&self) -> Result<Shown, AuthError> {
        self.newer_than(None).await
    }

    /// What to show now that the server has refused `refused`. It may be the same again.
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
                // Requests are rare and the file is small: reading it each time is the simplest way
                // to notice that it was replaced. While it is being replaced, the last one serves.
                let read = crate::file::read(file);
                match read.as_ref().map(|text| text.expose().trim()) {
                    Ok("") | Err(_) if last.is_some() => {}
                    Ok("") => return Err(AuthError::new(format!("{} is empty", file.display()))),
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
