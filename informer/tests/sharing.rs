//! Which requests to a factory share an informer, which get their own, and which are refused.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests"
)]

// A mock API server, virtual time and informers.
mod world;

use std::sync::mpsc;
use std::time::Duration;

use informer::informer_core::decode::form::{BodyError, Form};
use informer::informer_core::decode::json::form::JsonObject;
use informer::informer_core::decode::{Lean, Packed};
use informer::informer_core::queue::Relist;
use informer::{
    Backlog, BuildError, Connect, Contrast, IndexFn, InformerBuilder, InformerConfig,
    IntoIndex as _, NotShared, QueueKind, Setting, SharedInformer, SharedInformerFactory, Target,
    TransformError, TypedIndex, by,
};
use serde_json::Value;
use world::{Pod, World, keys, pods};

const SOON: Duration = Duration::from_secs(30);
const MINUTE: Duration = Duration::from_secs(60);

type Builder = InformerBuilder<Value>;

fn factory(world: &World) -> SharedInformerFactory<impl Connect + use<>> {
    SharedInformerFactory::new(world.connect(), world.runtime.clone())
}

fn target() -> Target {
    Target::new("", "v1", "pods")
}

/// Whether two requests get the same informer.
fn share<K: Send + Sync + 'static>(one: &InformerBuilder<K>, two: &InformerBuilder<K>) -> bool {
    let factory = factory(&World::new());
    let first = factory.informer(one).unwrap();
    let second = factory.informer(two).unwrap();
    assert_eq!(
        factory.status().len(),
        if first.is_same(&second) { 1 } else { 2 }
    );
    first.is_same(&second)
}

/// The error of the second request.
fn refused<K: Send + Sync + 'static>(
    one: &InformerBuilder<K>,
    two: &InformerBuilder<K>,
) -> NotShared {
    let factory = factory(&World::new());
    let first = factory.informer(one).unwrap();
    let Err(BuildError::NotShared(error)) = factory.informer(two).map(drop) else {
        panic!("the second request was not refused");
    };
    assert_eq!(factory.status().len(), 1, "no second informer");
    // The first one is as it was.
    assert!(factory.informer(one).unwrap().is_same(&first));
    error
}

/// The only difference of two requests, in both directions.
fn differs<K: Send + Sync + 'static>(
    one: &InformerBuilder<K>,
    two: &InformerBuilder<K>,
) -> (Setting, Contrast) {
    let only = |error: NotShared| {
        assert_eq!(error.name, "pods.v1");
        assert_eq!(error.conflicts.len(), 1, "{error}");
        let conflict = error.conflicts[0].clone();
        (conflict.setting, conflict.contrast)
    };
    let (there, back) = (only(refused(one, two)), only(refused(two, one)));
    assert_eq!(there.0, back.0);
    there
}

fn strip(pod: &mut Pod) -> Result<(), TransformError> {
    pod.set_labels([("stripped", "yes")]);
    Ok(())
}

fn keep(_: &mut Pod) -> Result<(), TransformError> {
    Ok(())
}

/// A transform that captures its argument.
fn labelling(label: &'static str) -> impl Fn(&mut Pod) -> Result<(), TransformError> + Send + Sync {
    move |pod| {
        pod.set_labels([("by", label)]);
        Ok(())
    }
}

/// All the settings there are, as a module of a program would write them.
fn everything() -> Builder {
    pods()
        .labels("app=shop")
        .transform(strip)
        .on_failure(|_| {})
        .on_rejected(|_| {})
        .resync(MINUTE)
        .queue(QueueKind::InOrder)
        .page_size(10)
        .max_objects(100)
        .max_bytes(10_000)
        .backlog(Backlog::Grow)
        .index("app", by::label("app"))
        .index("length", |pod: &Pod| pod.key().name().len() as u64)
        .index_with("name", |pod, file| file(pod.key().name().as_bytes()))
}

#[test]
fn the_same_code_shares() {
    assert!(share(&everything(), &everything()));
    assert!(share(&pods().transform(strip), &pods().transform(strip)));
    // Defaults are settings, too: what counts is the outcome.
    assert!(share(&pods().queue(QueueKind::DeltaFifo), &pods()));
    let preset = InformerConfig {
        resync: Some(MINUTE),
        ..InformerConfig::new()
    };
    assert!(share(&pods().preset(preset), &pods().resync(MINUTE)));
    assert!(share(&pods().seed(1), &pods().seed(2)));
}

