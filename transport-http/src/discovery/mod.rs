//! From names to resources: looks up what users write in what the server offers.

// The resources that a server offers.
mod offers;

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use informer_core::failure::{Printable, message};

use crate::get::RequestError;
use crate::resource::ApiResource;
use crate::sender::Sender;
use offers::Offer;

/// Why a name could not be resolved to a resource.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ResolveError {
    /// The server has no resource of that name.
    Unknown {
        /// The name.
        name: String,
        /// Similar names that exist.
        near: Vec<String>,
    },
    /// The resource exists but does not support list and watch.
    NotWatchable {
        /// The resource.
        resource: String,
    },
    /// The request to the server failed.
    Request(RequestError),
}

impl fmt::Display for ResolveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { name, near } => {
                write!(f, "the server has no resource `{}`", Printable(name))?;
                match near.as_slice() {
                    [] => f.write_str("; is its CRD installed?"),
                    near => write!(f, "; did you mean `{}`?", Printable(&near.join("` or `"))),
                }
            }
            Self::NotWatchable { resource } => {
                write!(f, "{} cannot be listed and watched", Printable(resource))
            }
            Self::Request(error) => {
                write!(f, "cannot look up the resources of the server: {error}")
            }
        }
    }
}

impl Error for ResolveError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Request(error) => Some(error),
            _ => None,
        }
    }
}

impl From<RequestError> for ResolveError {
    fn from(error: RequestError) -> Self {
        Self::Request(error)
    }
}

/// Finds a resource by name, as kubectl does.
///
/// The name is a plural or singular name, a kind or a short name. It may be followed by a group
/// (`deployments.apps`) or by a version and a group (`deployments.v1.apps`).
///
/// # Errors
/// No such resource exists, it does not support list and watch, or the request failed.
pub async fn resolve<S: Sender>(sender: &Arc<S>, name: &str) -> Result<ApiResource, ResolveError> {
    let wanted = Wanted::parse(name);
    let offers = offers::all(sender, &wanted).await?;
    find(&offers, &wanted, name)
}

/// A name, split into its parts.
#[derive(PartialEq, Eq, Debug)]
struct Wanted<'a> {
    name: &'a str,
    version: Option<&'a str>,
    /// `Some("")` is the core group.
    group: Option<&'a str>,
}

impl<'a> Wanted<'a> {
    fn parse(text: &'a str) -> Self {
        let (name, rest) = match text.split_once('.') {
            Some((name, rest)) => (name, Some(rest)),
            None => (text, None),
        };
        let (version, group) = match rest {
            None => (None, None),
            Some(rest) => {
                let (first, others) = rest.split_once('.').unwrap_or((rest, ""));
                if is_version(first) {
                    (Some(first), Some(others))
                } else {
                    (None, Some(rest))
                }
            }
        };
        Self {
            name,
            version,
            group,
        }
    }

    fn admits(&self, group: &str, version: &str) -> bool {
        self.group.is_none_or(|wanted| wanted == group)
            && self.version.is_none_or(|wanted| wanted == version)
    }
}

/// `v1`, `v2beta1` and the like.
fn is_version(text: &str) -> bool {
    let Some(rest) = text.strip_prefix('v') else {
        return false;
    };
    let rest = rest.trim_start_matches(|character: char| character.is_ascii_digit());
    rest.len() + 1 < text.len()
        && (rest.is_empty() || rest.starts_with("alpha") || rest.starts_with("beta"))
}

/// The first match. Plural names come before kinds, kinds before short names; within each, groups come
/// in the order of the server.
fn find(offers: &[Offer], wanted: &Wanted<'_>, text: &str) -> Result<ApiResource, ResolveError> {
    let name = wanted.name.to_lowercase();
    let admitted = || {
        let of_group =
            |offer: &&Offer| wanted.admits(&offer.resource.group, &offer.resource.version);
        offers.iter().filter(of_group)
    };
    let by_plural = admitted().find(|offer| offer.resource.plural == name);
    let found = by_plural
        .or_else(|| {
            admitted()
                .find(|offer| offer.singular == name || offer.resource.kind.to_lowercase() == name)
        })
        .or_else(|| admitted().find(|offer| offer.short_names.contains(&name)));
    match found {
        Some(offer) if offer.is_watchable => Ok(offer.resource.clone()),
        Some(offer) => Err(ResolveError::NotWatchable {
            resource: message(&offer.resource),
        }),
        None => Err(ResolveError::Unknown {
            name: text.to_owned(),
            near: near(offers, &name),
        }),
    }
}

