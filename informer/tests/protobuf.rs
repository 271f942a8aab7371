//! Informers that read protobuf: metadata by default, lean and packed by choice, prost by type.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests"
)]

// A mock API server, virtual time and informers.
mod world;

use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use informer::informer_core::decode::form::{TextBody, TextForm};
use informer::informer_core::decode::known;
use informer::informer_core::transport::{Command, ExchangeId, Signal};
use informer::{
    Encoding, Encodings, FirstState, InformerBuilder, InformerConfig, LeanBody, MetadataBody,
    Object, SharedInformer, SharedInformerFactory, Target, Transport, by,
};
use informer_transport_mock::api::ApiKind;
use informer_transport_mock::transport::MockTransport;
use k8s_pb::api::core::v1::Pod;
use serde_json::{Value, json};
use world::World;

const SOON: Duration = Duration::from_secs(60);

fn pods() -> Target {
    Target::new("", "v1", "pods")
}

fn widgets() -> Target {
    Target::new("example.com", "v1", "widgets")
}

/// A transport that writes down how its answers are encoded.
struct Noting {
    transport: MockTransport,
    seen: Arc<Mutex<Vec<Encoding>>>,
}

impl Transport for Noting {
    fn execute(&mut self, command: Command<'_>) {
        self.transport.execute(command);
    }

    fn poll_signal(&mut self, cx: &mut Context<'_>) -> Poll<(ExchangeId, Signal<'_>)> {
        let polled = self.transport.poll_signal(cx);
        if let Poll::Ready((_, Signal::Opened(encoding))) = &polled {
            self.seen.lock().unwrap().push(*encoding);
        }
        polled
    }

    fn consume(&mut self, n: usize) {
        self.transport.consume(n);
    }
}

/// A server with pods and widgets.
struct Cluster {
    world: World,
    seen: Arc<Mutex<Vec<Encoding>>>,
}

impl Cluster {
    fn new() -> Self {
        let world = World::new();
        world.server.with(|server| {
            server.register(ApiKind::custom("example.com", "v1", "widgets", "Widget"));
            for number in 0..20 {
                for kind in ["pods", "widgets"] {
                    server.create(kind, object(number)).unwrap();
                }
            }
        });
        Self {
            world,
            seen: Arc::default(),
        }
    }

    fn connect(&self) -> impl Fn(&Target) -> Noting + Clone + use<> {
        let (connect, seen) = (self.world.connect(), Arc::clone(&self.seen));
        move |target| Noting {
            transport: connect(target),
            seen: Arc::clone(&seen),
        }
    }

    fn start<K: Send + Sync + 'static>(&self, builder: &InformerBuilder<K>) -> SharedInformer<K> {
        let informer = builder.build(&self.connect(), self.world.runtime.clone());
        let informer = informer.unwrap();
        informer.start().unwrap();
        informer
    }

    fn follow<K: Send + Sync + 'static>(&self, builder: &InformerBuilder<K>) -> SharedInformer<K> {
        let informer = self.start(builder);
        self.world.wait(informer.synced(SOON)).unwrap();
        informer
    }

    /// Checks the encoding of all answers since the last call.
    fn answered_in(&self, encoding: Encoding) {
        let seen = std::mem::take(&mut *self.seen.lock().unwrap());
        assert!(
            !seen.is_empty() && seen.iter().all(|it| *it == encoding),
            "{seen:?}"
        );
    }

    /// A change, a creation and a deletion in the watch; the same again after the server has forgotten what was watched.
    fn change<K: Send + Sync + 'static>(&self, informer: &SharedInformer<K>) {
        for round in 0..2 {
            let version = self.world.server.with(|server| {
                let label = json!({"metadata": {"labels": {"round": round.to_string()}}});
                server.patch("pods", "web/pod-3", label).unwrap();
                server.create("pods", object(100 + round)).unwrap();
                let gone = format!("web/pod-{round}");
                server.delete("pods", &gone).unwrap();
                if round == 1 {
                    server.restart();
                }
                server.version().to_string()
            });
            self.world.wait(informer.reached(&version, SOON)).unwrap();
            let read = informer.lister().get("web", "pod-3").unwrap();
            assert_eq!(read.labels().get("round"), Some(round.to_string().as_str()));
            assert_eq!(informer.lister().len(), 20);
        }
        let relists = informer.status().counts.full_states;
        assert_eq!(relists, 2, "a relist after the restart");
    }
}