#[test]
fn a_clone_shares_whatever_it_captures() {
    let (sender, _receiver) = mpsc::channel();
    let builder = pods()
        .transform(labelling("a"))
        .on_failure(move |_| sender.send(()).unwrap_or_default())
        .index("label", {
            let label = "app".to_owned();
            move |pod: &Pod| pod.labels().get(&label).map(str::to_owned)
        });
    assert!(share(&builder, &builder.clone()));
}

#[test]
fn what_is_fetched_and_kept_says_which_informer_it_is() {
    for other in [
        pods().namespace("web"),
        pods().labels("app=shop"),
        pods().fields("spec.nodeName=a"),
        pods().tweak(|target| target.parameters = vec![("a".to_owned(), "b".to_owned())]),
        pods().keep_managed_fields(),
    ] {
        assert!(!share(&pods(), &other), "{other:?}");
        assert!(share(&other, &other));
    }
}

/// Keeps the size of an object, in units.
struct Size {
    unit: usize,
}

/// Keeps the size of an object.
struct Bytes;

/// Keeps a number for each object.
struct Each {
    each: usize,
}

/// Keeps nothing worth the name.
struct Zero;

impl Form for Size {
    type Body = usize;
    fn read_json(&mut self, object: JsonObject<'_>) -> Result<usize, BodyError> {
        Ok(object.json.len() / self.unit)
    }
}

impl Form for Bytes {
    type Body = usize;
    fn read_json(&mut self, object: JsonObject<'_>) -> Result<usize, BodyError> {
        Ok(object.json.len())
    }
}

impl Form for Each {
    type Body = usize;
    fn read_json(&mut self, _: JsonObject<'_>) -> Result<usize, BodyError> {
        Ok(self.each)
    }
}

impl Form for Zero {
    type Body = usize;
    fn read_json(&mut self, _: JsonObject<'_>) -> Result<usize, BodyError> {
        Ok(0)
    }
}

/// Forms with the same body.
#[test]
fn another_form_is_another_informer() {
    let bytes = || InformerBuilder::of(target(), || Bytes);
    let zero = InformerBuilder::of(target(), || Zero);
    assert!(share(&bytes(), &bytes()));
    // It has no state, so it is the same, wherever it is made.
    assert!(share(&bytes(), &InformerBuilder::of(target(), || Bytes)));
    assert!(!share(&bytes(), &zero));
    // Both have a state: what makes them says which it is.
    let kilo = || InformerBuilder::of(target(), || Size { unit: 1_000 });
    let kibi = InformerBuilder::of(target(), || Size { unit: 1_024 });
    assert!(share(&kilo(), &kilo()));
    assert!(!share(&kilo(), &kibi));
    assert!(!share(&bytes(), &kilo()));
    // A packed object and one that was never packed have the same form.
    let unpacked = InformerBuilder::of(target(), || Packed);
    assert!(!share(&InformerBuilder::packed_at(target()), &unpacked));
    assert!(share(
        &InformerBuilder::lean_at(target()),
        &InformerBuilder::of(target(), || Lean)
    ));

    let world = World::new();
    world.create("a");
    let factory = factory(&world);
    let (bytes, zero) = (factory.informer(&bytes()), factory.informer(&zero));
    factory.start().unwrap();
    world.wait(factory.synced(SOON)).unwrap();
    let size = |informer: SharedInformer<usize>| *informer.lister().get("web", "a").unwrap().body();
    assert_eq!(size(zero.unwrap()), 0);
    assert_ne!(size(bytes.unwrap()), 0);
}

#[test]
fn a_form_that_captures_needs_a_name() {
    let unit = |unit| InformerBuilder::of(target(), move || Size { unit });
    let named = |name, unit| InformerBuilder::of_named(target(), name, move || Size { unit });
    assert_eq!(
        differs(&unit(1), &unit(1)),
        (Setting::Form, Contrast::Captures)
    );
    assert_eq!(
        differs(&unit(1), &named("bytes", 1)),
        (Setting::Form, Contrast::Captures)
    );
    let error = refused(&unit(1), &unit(1)).to_string();
    assert!(
        error.contains("the form is a closure that captures variables"),
        "{error}"
    );
    assert!(
        error.contains("name it with `InformerBuilder::of_named`"),
        "{error}"
    );
    assert!(share(&named("bytes", 1), &named("bytes", 1)));
    assert!(!share(&named("bytes", 1), &named("kilobytes", 1_000)));
    // Another type is another form, whatever it captures and however it is named.
    let each = |each: usize| InformerBuilder::of(target(), move || Each { each });
    assert!(!share(&unit(1), &each(1)));
    let each = InformerBuilder::of_named(target(), "bytes", || Each { each: 1 });
    assert!(!share(&named("bytes", 1), &each));
    // The one of the same name is found among others.
    let factory = factory(&World::new());
    let first = factory.informer(&named("bytes", 1)).unwrap();
    factory.informer(&named("kilobytes", 1_000)).unwrap();
    let mixed = factory.informer(&unit(1)).map(drop).unwrap_err();
    assert!(matches!(mixed, BuildError::NotShared(_)), "{mixed}");
    assert!(first.is_same(&factory.informer(&named("bytes", 1)).unwrap()));
}

