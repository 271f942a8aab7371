//! The resources that a server offers.

use std::sync::Arc;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::Wanted;
use crate::failed::Failed;
use crate::get::{RequestError, get};
use crate::resource::{ApiResource, Reach};
use crate::sender::Sender;
use informer_core::Failure;

/// Prefers aggregated discovery (one document for all groups) and falls back to plain discovery.
const ACCEPT: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,\
                      application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,\
                      application/json";

/// The largest answer to read. A few thousand CRDs need a few MB.
const LARGEST: usize = 16 << 20;

/// The most group versions to ask about. A few hundred is already a lot.
const MOST_VERSIONS: usize = 1_000;

/// A resource that the server offers.
#[derive(Clone, Debug)]
pub(super) struct Offer {
    pub(super) resource: ApiResource,
    pub(super) singular: String,
    pub(super) short_names: Vec<String>,
    pub(super) is_watchable: bool,
}

/// All offers that may match, in the server's order of preference, the core group first.
pub(super) async fn all<S: Sender>(
    sender: &Arc<S>,
    wanted: &Wanted<'_>,
) -> Result<Vec<Offer>, RequestError> {
    let mut offers = Vec::new();
    for root in ["/api", "/apis"] {
        let answer: Root = ask(sender, root, ACCEPT).await?;
        for group in answer.items {
            offers.extend(group.offers());
        }
        // Without aggregated discovery, ask about each group version.
        let core = answer.versions.into_iter();
        let core = core.map(|version| (String::new(), version));
        let named = answer.groups.into_iter().flat_map(PlainGroup::versions);
        let admitted = |(group, version): &(String, String)| wanted.admits(group, version);
        let versions: Vec<_> = core.chain(named).filter(admitted).collect();
        if versions.len() > MOST_VERSIONS {
            let about = format_args!(
                "the server has more than {MOST_VERSIONS} versions of API groups; name the group of \
                 the resource, as in `deployments.apps`"
            );
            return Err(Failed::new(Failure::Undecodable, about).into());
        }
        for (group, version) in versions {
            offers.extend(of_version(sender, &group, &version).await?);
        }
    }
    Ok(offers)
}

async fn of_version<S: Sender>(
    sender: &Arc<S>,
    group: &str,
    version: &str,
) -> Result<Vec<Offer>, RequestError> {
    let path = match group {
        "" => format!("/api/{version}"),
        group => format!("/apis/{group}/{version}"),
    };
    match ask::<PlainResources>(sender, &path, "application/json").await {
        Ok(list) => Ok(list.offers(group, version)),
        // An aggregated API server that is down must not hide the other groups.
        Err(error) if matches!(error.failure, Failure::Unavailable | Failure::NotFound) => {
            Ok(Vec::new())
        }
        Err(error) => Err(error),
    }
}

async fn ask<T: DeserializeOwned>(
    sender: &Arc<impl Sender>,
    path: &str,
    accept: &'static str,
) -> Result<T, RequestError> {
    let body = get(sender, path, accept, LARGEST).await?;
    serde_json::from_slice(&body).map_err(|error| {
        let about = format_args!("the answer to {path} is not a discovery document: {error}");
        Failed::new(Failure::Undecodable, about).into()
    })
}

fn is_watchable(verbs: &[String]) -> bool {
    let has = |verb: &str| verbs.iter().any(|known| known == verb);
    has("list") && has("watch")
}

/// The answer to `/api` and `/apis` in any form: `APIGroupDiscoveryList` has items, `APIVersions` has
/// versions, `APIGroupList` has groups.
#[derive(Deserialize)]
struct Root {
    #[serde(default)]
    items: Vec<Group>,
    #[serde(default)]
    versions: Vec<String>,
    #[serde(default)]
    groups: Vec<PlainGroup>,
}

#[derive(Deserialize)]
struct Group {
    #[serde(default)]
    metadata: Metadata,
    #[serde(default)]
    versions: Vec<Version>,
}

#[derive(Deserialize, Default)]
struct Metadata {
    #[serde(default)]
    name: String,
}

#[derive(Deserialize)]
struct Version {
    version: String,
    #[serde(default)]
    resources: Vec<Resource>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Resource {
    resource: String,
    response_kind: Option<ResponseKind>,
    #[serde(default)]
    scope: String,
    #[serde(default)]
    singular_resource: String,
    #[serde(default)]
    short_names: Vec<String>,
    #[serde(default)]
    verbs: Vec<String>,
}

#[derive(Deserialize)]
struct ResponseKind {
    #[serde(default)]
    kind: String,
}

impl Group {
    fn offers(self) -> impl Iterator<Item = Offer> {
        let group = self.metadata.name;
        self.versions.into_iter().flat_map(move |version| {
            let group = group.clone();
            version.resources.into_iter().map(move |resource| Offer {
                is_watchable: is_watchable(&resource.verbs),
                resource: ApiResource {
                    group: group.clone(),
                    version: version.version.clone(),
                    plural: resource.resource,
                    kind: resource
                        .response_kind
                        .map_or_else(String::new, |of| of.kind),
                    reach: reach(resource.scope == "Namespaced"),
                },
                singular: resource.singular_resource,
                short_names: resource.short_names,
            })
        })
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PlainGroup {
    name: String,
    #[serde(default)]
    versions: Vec<PlainVersion>,
    preferred_version: Option<PlainVersion>,
}

#[derive(Deserialize)]
struct PlainVersion {
    version: String,
}

impl PlainGroup {
    /// Pairs of group and version, the preferred version first.
    fn versions(self) -> impl Iterator<Item = (String, String)> {
        let preferred = self.preferred_version.map(|of| of.version);
        let others = self.versions.into_iter().map(|of| of.version);
        let others: Vec<_> = others
            .filter(|version| Some(version) != preferred.as_ref())
            .collect();
        let name = self.name;
        preferred
            .into_iter()
            .chain(others)
            .map(move |version| (name.clone(), version))
    }
}

#[derive(Deserialize)]
struct PlainResources {
    #[serde(default)]
    resources: Vec<PlainResource>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PlainResource {
    name: String,
    #[serde(default)]
    singular_name: String,
    #[serde(default)]
    namespaced: bool,
    #[serde(default)]
    kind: String,
    #[serde(default)]
    short_names: Vec<String>,
    #[serde(default)]
    verbs: Vec<String>,
}

impl PlainResources {
    fn offers(self, group: &str, version: &str) -> Vec<Offer> {
        // A name with a slash is a subresource.
        let whole = self.resources.into_iter();
        let whole = whole.filter(|resource| !resource.name.contains('/'));
        whole
            .map(|resource| Offer {
                is_watchable: is_watchable(&resource.verbs),
                resource: ApiResource {
                    group: group.to_owned(),
                    version: version.to_owned(),
                    plural: resource.name,
                    kind: resource.kind,
                    reach: reach(resource.namespaced),
                },
                singular: resource.singular_name,
                short_names: resource.short_names,
            })
            .collect()
    }
}

const fn reach(is_namespaced: bool) -> Reach {
    if is_namespaced {
        Reach::Namespaced
    } else {
        Reach::Cluster
    }
}
