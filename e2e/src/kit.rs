//! What controllers write, on any server: finalizers and events. The real one and the mock are asked the same.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use informer::events::{NewEvent, Recorder, Reference};
use informer::finalizer::{Duty, Ensured, Finalizer};
use informer::{Api, ApiErrorKind, Calls, Connect, InformerBuilder, ObjectKey, Target};
use serde_json::{Value, json};

use crate::Outcome;
use crate::follower::consistent;

/// Long enough for everything.
const LONG: Duration = Duration::from_secs(120);

/// From the first apply to the clean-up, with another finalizer beside ours. The namespace exists.
///
/// # Errors
/// The server or the client did something else than expected; the error says what.
pub async fn finalizers(client: &impl Calls, namespace: &str) -> Outcome {
    let target = Target::new("", "v1", "configmaps").in_namespace(namespace);
    let api = Api::dynamic_at(client, target)?;
    let theirs = "example.org/theirs";
    let object = json!({
        "kind": "ConfigMap", "metadata": {"name": "bucket", "finalizers": [theirs]},
    });
    api.create(&object).await?;
    let key = ObjectKey::new(namespace, "bucket");
    let ours = Finalizer::new("example.com/bucket")?;
    let clean_ups = AtomicUsize::new(0);
    let clean_ups = &clean_ups;
    let run = async |object| {
        let work = |duty| async move {
            match duty {
                Duty::Apply(_) => Ok("applied"),
                Duty::CleanUp(_) if clean_ups.fetch_add(1, Ordering::Relaxed) == 0 => {
                    Err("the first clean-up fails")
                }
                Duty::CleanUp(_) => Ok("cleaned up"),
            }
        };
        ours.run(&api, object, work).await
    };

    let created = api.get(&key).await?;
    expect("the first run", run(&created).await?, Some("applied"))?;
    let stored = async || api.get(&key).await;
    let finalizers = at(stored().await?.body(), "/metadata/finalizers");
    expect("finalizers", finalizers, json!([theirs, ours.name()]))?;
    // What we know of the object is old.
    expect(
        "once more",
        ours.ensure(&api, &created).await?,
        Ensured::Present,
    )?;

    api.delete(&key).await?;
    let deleted = api.get(&key).await?;
    let failed = run(&deleted).await.err().ok_or("the clean-up must fail")?;
    expect(
        "the failure",
        failed.to_string().as_str(),
        "the clean-up failed: the first clean-up fails",
    )?;
    expect("the next run", run(&deleted).await?, Some("cleaned up"))?;
    let finalizers = at(stored().await?.body(), "/metadata/finalizers");
    expect("finalizers", finalizers, json!([theirs]))?;
    expect(
        "too late",
        ours.ensure(&api, &created).await?,
        Ensured::Deleting,
    )?;
    expect("a run too late", run(&deleted).await?, None)?;

    Finalizer::new(theirs)?.remove(&api, &deleted).await?;
    let gone = api.get(&key).await.err().map(|error| error.kind);
    expect("the object", gone, Some(ApiErrorKind::NotFound))?;
    ours.remove(&api, &deleted).await?;
    expect(
        "after the end",
        ours.ensure(&api, &created).await?,
        Ensured::Gone,
    )?;
    expect("a run after the end", run(&deleted).await?, None)
}

/// A single event and a series, of objects with and without a namespace. The namespaces exist.
///
/// # Errors
/// The server or the client did something else than expected; the error says what.
pub async fn events(client: &(impl Calls + Connect), namespace: &str) -> Outcome {
    let recorder = Recorder::new(client, "example.com/e2e")?;
    let pod = |name| Reference::new("v1", "Pod", &ObjectKey::new(namespace, name)).uid(name);
    let many = || recorder.warning(pod("shop"), "NoRoom", "Schedule", "no node has room");
    many();
    recorder.flush(LONG).await?;
    let single = NewEvent::normal(pod("cart"), "Scaled", "Scale", "€".repeat(2_000));
    recorder.publish(single.related(pod("shop")));
    // Two at once, about an object whose name no Event may have.
    recorder.normal(pod("system:node"), "Ready", "Check", "");
    recorder.normal(pod("system:node"), "Ready", "Check", "");
    let node = Reference::new("v1", "Node", &ObjectKey::new("", "e2e-node"));
    recorder.normal(node, "Ready", "Check", "");
    for _ in 0..4 {
        many();
        recorder.flush(LONG).await?;
    }
    recorder.stop(LONG).await?;
    let counts = recorder.counts();
    expect("lost events", counts.failed + counts.dropped, 0)?;

    let stored = stored_events(client, namespace).await?;
    let find = |about: &str| {
        let is_about = |event: &&Value| at(event, "/regarding/name") == about;
        let mut found = stored.iter().filter(is_about);
        match (found.next(), found.next()) {
            (Some(event), None) => Ok(event),
            _ => Err(format!("not one event about {about}: {stored:?}")),
        }
    };
    let series = find("shop")?;
    expect("the count", at(series, "/series/count"), json!(5))?;
    expect("the type", at(series, "/type"), json!("Warning"))?;
    expect(
        "the controller",
        at(series, "/reportingController"),
        json!("example.com/e2e"),
    )?;
    let single = find("cart")?;
    expect("the series of one", single.get("series"), None)?;
    expect(
        "the related object",
        at(single, "/related/name"),
        json!("shop"),
    )?;
    let note = at(single, "/note").as_str().map(str::len);
    expect("the length of the note", note, Some(1023))?;
    expect(
        "two at once",
        at(find("system:node")?, "/series/count"),
        json!(2),
    )?;
    let elsewhere = stored_events(client, "default").await?;
    let is_there = |event: &Value| at(event, "/regarding/name") == "e2e-node";
    expect("the event of a node", elsewhere.iter().any(is_there), true)
}

/// The events of a namespace that the server has now.
async fn stored_events(client: &impl Connect, namespace: &str) -> Outcome<Vec<Value>> {
    let target = Target::new("events.k8s.io", "v1", "events").in_namespace(namespace);
    let events = InformerBuilder::dynamic_at(target).start(client)?;
    events.synced(LONG).await?;
    consistent(&events.verify(client, LONG).await?)?;
    let stored = events.snapshot();
    Ok(stored.iter().map(|event| (**event).clone()).collect())
}

/// What is at the end of a path; null if nothing is.
fn at(value: &Value, path: &str) -> Value {
    value.pointer(path).cloned().unwrap_or_default()
}

fn expect<T: PartialEq + std::fmt::Debug>(what: &str, is: T, must_be: T) -> Outcome {
    if is == must_be {
        return Ok(());
    }
    Err(format!("{what}: {is:?} instead of {must_be:?}").into())
}