#[test]
fn another_transform_is_refused() {
    let (plain, stripped) = (pods(), pods().transform(strip));
    assert_eq!(
        differs(&plain, &stripped),
        (Setting::Transform, Contrast::OnlyRequested)
    );
    assert_eq!(
        differs(&stripped, &plain),
        (Setting::Transform, Contrast::OnlyRunning)
    );
    let other = (Setting::Transform, Contrast::OtherFunction);
    assert_eq!(differs(&stripped, &pods().transform(keep)), other);
    assert_eq!(
        differs(&pods().transform(|_| Ok(())), &pods().transform(|_| Ok(()))),
        other
    );
    let error = refused(&stripped, &plain).to_string();
    assert_eq!(
        error,
        "cannot share the informer for pods.v1: the request contradicts the settings it was built \
         with: `transform` is set there, but not here; use the same settings in all requests or set \
         them on the factory, or build an informer of your own with `InformerBuilder::build`"
    );
}

#[test]
fn a_transform_that_captures_needs_a_name() {
    let captures = (Setting::Transform, Contrast::Captures);
    let labelled = || pods().transform(labelling("a"));
    assert_eq!(differs(&labelled(), &labelled()), captures);
    assert_eq!(differs(&labelled(), &pods().transform(strip)), captures);
    let error = refused(&labelled(), &labelled()).to_string();
    assert!(
        error.contains("`transform` is a closure that captures variables"),
        "{error}"
    );
    assert!(error.contains("name it with `transform_named`"), "{error}");
    let named = |name, label| pods().transform_named(name, labelling(label));
    assert!(share(&named("a", "a"), &named("a", "a")));
    let other = (Setting::Transform, Contrast::OtherFunction);
    assert_eq!(differs(&named("a", "a"), &named("b", "b")), other);
}

#[test]
fn other_hooks_are_refused() {
    let (sender, _receiver) = mpsc::channel();
    let failing = || {
        let sender = sender.clone();
        move |_: &_| sender.send(()).unwrap_or_default()
    };
    let one = pods().on_failure(|_| {});
    assert_eq!(
        differs(&pods(), &one),
        (Setting::OnFailure, Contrast::OnlyRequested)
    );
    assert_eq!(
        differs(&one, &pods().on_failure(|_| {})),
        (Setting::OnFailure, Contrast::OtherFunction)
    );
    let captures = || pods().on_failure(failing());
    assert_eq!(
        differs(&captures(), &captures()),
        (Setting::OnFailure, Contrast::Captures)
    );
    let error = refused(&captures(), &captures()).to_string();
    assert!(error.contains("`on_failure_named`"), "{error}");
    let named = || pods().on_failure_named("sends", failing());
    assert!(share(&named(), &named()));

    let (sender, _receiver) = mpsc::channel();
    let rejecting = || {
        let sender = sender.clone();
        move |_: &_| sender.send(()).unwrap_or_default()
    };
    let one = pods().on_rejected(|_| {});
    assert_eq!(
        differs(&one, &pods()),
        (Setting::OnRejected, Contrast::OnlyRunning)
    );
    let captures = || pods().on_rejected(rejecting());
    assert_eq!(
        differs(&captures(), &captures()),
        (Setting::OnRejected, Contrast::Captures)
    );
    let error = refused(&captures(), &captures()).to_string();
    assert!(error.contains("`on_rejected_named`"), "{error}");
    let named = || pods().on_rejected_named("sends", rejecting());
    assert!(share(&named(), &named()));
}

