//! What an informer follows: its target in one or several namespaces, and more targets of the same kind.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use informer_core::transport::Target;
use informer_indexers::selector::{FieldSelector, LabelSelector, SelectorError};

use super::InformerBuilder;
use crate::error::BuildError;

impl<K: Send + Sync + 'static> InformerBuilder<K> {
    /// Follows only objects in this namespace.
    #[must_use]
    pub fn namespace(mut self, namespace: &str) -> Self {
        self.target.namespace = Some(namespace.to_owned());
        self
    }

    /// Follows only objects that match a label selector, a string or a [`LabelSelector`]. The server
    /// selects. An invalid string is reported when you build the informer.
    #[must_use]
    pub fn labels(mut self, selector: impl fmt::Display) -> Self {
        self.target = self.target.with_labels(selector);
        self
    }

    /// Follows only objects that match a field selector, a string or a [`FieldSelector`]. The server
    /// selects, and supports only some fields. An invalid string is reported when you build the informer.
    #[must_use]
    pub fn fields(mut self, selector: impl fmt::Display) -> Self {
        self.target = self.target.with_fields(selector);
        self
    }

    /// Follows the objects in these namespaces, and no others: one list and one watch for each, so it takes no right
    /// beyond them. All share one cache and the handlers. A namespace where the right is missing does not stop the
    /// others; [`status`](crate::SharedInformer::status) says which one it is.
    ///
    /// This wins over [`namespace`](Self::namespace). To change the set later, see
    /// [`add_source`](crate::SharedInformer::add_source) and
    /// [`follow_namespaces`](crate::SharedInformer::follow_namespaces).
    ///
    /// ```
    /// use informer::{InformerBuilder, Target};
    /// use std::time::Duration;
    /// # use informer_transport_mock::{MockServer, ServerConfig, VirtualClock};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let server = MockServer::new(ServerConfig::new(1), VirtualClock::new());
    /// # for namespace in ["web", "batch", "test"] {
    /// #     let pod = serde_json::json!({"metadata": {"namespace": namespace, "name": "shop-1"}});
    /// #     server.with(|server| server.create("pods", pod))?;
    /// # }
    ///
    /// // `server` is a mock API server with a pod in each of the namespaces web, batch and test.
    /// let pods = InformerBuilder::lean_at(Target::new("", "v1", "pods"))
    ///     .namespaces(["web", "batch"])
    ///     .start(&server.connect())?;
    /// pods.synced(Duration::from_secs(30)).await?;
    /// assert_eq!(pods.lister().len(), 2);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn namespaces(mut self, namespaces: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.namespaces = Some(namespaces.into_iter().map(Into::into).collect());
        self
    }

    /// Names the cluster in the keys of all objects, for an informer that follows several clusters: see
    /// [`add_source_in`](crate::SharedInformer::add_source_in).
    #[must_use]
    pub fn in_cluster(mut self, name: impl Into<String>) -> Self {
        self.cluster = name.into();
        self
    }

    /// Follows nothing yet. Sources are added while the informer runs: see
    /// [`add_source`](crate::SharedInformer::add_source) and
    /// [`follow_namespaces`](crate::SharedInformer::follow_namespaces).
    #[must_use]
    pub fn without_sources(self) -> Self {
        self.namespaces([""; 0])
    }

    /// Follows these objects of the same kind, too: in other namespaces, or with other selectors. An object that
    /// several of the selectors match is one object.
    ///
    /// ```
    /// use informer::{InformerBuilder, Target};
    ///
    /// let pods = || Target::new("", "v1", "pods");
    /// let builder = InformerBuilder::lean_at(pods().with_labels("app=shop"))
    ///     .source(pods().with_labels("app=cart"))
    ///     .source(pods().in_namespace("test"));
    /// let targets = builder.targets()?;
    /// let names: Vec<_> = targets.iter().map(Target::to_string).collect();
    /// assert_eq!(
    ///     names,
    ///     ["pods.v1 with labels app=shop", "pods.v1 with labels app=cart", "pods.v1 in test"]
    /// );
    /// # Ok::<(), informer::BuildError>(())
    /// ```
    #[must_use]
    pub fn source(mut self, target: Target) -> Self {
        self.more.push(target);
        self
    }

    /// Follows all of these: see [`source`](Self::source).
    #[must_use]
    pub fn sources(mut self, targets: impl IntoIterator<Item = Target>) -> Self {
        self.more.extend(targets);
        self
    }

    /// Changes each target in any other way. Runs after all other settings of the builder.
    #[must_use]
    pub fn tweak(mut self, tweak: impl Fn(&mut Target) + Send + Sync + 'static) -> Self {
        self.tweaks.push(Arc::new(tweak));
        self
    }

    /// Returns the target of the builder, with its selectors in canonical form. For all that the informer will
    /// follow, see [`targets`](Self::targets).
    ///
    /// # Errors
    /// A name or a selector is invalid.
    pub fn target(&self) -> Result<Target, BuildError> {
        self.tweaked(self.target.clone())
    }

    /// Returns all that the informer will follow, with selectors in canonical form. The same target counts once.
    ///
    /// # Errors
    /// A name or a selector is invalid, or the targets are of different kinds.
    pub fn targets(&self) -> Result<Vec<Target>, BuildError> {
        let of_namespaces = |namespaces: &Vec<String>| {
            let all = namespaces.iter();
            all.map(|namespace| self.target.clone().in_namespace(namespace))
                .collect()
        };
        let own = self.namespaces.as_ref().map(of_namespaces);
        let own: Vec<_> = own.unwrap_or_else(|| vec![self.target.clone()]);
        let (kind, mut targets) = (self.target()?, Vec::new());
        for target in own.iter().chain(&self.more).cloned() {
            let target = self.tweaked(in_same_form(target, &self.target))?;
            check_kind(&kind, &target)?;
            if !targets.contains(&target) {
                targets.push(target);
            }
        }
        Ok(targets)
    }

    fn tweaked(&self, mut target: Target) -> Result<Target, BuildError> {
        for tweak in &self.tweaks {
            tweak(&mut target);
        }
        canonical(target)
    }
}

