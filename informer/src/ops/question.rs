//! Paths and queries.

use std::time::Duration;

use informer_core::ObjectKey;

use super::contents::Wanted;
use super::reply::Refusal;

/// What is asked for.
pub(super) enum Question {
    Inspector,
    Alive,
    Ready {
        within: Option<Duration>,
    },
    Metrics,
    Status,
    Timeline,
    Events,
    Object {
        informer: String,
        key: ObjectKey,
    },
    Select {
        informer: String,
        wanted: Box<Wanted>,
    },
    Dump {
        informer: String,
        bodies: bool,
    },
}

/// The paths there are, for those who lost their way.
const PATHS: &str = "There is no such path. There are: /, /livez, /readyz, /metrics, /status, /timeline, \
    /events, /object/<informer>?key=…, /select/<informer>, /dump/<informer>.";

/// How many keys are listed at most.
const MOST_KEYS: usize = 1_000;

impl Question {
    pub(super) fn parse(path: &str, query: &str) -> Result<Self, Refusal> {
        let mut query = Parameters::parse(query)?;
        let parts = path.strip_prefix('/').unwrap_or_default();
        let question = match parts.split_once('/') {
            None => match parts {
                "" => Self::Inspector,
                "livez" => Self::Alive,
                "readyz" => Self::Ready {
                    within: query.take("within").map(|it| seconds(&it)).transpose()?,
                },
                "metrics" => Self::Metrics,
                "status" => Self::Status,
                "timeline" => Self::Timeline,
                "events" => Self::Events,
                _ => return Err(not_found(PATHS)),
            },
            Some((what, informer)) if !informer.is_empty() && !informer.contains('/') => {
                Self::about(what, decode(informer, false)?, &mut query)?
            }
            Some(_) => return Err(not_found(PATHS)),
        };
        // A probe may carry parameters that it does not know of.
        if !matches!(question, Self::Inspector | Self::Alive) {
            query.check_empty()?;
        }
        Ok(question)
    }

    /// A question about one informer.
    fn about(what: &str, informer: String, query: &mut Parameters) -> Result<Self, Refusal> {
        Ok(match what {
            "object" => {
                let Some(key) = query.take("key") else {
                    return Err(Refusal::bad_request(
                        "Which object? Add `?key=namespace/name`, or `?key=name` without a namespace.",
                    ));
                };
                let (namespace, name) = key.split_once('/').unwrap_or(("", &key));
                Self::Object {
                    informer,
                    key: ObjectKey::new(namespace, name),
                }
            }
            "select" => Self::Select {
                informer,
                wanted: Box::new(wanted(query)?),
            },
            "dump" => Self::Dump {
                informer,
                bodies: match query.take("bodies").as_deref() {
                    None | Some("false") => false,
                    Some("true") => true,
                    Some(_) => return Err(Refusal::bad_request("`bodies` is true or false.")),
                },
            },
            _ => return Err(not_found(PATHS)),
        })
    }
}

fn wanted(query: &mut Parameters) -> Result<Wanted, Refusal> {
    fn selector<S: std::str::FromStr<Err: std::fmt::Display>>(
        text: Option<String>,
    ) -> Result<Option<S>, Refusal> {
        let text = text.filter(|text| !text.is_empty());
        let parsed = text.map(|text| {
            let parsed = text.parse();
            parsed.map_err(|error| Refusal::bad_request(format!("The selector {text:?}: {error}.")))
        });
        parsed.transpose()
    }
    let limit = query.take("limit").map(|limit| limit.parse());
    let index = query.take("index").filter(|index| !index.is_empty());
    let value = query.take("value");
    Ok(Wanted {
        labels: selector(query.take("labels"))?,
        fields: selector(query.take("fields"))?,
        index: match (index, value) {
            (Some(index), value) => Some((index, value.unwrap_or_default())),
            (None, None) => None,
            (None, Some(value)) if value.is_empty() => None,
            (None, Some(_)) => {
                return Err(Refusal::bad_request(
                    "Which index? Add `index=NAME` to the value.",
                ));
            }
        },
        limit: match limit {
            None => 50,
            Some(Ok(limit)) => std::cmp::min(limit, MOST_KEYS),
            Some(Err(_)) => {
                return Err(Refusal::bad_request("`limit` is a number, such as 50."));
            }
        },
    })
}

fn seconds(text: &str) -> Result<Duration, Refusal> {
    let seconds = text.parse().ok().map(Duration::try_from_secs_f64);
    match seconds {
        Some(Ok(seconds)) => Ok(seconds),
        _ => Err(Refusal::bad_request(
            "`within` is a number of seconds, such as 120.",
        )),
    }
}

pub(super) fn not_found(error: impl Into<String>) -> Refusal {
    Refusal::new(hyper::StatusCode::NOT_FOUND, error)
}

/// The parameters of a query that nobody has taken yet.
struct Parameters(Vec<(String, String)>);

impl Parameters {
    fn parse(query: &str) -> Result<Self, Refusal> {
        let mut parameters: Vec<(String, String)> = Vec::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let (name, value) = (decode(name, true)?, decode(value, true)?);
            if parameters.iter().any(|(other, _)| *other == name) {
                return Err(Refusal::bad_request(format!(
                    "The parameter {name:?} is there twice."
                )));
            }
            parameters.push((name, value));
        }
        Ok(Self(parameters))
    }

    fn take(&mut self, name: &str) -> Option<String> {
        let at = self.0.iter().position(|(other, _)| other == name)?;
        Some(self.0.swap_remove(at).1)
    }

    fn check_empty(&self) -> Result<(), Refusal> {
        match self.0.first() {
            None => Ok(()),
            Some((name, _)) => Err(Refusal::bad_request(format!("Unknown parameter {name:?}."))),
        }
    }
}

/// Replaces `%41` by `A`, once. In queries, a plus is a space.
fn decode(text: &str, plus: bool) -> Result<String, Refusal> {
    let wrong =
        || Refusal::bad_request("The address has a broken percent code, or is not plain text.");
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' if plus => b' ',
            b'%' => {
                let mut digit = || char::from(rest.next()?).to_digit(16);
                let code = digit().zip(digit()).map(|(high, low)| high * 16 + low);
                code.and_then(|code| u8::try_from(code).ok())
                    .ok_or_else(wrong)?
            }
            byte => byte,
        });
    }
    let decoded = String::from_utf8(bytes).map_err(|_| wrong())?;
    if decoded.chars().any(char::is_control) {
        return Err(wrong());
    }
    Ok(decoded)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn decoded(text: &str) -> Option<String> {
        decode(text, true).ok()
    }

    #[test]
    fn percent_codes_are_replaced_once() {
        assert_eq!(decoded("a%2Fb+c%2b").unwrap(), "a/b c+");
        assert_eq!(decoded("%252e").unwrap(), "%2e");
        assert_eq!(decode("a+b", false).ok().unwrap(), "a+b");
        for broken in ["%", "%4", "%zz", "%+1", "%00", "%0a", "%ff"] {
            assert_eq!(decoded(broken), None, "{broken}");
        }
    }
}