#[test]
fn other_values_are_refused() {
    let preset = |change: fn(&mut InformerConfig)| {
        let mut preset = InformerConfig::new();
        change(&mut preset);
        pods().preset(preset)
    };
    for (other, expected) in [
        (
            pods().resync(MINUTE),
            "`resync` is not set there and 60s here",
        ),
        (
            pods().queue(QueueKind::InOrder),
            "`queue` is DeltaFifo there and InOrder here",
        ),
        (
            pods().page_size(7),
            "`page_size` is not set there and 7 here",
        ),
        (
            pods().max_objects(7),
            "`max_objects` is not set there and 7 here",
        ),
        (
            pods().max_bytes(7),
            "`max_bytes` is not set there and 7 here",
        ),
        (
            pods().backlog(Backlog::Grow),
            "`backlog` is Coalesce { above: 1024 } there and Grow here",
        ),
        (
            preset(|it| it.relist = Relist::Staged),
            "`preset` differs in `relist`",
        ),
        (
            preset(|it| {
                it.rules.drop_noops = false;
                it.store_version = false;
            }),
            "`preset` differs in `rules`, `store_version`",
        ),
        (
            pods().preset(InformerConfig::client_go(QueueKind::DeltaFifo)),
            "`preset` differs in `reflector`, `relist`, `rules`, `same_version`, \
             `on_transform_error`, `store_version`",
        ),
    ] {
        let error = refused(&pods(), &other);
        assert_eq!(error.conflicts.len(), 1, "{error}");
        assert_eq!(error.conflicts[0].to_string(), expected);
        assert!(share(&other, &other));
    }
}

#[test]
fn all_differences_are_named_at_once() {
    let other = pods()
        .transform(strip)
        .resync(MINUTE)
        .index("app", by::label("tier"));
    let error = refused(&pods().index("app", by::label("app")), &other);
    let settings: Vec<_> = error
        .conflicts
        .iter()
        .map(|it| it.setting.clone())
        .collect();
    let index = Setting::Index("app".to_owned());
    assert_eq!(settings, [Setting::Transform, Setting::Resync, index]);
}

#[test]
fn the_defaults_of_a_factory_are_the_same_for_all() {
    let world = World::new();
    world.create("a");
    let label = "factory".to_owned();
    let factory = factory(&world)
        .namespace("web")
        .resync(MINUTE)
        .max_objects(10)
        .transform(move |mut meta| {
            meta.set_labels([("by", label.as_str())]);
            Ok(())
        });
    let one = factory.informer(&pods()).unwrap();
    assert!(one.is_same(&factory.informer(&pods()).unwrap()));
    let explicit = pods().namespace("web").resync(MINUTE).max_objects(10);
    assert!(one.is_same(&factory.informer(&explicit).unwrap()));
    assert!(factory.informer(&pods().max_objects(9)).is_err());
    factory.start().unwrap();
    world.wait(factory.synced(SOON)).unwrap();
    let pod = one.lister().get("web", "a").unwrap();
    assert_eq!(pod.labels().get("by"), Some("factory"));
}

#[test]
fn different_indices_add_up() {
    let world = World::new();
    world.create("a");
    let factory = factory(&world);
    factory.start().unwrap();
    let one = factory
        .informer(&pods().index("app", by::label("app")))
        .unwrap();
    world.wait(one.synced(SOON)).unwrap();
    let two = factory.informer(&pods().index("name", |pod: &Pod| pod.key().name().to_owned()));
    let two = two.unwrap();
    assert!(one.is_same(&two));
    for index in ["app", "name"] {
        assert_eq!(one.lister().by_index(index, "a").unwrap().len(), 1);
    }
}

fn length(pod: &Pod) -> u64 {
    pod.key().name().len() as u64
}

