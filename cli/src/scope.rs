//! The flags that select objects.

use std::error::Error;

use clap::Args;
use informer::informer_core::transport::check_namespace;
use informer::selector::{FieldSelector, LabelSelector};
use informer::{Client, InvalidTarget, Target};

use crate::cluster::ClusterArgs;

/// Which objects of a resource, of which cluster.
#[derive(Args)]
pub(crate) struct Scope {
    /// Follow only this namespace [default: the namespace of the context]
    #[arg(short, long, value_parser = namespace, conflicts_with = "all_namespaces")]
    namespace: Option<String>,

    /// Follow all namespaces
    #[arg(short = 'A', long)]
    all_namespaces: bool,

    /// Follow only objects with matching labels, for example app=web,tier!=db
    #[arg(
        short = 'l',
        long = "selector",
        value_name = "SELECTOR",
        default_value = "",
        hide_default_value = true
    )]
    labels: LabelSelector,

    /// Follow only objects with matching fields, for example spec.nodeName=node-1
    #[arg(
        long = "field-selector",
        value_name = "SELECTOR",
        default_value = "",
        hide_default_value = true
    )]
    fields: FieldSelector,

    #[command(flatten)]
    cluster: ClusterArgs,
}

/// Rejects invalid namespaces while the flags are parsed.
fn namespace(name: &str) -> Result<String, InvalidTarget> {
    check_namespace(name)?;
    Ok(name.to_owned())
}

impl Scope {
    pub(crate) fn client(&self) -> Result<Client, Box<dyn Error>> {
        Ok(Client::new(self.cluster.config()?)?)
    }

    /// Looks the resource up in this cluster.
    pub(crate) async fn target(
        &self,
        resource: &str,
        client: &Client,
    ) -> Result<Target, Box<dyn Error>> {
        let resource = client.resolve(resource).await?;
        let everywhere = resource.target(None)?;
        let target = match &self.namespace {
            _ if self.all_namespaces => everywhere,
            Some(namespace) => resource.target(Some(namespace))?,
            // The default namespace is ignored for resources without namespaces.
            None => resource
                .target(Some(client.config().default_namespace()))
                .unwrap_or(everywhere),
        };
        Ok(Target {
            labels: self.labels.to_string(),
            fields: self.fields.to_string(),
            ..target
        })
    }

    /// The selection in words.
    pub(crate) fn describe(&self, client: &Client) -> String {
        let mut text = match &self.namespace {
            _ if self.all_namespaces => "all namespaces".to_owned(),
            Some(namespace) => format!("namespace {namespace}"),
            None => format!("namespace {}", client.config().default_namespace()),
        };
        for (what, selector) in [
            ("labels", self.labels.to_string()),
            ("fields", self.fields.to_string()),
        ] {
            if !selector.is_empty() {
                text.push_str(&format!(", {what} {selector}"));
            }
        }
        text
    }
}
