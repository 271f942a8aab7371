//! Types of kube-rs are followed by naming them.

use std::time::Duration;

use informer::informer_transport_kube::{k8s_openapi, kube};
use informer::kube::{
    ToObjectKey as _, ToObjectRef as _, object_reference, owner_object_ref, target, target_of,
};
use informer::runtime::Tokio;
use informer::{
    Content, InformerBuilder, Kind as _, ObjectKey, OwnerReference, SharedInformerFactory,
};
use informer_transport_mock::api::ApiKind;
use informer_transport_mock::http::{Running, SharedServer};
use k8s_openapi::api::core::v1::{Node, Pod};
use kube::core::{ApiResource, DynamicObject, PartialObjectMeta};
use kube::runtime::reflector::ObjectRef;
use kube::{CustomResource, ResourceExt as _};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::client;

const LONG: Duration = Duration::from_secs(60);

/// A derived custom resource.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "example.com", version = "v1", kind = "Widget", namespaced)]
struct WidgetSpec {
    size: u32,
}

/// A server with one widget.
async fn server() -> (SharedServer, Running) {
    let (server, running) = client::server().await;
    server.with(|server| {
        server.register(ApiKind::custom("example.com", "v1", "widgets", "Widget"));
        let widget = json!({"metadata": {"namespace": "web", "name": "w"}, "spec": {"size": 3}});
        server.create("widgets.example.com", widget).unwrap();
    });
    (server, running)
}

/// Changes the size of the widget, and returns the version of the change.
fn grow(server: &SharedServer, size: u32) -> String {
    server.with(|server| {
        let change = json!({"spec": {"size": size}});
        server
            .patch("widgets.example.com", "web/w", change)
            .unwrap();
        server.version().to_string()
    })
}

#[tokio::test]
async fn a_derived_custom_resource_is_followed_by_its_type_alone() {
    let (server, running) = server().await;
    let client = client::plain(running.url());
    let widgets = InformerBuilder::<Widget>::kube().start(&client).unwrap();
    let packed = InformerBuilder::<Widget>::kube_packed()
        .start(&client)
        .unwrap();
    widgets.synced(LONG).await.unwrap();
    packed.synced(LONG).await.unwrap();
    let widget = widgets.lister().get("web", "w").unwrap();
    assert_eq!(widget.body().spec.size, 3);
    assert_eq!(widget.body().name_any(), "w");
    let version = grow(&server, 4);
    widgets.reached(&version, LONG).await.unwrap();
    packed.reached(&version, LONG).await.unwrap();
    assert_eq!(
        widgets.lister().get("web", "w").unwrap().body().spec.size,
        4
    );
    let unpacked: Widget = packed.lister().get("web", "w").unwrap().decode().unwrap();
    assert_eq!(unpacked.spec.size, 4);
    running.stop().await;
}

#[tokio::test]
async fn a_dynamic_object_is_followed_by_its_resource() {
    let (_server, running) = server().await;
    let client = client::plain(running.url());
    let resource = ApiResource::erase::<Widget>(&());
    let widgets = InformerBuilder::<DynamicObject>::typed_at(target_of(&resource));
    let widgets = widgets.start(&client).unwrap();
    widgets.synced(LONG).await.unwrap();
    let widget = widgets.lister().get("web", "w").unwrap();
    assert_eq!(widget.body().data["spec"]["size"], 3);
    running.stop().await;
}

#[tokio::test]
async fn metadata_alone_is_followed_by_its_type() {
    let (_server, running) = server().await;
    let client = client::plain(running.url());
    let widgets = InformerBuilder::<PartialObjectMeta<Widget>>::kube();
    assert_eq!(widgets.target().unwrap().content, Content::Metadata);
    let widgets = widgets.start(&client).unwrap();
    widgets.synced(LONG).await.unwrap();
    let widget = widgets.lister().get("web", "w").unwrap();
    assert_eq!(widget.body().name_any(), "w");
    running.stop().await;
}

#[tokio::test]
async fn a_factory_shares_the_informers_of_types() {
    let (_server, running) = server().await;
    let client = client::plain(running.url());
    let factory = SharedInformerFactory::new(client, Tokio::current().unwrap());
    let widgets = factory.kube::<Widget>().unwrap();
    let again = factory.kube::<Widget>().unwrap();
    assert!(widgets.is_same(&again));
    // The types of k8s-openapi come in by both doors, to the same informer.
    let pods = factory.kube::<Pod>().unwrap();
    assert!(pods.is_same(&factory.of::<Pod>().unwrap()));
    factory.start().unwrap();
    factory.synced(LONG).await.unwrap();
    assert_eq!(widgets.lister().len(), 1);
    factory.shutdown().await;
    running.stop().await;
}