fn object(number: usize) -> Value {
    json!({
        "metadata": {
            "namespace": "web", "name": format!("pod-{number}"), "labels": {"app": "shop"},
            "annotations": {"example.com/team": format!("team {}", number % 5)},
            "ownerReferences": [
                {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "rs", "uid": "u-rs", "controller": true},
            ],
            "managedFields": [{"manager": "kubelet", "operation": "Update", "apiVersion": "v1"}],
        },
        "spec": {
            "nodeName": format!("node-{}", number % 4),
            "containers": [{"name": "main", "image": "example.com/shop:1.7"}],
        },
    })
}

fn both_ways<K: Send + Sync + 'static>(builder: &InformerBuilder<K>) -> [InformerBuilder<K>; 2] {
    [FirstState::Listed, FirstState::Streamed].map(|first_state| {
        let mut preset = InformerConfig::new();
        preset.reflector.first_state = first_state;
        builder.clone().preset(preset)
    })
}

#[test]
fn metadata_comes_in_protobuf_by_default_and_is_the_same_as_from_json() {
    let builder = InformerBuilder::metadata_at(pods());
    for builder in both_ways(&builder) {
        let cluster = Cluster::new();
        let in_protobuf = cluster.follow(&builder);
        cluster.answered_in(Encoding::Protobuf);
        let builder = builder.tweak(|target| target.encodings = Encodings::Json);
        let in_json = cluster.follow(&builder);
        cluster.answered_in(Encoding::Json);
        cluster.change(&in_protobuf);
        cluster.world.pass(SOON);
        assert_eq!(in_json.lister().len(), 20);
        for ours in in_protobuf.snapshot().iter() {
            let theirs = in_json.lister().get("web", ours.key().name()).unwrap();
            let value = |object: &Object<MetadataBody>| object.decode::<Value>().unwrap();
            assert_eq!(value(ours), value(&theirs));
            assert_eq!(ours.version(), theirs.version());
            assert_eq!(ours.uid(), theirs.uid());
            assert_eq!(ours.owners(), theirs.owners());
            assert_eq!(
                ours.labels().iter().collect::<Vec<_>>(),
                theirs.labels().iter().collect::<Vec<_>>()
            );
        }
        let verified = cluster
            .world
            .wait(in_protobuf.verify(&cluster.connect(), SOON))
            .unwrap();
        assert!(verified.is_consistent(), "{verified}");
        // Custom resources have protobuf of their metadata, too.
        let cluster = Cluster::new();
        let widgets = cluster.follow(&InformerBuilder::metadata_at(widgets()));
        assert_eq!(widgets.lister().len(), 20);
        cluster.answered_in(Encoding::Protobuf);
    }
}

/// What works on messages without a schema, and what says that it does not.
fn check_text<F: TextForm + 'static>(builder: InformerBuilder<TextBody<F>>) {
    let builder = builder
        .index("app", by::label("app"))
        .index("team", by::annotation("example.com/team"))
        .index("owner", by::owner_uid())
        .index("node", by::node_name())
        .index("phase", by::field(known::POD_PHASE.into()));
    for builder in both_ways(&builder) {
        let cluster = Cluster::new();
        let informer = cluster.follow(&builder);
        let lister = informer.lister();
        for (index, value, found) in [
            ("app", "shop", 20),
            ("team", "team 4", 4),
            ("owner", "u-rs", 20),
            ("node", "node-3", 5),
            ("phase", "Pending", 20),
        ] {
            assert_eq!(
                lister.by_index(index, value).unwrap().len(),
                found,
                "{index}"
            );
        }
        let pod = lister.get("web", "pod-7").unwrap();
        assert_eq!(pod.encoding(), Encoding::Protobuf);
        assert_eq!(pod.annotation("example.com/team").unwrap(), "team 2");
        let decoded: Pod = pod.decode_message().unwrap();
        assert_eq!(decoded.spec.unwrap().node_name(), "node-3");
        assert!(decoded.metadata.unwrap().managed_fields.is_empty());
        for error in [
            pod.json().unwrap_err().to_string(),
            pod.decode::<Value>().unwrap_err().to_string(),
        ] {
            assert!(error.contains("decode it into a prost type"), "{error}");
        }
        cluster.change(&informer);
        cluster.answered_in(Encoding::Protobuf);
        let verified = informer.verify(&cluster.connect(), SOON);
        let verified = cluster.world.wait(verified).unwrap();
        assert!(verified.is_consistent(), "{verified}");
    }
}