/// All sources of an informer are decoded in the same way.
pub(crate) fn in_same_form(source: Target, kind: &Target) -> Target {
    let source = source.with_content(kind.content);
    source.accepting(kind.encodings)
}

/// All sources of an informer have the same kind.
pub(crate) fn check_kind(kind: &Target, source: &Target) -> Result<(), BuildError> {
    let parts = |of: &Target| (of.group.clone(), of.version.clone(), of.plural.clone());
    if parts(kind) == parts(source) {
        return Ok(());
    }
    let (group, version, plural) = parts(kind);
    Err(BuildError::OtherKind {
        source: source.to_string(),
        kind: Target::new(&group, &version, &plural).to_string(),
    })
}

/// A target with its selectors in canonical form.
pub(crate) fn canonical(mut target: Target) -> Result<Target, BuildError> {
    target.check()?;
    target.labels = selector::<LabelSelector>(&target.labels)?;
    target.fields = selector::<FieldSelector>(&target.fields)?;
    Ok(target)
}

/// What an informer on these targets is called. The name stays when sources come and go.
pub(super) fn name_of(target: &Target, targets: &[Target]) -> String {
    let first = targets.first().unwrap_or(target);
    match targets.len().saturating_sub(1) {
        0 => first.to_string(),
        more => format!("{first} and {more} more"),
    }
}

/// A selector in canonical form.
fn selector<S>(text: &str) -> Result<String, BuildError>
where
    S: FromStr<Err = SelectorError> + fmt::Display,
{
    match text.parse::<S>() {
        Ok(selector) => Ok(selector.to_string()),
        Err(error) => Err(BuildError::Selector {
            selector: text.to_owned(),
            error,
        }),
    }
}