#[test]
fn both_doors_lead_to_the_same_target() {
    assert_eq!(target::<Pod>(), Pod::target());
    assert_eq!(target::<Node>(), Node::target());
    let erased = ApiResource::erase::<Pod>(&());
    assert_eq!(target_of(&erased), Pod::target());
}

#[tokio::test]
async fn keys_and_references_become_one_another() {
    let key = ObjectKey::new("web", "w");
    let reference: ObjectRef<Widget> = key.to_object_ref(());
    assert_eq!(reference, ObjectRef::new("w").within("web"));
    assert_eq!(reference.object_key(), key);
    let node = ObjectKey::new("", "node-1");
    assert_eq!(node.to_object_ref::<Node>(()), ObjectRef::new("node-1"));
    assert_eq!(node.to_object_ref::<Node>(()).object_key(), node);
    let resource = ApiResource::erase::<Widget>(&());
    let erased: ObjectRef<DynamicObject> = key.to_object_ref(resource.clone());
    assert_eq!(erased, ObjectRef::<Widget>::new("w").within("web").erase());

    let (_server, running) = server().await;
    let client = client::plain(running.url());
    let widgets = InformerBuilder::<Widget>::kube().start(&client).unwrap();
    widgets.synced(LONG).await.unwrap();
    let widget = widgets.lister().get("web", "w").unwrap();
    let ours = widget.to_object_ref::<Widget>(());
    let theirs = ObjectRef::from_obj(widget.body());
    assert_eq!(ours, theirs);
    assert_eq!(ours.extra.uid, theirs.extra.uid);
    assert!(ours.extra.uid.is_some());
    assert_eq!(ours.extra.resource_version, theirs.extra.resource_version);
    let theirs = kube::Resource::object_ref(widget.body(), &());
    let ours = object_reference::<Widget, _>(&widget);
    assert_eq!((&ours.kind, &ours.uid), (&theirs.kind, &theirs.uid));
    assert_eq!(ours.api_version, theirs.api_version);
    assert_eq!(
        (&ours.name, &ours.namespace),
        (&theirs.name, &theirs.namespace)
    );
    running.stop().await;
}

#[tokio::test]
async fn owners_become_references() {
    let (server, running) = server().await;
    let owners = json!([
        {"apiVersion": "example.com/v1beta1", "kind": "Widget", "name": "w", "uid": "u-1", "controller": true},
        {"apiVersion": "v1", "kind": "Node", "name": "node-1", "uid": "u-2"},
        {"apiVersion": "example.org/v1", "kind": "Widget", "name": "other", "uid": "u-3"},
        {"apiVersion": "example.com/v1", "kind": "Gadget", "name": "other", "uid": "u-4"},
    ]);
    let pod = json!({"metadata": {"namespace": "web", "name": "p", "ownerReferences": owners}});
    server.with(|server| server.create("pods", pod)).unwrap();
    let client = client::plain(running.url());
    let pods = InformerBuilder::<Pod>::kube().start(&client).unwrap();
    pods.synced(LONG).await.unwrap();
    let pod = pods.lister().get("web", "p").unwrap();

    let resource = ApiResource::erase::<Widget>(&());
    let (mut widgets, mut erased, mut nodes) = (Vec::new(), Vec::new(), Vec::new());
    pod.each_owner(&mut |owner: OwnerReference<'_>| {
        widgets.extend(owner_object_ref::<Widget>("web", &owner, ()));
        erased.extend(owner_object_ref::<DynamicObject>(
            "web",
            &owner,
            resource.clone(),
        ));
        nodes.extend(owner_object_ref::<Node>("", &owner, ()));
    });
    let widget = ObjectRef::<Widget>::new("w").within("web");
    assert_eq!(erased, [widget.clone().erase()]);
    assert_eq!(widgets, [widget]);
    assert_eq!(widgets[0].extra.uid.as_deref(), Some("u-1"));
    assert_eq!(nodes, [ObjectRef::new("node-1")]);
    running.stop().await;
}