#[test]
fn lean_messages_are_indexed_read_and_followed() {
    check_text(InformerBuilder::lean_at(pods()).protobuf());
}

#[test]
fn packed_messages_are_indexed_read_and_followed() {
    check_text(InformerBuilder::packed_at(pods()).protobuf());
}

#[test]
fn a_kind_without_protobuf_comes_in_json() {
    let cluster = Cluster::new();
    let lean = cluster.follow(&InformerBuilder::lean_at(widgets()).protobuf());
    let packed = cluster.follow(&InformerBuilder::packed_at(widgets()).protobuf());
    cluster.answered_in(Encoding::Json);
    let widget = lean.lister().get("web", "pod-1").unwrap();
    assert_eq!(widget.encoding(), Encoding::Json);
    let spec = |value: Value| value["spec"]["nodeName"].clone();
    assert_eq!(spec(widget.decode().unwrap()), "node-1");
    let widget = packed.lister().get("web", "pod-1").unwrap();
    assert_eq!(spec(widget.decode().unwrap()), "node-1");
    assert_eq!(
        widget.protobuf().unwrap_err().to_string(),
        "the object is kept in JSON, not in protobuf: decode it into a serde type, or ask the server for protobuf"
    );
}

#[test]
fn one_store_holds_both_encodings() {
    check_mixed(InformerBuilder::lean_at(pods()).protobuf());
    check_mixed(InformerBuilder::packed_at(pods()).protobuf());
}

/// One of two sources sends JSON.
fn check_mixed<F: TextForm + 'static>(builder: InformerBuilder<TextBody<F>>) {
    let cluster = Cluster::new();
    let builder = builder
        .index("app", by::label("app"))
        .index("node", by::node_name())
        .namespaces(["web", "other"])
        .tweak(|target| {
            if target.namespace.as_deref() == Some("other") {
                target.encodings = Encodings::Json;
            }
        });
    let mut other = object(3);
    other["metadata"]["namespace"] = json!("other");
    let server = &cluster.world.server;
    server.with(|server| server.create("pods", other)).unwrap();
    let informer = cluster.follow(&builder);
    let lister = informer.lister();
    assert_eq!(lister.by_index("app", "shop").unwrap().len(), 21);
    assert_eq!(lister.by_index("node", "node-3").unwrap().len(), 6);
    let encoding = |namespace| lister.get(namespace, "pod-3").unwrap().encoding();
    assert_eq!(encoding("web"), Encoding::Protobuf);
    assert_eq!(encoding("other"), Encoding::Json);
}

#[test]
fn types_of_prost_are_followed() {
    for builder in both_ways(&InformerBuilder::<Pod>::prost_at(pods())) {
        let cluster = Cluster::new();
        let builder = builder
            .keep_annotations()
            .index("team", by::annotation("example.com/team"))
            .index("node", |pod: &Object<Pod>| {
                let spec = pod.spec.as_ref();
                spec.map(|spec| spec.node_name().to_owned())
            });
        let informer = cluster.follow(&builder);
        let lister = informer.lister();
        assert_eq!(lister.by_index("node", "node-3").unwrap().len(), 5);
        assert_eq!(lister.by_index("team", "team 4").unwrap().len(), 4);
        let pod = lister.get("web", "pod-1").unwrap();
        assert_eq!(pod.status.as_ref().unwrap().phase(), "Pending");
        assert!(pod.metadata.as_ref().unwrap().managed_fields.is_empty());
        cluster.change(&informer);
        let verified = informer.verify(&cluster.connect(), SOON);
        let verified = cluster.world.wait(verified).unwrap();
        assert!(verified.is_consistent(), "{verified}");
    }
}

