//! The informer that faults hit: it follows some pods at the end of a line.

use std::time::Duration;

use informer::{InformerBuilder, InformerConfig, LeanBody};
use informer_e2e::Outcome;
use informer_e2e::follower::{Comparable, Follower};
use informer_e2e::proxy::Proxy;

use crate::clients::{self, Client};

use super::{LONG, World, impatient, pod, pods_in, pods_path, touch};

/// Silence this long is suspicious.
pub(super) const IDLE: Duration = Duration::from_secs(4);

/// How many pods there are at first.
const PODS: usize = 40;

pub(super) struct Subject<K: Comparable = LeanBody> {
    pub(super) follower: Follower<K>,
    pub(super) proxy: Proxy,
    namespace: String,
    /// The first existing pod.
    oldest: usize,
    /// The last existing pod.
    newest: usize,
}

/// A configuration that notices faults soon.
pub(super) fn watchful() -> InformerConfig {
    let mut config = impatient();
    config.reflector.idle = Some(IDLE);
    config
}

/// A client that notices faults soon.
pub(super) async fn watchful_client(world: &World, proxy: &Proxy) -> Outcome<Client> {
    let kubeconfig = world.cluster.kubeconfig_through(proxy.address())?;
    clients::watchful(&kubeconfig, "admin").await
}

impl Subject {
    /// A follower that is watching and has seen events.
    pub(super) async fn watching(world: &World, namespace: &str) -> Outcome<Self> {
        Self::of(world, namespace, pods_in(namespace)).await
    }
}

impl<K: Comparable> Subject<K> {
    /// The same, built by `builder`.
    pub(super) async fn of(
        world: &World,
        namespace: &str,
        builder: InformerBuilder<K>,
    ) -> Outcome<Self> {
        world.namespace(namespace).await?;
        let proxy = world.proxy().await?;
        let client = watchful_client(world, &proxy).await?;
        let builder = builder.preset(watchful());
        let mut subject = Self {
            follower: Follower::start(builder, &client)?,
            proxy,
            namespace: namespace.to_owned(),
            oldest: 0,
            newest: 0,
        };
        for _ in 0..PODS {
            subject.create(world).await?;
        }
        subject.follower.equals(&world.api, LONG).await?;
        subject.change(world).await?;
        subject.follower.equals(&world.api, LONG).await?;
        Ok(subject)
    }

    /// Creates, deletes, changes and re-creates some pods.
    pub(super) async fn change(&mut self, world: &World) -> Outcome {
        for _ in 0..10 {
            world.api.delete(&self.path(self.oldest)).await?;
            self.oldest += 1;
            self.create(world).await?;
        }
        for number in self.oldest..self.oldest + 5 {
            world
                .api
                .patch(&self.path(number), &touch(self.newest))
                .await?;
            let other = number + 5;
            world.api.delete(&self.path(other)).await?;
            let again = pod(&name(other));
            world
                .api
                .create(&pods_path(&self.namespace), &again)
                .await?;
        }
        Ok(())
    }

    async fn create(&mut self, world: &World) -> Outcome {
        let created = pod(&name(self.newest));
        self.newest += 1;
        world
            .api
            .create(&pods_path(&self.namespace), &created)
            .await?;
        Ok(())
    }

    fn path(&self, number: usize) -> String {
        format!("{}/{}", pods_path(&self.namespace), name(number))
    }
}

fn name(number: usize) -> String {
    format!("pod-{number}")
}