/// Indices of the same name.
#[test]
fn an_index_with_another_function_is_refused() {
    let index = |index: IndexFn<Pod>| pods().index("it", index);
    let capturing = |label: &str| {
        let label = label.to_owned();
        (move |pod: &Pod| pod.labels().get(&label).map(str::to_owned)).into_index()
    };
    let at = |path: &str| path.parse().unwrap();
    for same in [
        || by::label("app"),
        || by::namespace(),
        || by::controller_uid(),
        || by::owner_uid(),
        || by::node_name(),
        || by::field("spec.nodeName".parse().unwrap()),
        || by::integer("spec.priority".parse().unwrap()).into_fn(),
        || length.into_index(),
        || TypedIndex::of(|pod: &Pod| Some(length(pod))).into_fn(),
    ] {
        let same: fn() -> IndexFn<Pod> = same;
        assert!(share(&index(same()), &index(same())));
    }
    let setting = Setting::Index("it".to_owned());
    for (one, two) in [
        (by::label("app"), by::label("tier")),
        (by::label("app"), by::annotation("app")),
        (
            by::integer(at("spec.a")).into_fn(),
            by::integer(at("spec.b")).into_fn(),
        ),
        (by::integer(at("spec.a")).into_fn(), by::field(at("spec.a"))),
        (by::controller_uid(), by::owner_uid()),
        (length.into_index(), (|pod: &Pod| length(pod)).into_index()),
        (capturing("a").named("a"), capturing("b").named("b")),
    ] {
        let expected = (setting.clone(), Contrast::OtherFunction);
        assert_eq!(differs(&index(one), &index(two)), expected);
    }
    let expected = (setting, Contrast::Captures);
    assert_eq!(
        differs(&index(capturing("a")), &index(capturing("a"))),
        expected
    );
    assert_eq!(
        differs(&index(capturing("a")), &index(by::label("a"))),
        expected
    );
    let named = || {
        TypedIndex::of({
            let longest = 7;
            move |pod: &Pod| Some(length(pod).min(longest))
        })
    };
    assert!(share(
        &index(named().named("up to 7").into_fn()),
        &index(named().named("up to 7").into_fn())
    ));

    let error = refused(&index(by::label("a")), &index(by::label("b"))).to_string();
    let expected = "the index \"it\" has another function here than there: choose another name";
    assert!(error.contains(expected), "{error}");
    let error = refused(&index(capturing("a")), &index(capturing("a"))).to_string();
    assert!(error.contains("name it with `IndexFn::named`"), "{error}");
}

#[test]
fn an_ordered_index_serves_both_but_not_the_other_way_round() {
    let index = |index: IndexFn<Pod>| pods().index("it", index);
    let (plain, ordered) = (index(by::label("a")), index(by::label("a").ordered()));
    assert!(share(&ordered, &plain));
    let error = refused(&plain, &ordered);
    assert_eq!(error.conflicts[0].contrast, Contrast::NotOrdered);
    assert!(
        error.to_string().contains("is not ordered there, but here"),
        "{error}"
    );
}

/// A request is compared with the indices that the informer has now. Some may have been added or removed.
#[test]
fn an_index_that_came_later_counts_and_one_that_went_does_not() {
    let factory = factory(&World::new());
    let informer = factory.informer(&pods()).unwrap();
    informer.add_index("app", by::label("app")).unwrap();
    factory
        .informer(&pods().index("app", by::label("app")))
        .unwrap();
    let other = pods()
        .index("free", by::label("free"))
        .index("app", by::label("other"));
    assert!(factory.informer(&other).is_err());
    let indices = informer.snapshot();
    assert!(
        indices.index("free").is_err(),
        "a refused request changed the informer"
    );
    informer.remove_index("app").unwrap();
    assert!(factory.informer(&other).unwrap().is_same(&informer));
    assert!(informer.snapshot().index("free").is_ok());
}

#[test]
fn an_informer_that_has_ended_contradicts_nothing() {
    let world = World::new();
    world.create("a");
    let factory = factory(&world);
    factory.start().unwrap();
    let first = factory.informer(&pods()).unwrap();
    first.stop();
    let second = factory.informer(&pods().transform(strip)).unwrap();
    assert!(!second.is_same(&first));
    assert_eq!(factory.status().len(), 1);
    world.wait(second.synced(SOON)).unwrap();
    assert_eq!(keys(&second), ["web/a"]);
    assert!(factory.informer(&pods()).is_err());
}

/// Two threads ask at the same moment, each while the other one connects.
#[test]
fn a_request_that_comes_second_while_both_build_is_compared_too() {
    let world = World::new();
    let mock = world.connect();
    let (arrived, other) = (std::sync::Barrier::new(2), std::sync::Barrier::new(2));
    let connect = move |target: &Target| {
        arrived.wait();
        mock(target)
    };
    let factory = SharedInformerFactory::new(connect, world.runtime.clone());
    let ask = |builder: Builder| {
        let asked = factory.informer(&builder);
        other.wait();
        asked.map(|informer| informer.target().clone())
    };
    let answers = std::thread::scope(|scope| {
        let one = scope.spawn(|| ask(pods().resync(MINUTE)));
        let two = ask(pods());
        [one.join().unwrap(), two]
    });
    let refused = answers.iter().filter(
        |answer| matches!(answer, Err(BuildError::NotShared(error)) if error.conflicts.len() == 1),
    );
    assert_eq!(refused.count(), 1, "{answers:?}");
    assert_eq!(factory.status().len(), 1);
}