/// A few existing names that are similar to `name`.
fn near(offers: &[Offer], name: &str) -> Vec<String> {
    const SHOWN: usize = 3;
    let mut near: Vec<(usize, String)> = offers
        .iter()
        .filter(|offer| offer.is_watchable)
        .filter_map(|offer| {
            let kind = offer.resource.kind.to_lowercase();
            let distance = distance(&offer.resource.plural, name).min(distance(&kind, name));
            (distance * 3 <= name.len()).then(|| (distance, offer.resource.to_string()))
        })
        .collect();
    near.sort();
    near.dedup_by(|a, b| a.1 == b.1);
    near.into_iter().take(SHOWN).map(|(_, name)| name).collect()
}

/// The Levenshtein distance, in bytes.
fn distance(one: &str, other: &str) -> usize {
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (i, a) in one.bytes().enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        for (cell, b) in row.iter_mut().skip(1).zip(other.bytes()) {
            let changed = diagonal + usize::from(a != b);
            diagonal = *cell;
            left = changed.min(*cell + 1).min(left + 1);
            *cell = left;
        }
        if let Some(first) = row.first_mut() {
            *first = i + 1;
        }
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resource::Reach;

    fn offer(group: &str, version: &str, plural: &str, kind: &str, short: &[&str]) -> Offer {
        Offer {
            resource: ApiResource::new(group, version, plural, kind, Reach::Namespaced),
            singular: kind.to_lowercase(),
            short_names: short.iter().map(|&name| name.to_owned()).collect(),
            is_watchable: plural != "bindings",
        }
    }

    fn offers() -> Vec<Offer> {
        vec![
            offer("", "v1", "bindings", "Binding", &[]),
            offer("", "v1", "pods", "Pod", &["po"]),
            offer("", "v1", "events", "Event", &["ev"]),
            offer("apps", "v1", "deployments", "Deployment", &["deploy"]),
            offer("events.k8s.io", "v1", "events", "Event", &["ev"]),
            offer(
                "autoscaling",
                "v2",
                "horizontalpodautoscalers",
                "HorizontalPodAutoscaler",
                &["hpa"],
            ),
            offer(
                "autoscaling",
                "v1",
                "horizontalpodautoscalers",
                "HorizontalPodAutoscaler",
                &["hpa"],
            ),
            // A plural name that is also the short name of another resource.
            offer("acme.org", "v1", "po", "Po", &[]),
        ]
    }

    fn resolve(name: &str) -> Result<String, String> {
        let found = find(&offers(), &Wanted::parse(name), name);
        let print =
            |found: ApiResource| format!("{}/{}/{}", found.group, found.version, found.plural);
        found.map(print).map_err(|error| error.to_string())
    }

    #[test]
    fn names() {
        for (name, found) in [
            ("pods", "/v1/pods"),
            ("Pod", "/v1/pods"),
            ("pod", "/v1/pods"),
            ("po", "acme.org/v1/po"),
            ("deploy", "apps/v1/deployments"),
            ("events", "/v1/events"),
            ("events.events.k8s.io", "events.k8s.io/v1/events"),
            ("hpa", "autoscaling/v2/horizontalpodautoscalers"),
            (
                "hpa.v1.autoscaling",
                "autoscaling/v1/horizontalpodautoscalers",
            ),
            ("deployments.v1.apps", "apps/v1/deployments"),
            ("Deployment.apps", "apps/v1/deployments"),
            ("pods.v1", "/v1/pods"),
            ("pods.v1.", "/v1/pods"),
        ] {
            assert_eq!(resolve(name).as_deref(), Ok(found), "{name}");
        }
    }

    #[test]
    fn unknown_names() {
        for (name, complaint) in [
            (
                "deploymnts",
                "the server has no resource `deploymnts`; did you mean `deployments.apps`?",
            ),
            (
                "deployments.v2.apps",
                "the server has no resource `deployments.v2.apps`; did you mean `deployments.apps`?",
            ),
            (
                "widgets",
                "the server has no resource `widgets`; is its CRD installed?",
            ),
            ("bindings", "bindings cannot be listed and watched"),
        ] {
            assert_eq!(resolve(name), Err(complaint.to_owned()));
        }
    }

    #[test]
    fn distances() {
        assert_eq!(distance("pods", "pods"), 0);
        assert_eq!(distance("pod", "pods"), 1);
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("abc", ""), 3);
    }
}