#[test]
fn prost_decodes_lean_and_packed_messages() {
    let cluster = Cluster::new();
    let lean = cluster.follow(&InformerBuilder::<Pod>::lean_prost_at(pods()));
    let packed = cluster.follow(&InformerBuilder::<Pod>::packed_prost_at(pods()));
    cluster.change(&lean);
    cluster.world.pass(SOON);
    let mut sizes = (0, 0);
    for pod in lean.snapshot().iter() {
        let decoded = pod.decode().unwrap();
        assert_eq!(decoded.metadata.as_ref().unwrap().name(), pod.key().name());
        let other = packed.lister().get("web", pod.key().name()).unwrap();
        assert_eq!(decoded, other.decode().unwrap());
        sizes.0 += other.packed_size();
        sizes.1 += pod.packed_size();
    }
    assert!(sizes.0 < sizes.1, "{sizes:?}");
}

#[test]
fn a_type_of_prost_for_a_kind_without_protobuf_says_why_it_fails() {
    let cluster = Cluster::new();
    let informer = cluster.start(&InformerBuilder::<Pod>::prost_at(widgets()));
    let error = cluster.world.wait(informer.synced(SOON)).unwrap_err();
    assert!(
        error
            .reason
            .contains("only the following media types are accepted: application/json"),
        "{error}"
    );
    // A proxy that answers JSON whatever the request accepts.
    let connect = cluster.world.connect();
    let proxy = move |target: &Target| connect(&target.clone().accepting(Encodings::Json));
    let builder = InformerBuilder::<Pod>::prost_at(pods());
    let informer = builder
        .build(&proxy, cluster.world.runtime.clone())
        .unwrap();
    informer.start().unwrap();
    let error = cluster.world.wait(informer.synced(SOON)).unwrap_err();
    assert!(
        error.reason.contains("the type reads only protobuf"),
        "{error}"
    );
}

#[test]
fn a_form_is_asked_for_in_an_encoding_that_it_reads() {
    let asked = |builder: InformerBuilder<Value>| builder.target().unwrap().encodings;
    let both = pods().accepting(Encodings::ProtobufOrJson);
    assert_eq!(asked(InformerBuilder::dynamic_at(both)), Encodings::Json);
    let typed = InformerBuilder::<Pod>::prost_at(pods()).source(pods().in_namespace("web"));
    for target in typed.targets().unwrap() {
        assert_eq!(target.encodings, Encodings::Protobuf, "{target}");
    }
    // Later sources, too.
    let cluster = Cluster::new();
    let informer = cluster.follow(
        &InformerBuilder::lean_at(pods())
            .protobuf()
            .without_sources(),
    );
    informer
        .add_source(&cluster.connect(), pods().in_namespace("web"))
        .unwrap();
    cluster.world.wait(informer.synced(SOON)).unwrap();
    cluster.world.pass(SOON);
    assert_eq!(informer.lister().len(), 20);
    cluster.answered_in(Encoding::Protobuf);
}

#[test]
fn a_cache_of_json_is_verified_in_protobuf() {
    let cluster = Cluster::new();
    let informer = cluster.follow(&InformerBuilder::lean_at(pods()));
    cluster.answered_in(Encoding::Json);
    let verified = informer.verify(&cluster.connect(), SOON);
    let verified = cluster.world.wait(verified).unwrap();
    assert!(verified.is_consistent(), "{verified}");
    cluster.answered_in(Encoding::Protobuf);
}

#[test]
fn a_factory_does_not_share_an_informer_between_encodings() {
    let cluster = Cluster::new();
    let factory = SharedInformerFactory::new(cluster.connect(), cluster.world.runtime.clone());
    let json = factory.informer(&InformerBuilder::lean_at(pods())).unwrap();
    let protobuf = || InformerBuilder::lean_at(pods()).protobuf();
    let first = factory.informer(&protobuf()).unwrap();
    let second = factory.informer(&protobuf()).unwrap();
    factory.start().unwrap();
    for informer in [&json, &first, &second] {
        cluster.world.wait(informer.synced(SOON)).unwrap();
    }
    let encoding = |informer: &SharedInformer<LeanBody>| {
        let pod = informer.lister().get("web", "pod-1");
        pod.unwrap().encoding()
    };
    assert_eq!(encoding(&json), Encoding::Json);
    assert_eq!(encoding(&first), Encoding::Protobuf);
    assert_eq!(encoding(&second), Encoding::Protobuf);
    let informers = factory.status().len();
    assert_eq!(informers, 2);
}
