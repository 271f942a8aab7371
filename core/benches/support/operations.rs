//! All measured operations. An operation is set up for a number of objects and then called once per
//! event. The setup is not measured.

use std::hint::black_box;

use informer_core::decode::form::PackedBody;
use informer_core::decode::{
    Body, Decode, Decoder, Dynamic, Form, Lean, MetadataOnly, Packed, Typed, decode_object,
};
use informer_core::flow::{Delta, Fact, Step};
use informer_core::indexer::Rules;
use informer_core::pack::Packer;
use informer_core::processor::{Audience, ListenerConfig, Processor};
use informer_core::queue::{DeltaFifo, Epoch, NothingKnown};
use informer_core::storage::{Heap, Seed};
use informer_core::{Cause, Encoding, Instant, Notification, Object, Resource};
use informer_test_support::protobuf;

use super::hand::Hand;
use super::objects::{Small, key, numbered, small, spread, store};
use super::pods::{PODS_PER_APP, Pods};

/// The number of distinct objects in the events.
const POOL: usize = 256;

pub struct Operation {
    pub name: &'static str,
    pub size: Size,
    pub make: fn(usize) -> Event,
}

/// Runs one event.
pub type Event = Box<dyn FnMut()>;

/// How an operation uses the number of objects.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Size {
    /// Not at all: there are no stored objects.
    None,
    /// This many objects exist from the start to the end.
    Fixed,
    /// Each event adds an object.
    Grows,
}

const fn operation(name: &'static str, size: Size, make: fn(usize) -> Event) -> Operation {
    Operation { name, size, make }
}

/// All operations.
pub const OPERATIONS: &[Operation] = &[
    operation("queue/push+pop", Size::Fixed, push_pop),
    operation(
        "queue/push+pop, 3 changes a key",
        Size::Fixed,
        push_pop_chain,
    ),
    operation("store/get", Size::Fixed, get),
    operation("store/by_index, 10 found", Size::Fixed, by_index),
    operation("store/insert, 0 indices", Size::Grows, |_| insert(0)),
    operation("store/insert, 1 index", Size::Grows, |_| insert(1)),
    operation("store/insert, 4 indices", Size::Grows, |_| insert(4)),
    operation("store/update, 0 indices", Size::Fixed, |n| {
        update(n, 0, false, false)
    }),
    operation("store/update, 1 index", Size::Fixed, |n| {
        update(n, 1, false, false)
    }),
    operation("store/update, 4 indices", Size::Fixed, |n| {
        update(n, 4, false, false)
    }),
    operation("store/update that moves, 4 indices", Size::Fixed, |n| {
        update(n, 4, true, false)
    }),
    operation("store/add+delete, 0 indices", Size::Fixed, |n| {
        add_delete(n, 0)
    }),
    operation("store/add+delete, 4 indices", Size::Fixed, |n| {
        add_delete(n, 4)
    }),
    operation("store/snapshot", Size::Fixed, snapshot),
    operation("store/snapshot+update, 0 indices", Size::Fixed, |n| {
        update(n, 0, false, true)
    }),
    operation("store/snapshot+update, 1 index", Size::Fixed, |n| {
        update(n, 1, false, true)
    }),
    operation("store/snapshot+update, 4 indices", Size::Fixed, |n| {
        update(n, 4, false, true)
    }),
    operation(
        "store/snapshot+update that moves, 4 indices",
        Size::Fixed,
        |n| update(n, 4, true, true),
    ),
    operation("fan-out/1 listener", Size::Fixed, |n| fan_out(n, 1)),
    operation("fan-out/8 listeners", Size::Fixed, |n| fan_out(n, 8)),
    operation("decode/list, Typed", Size::None, |_| {
        decode(Body::List, typed())
    }),
    operation("decode/list, Lean", Size::None, |_| {
        decode(Body::List, Lean)
    }),
    operation("decode/list, MetadataOnly", Size::None, |_| {
        decode(Body::List, MetadataOnly)
    }),
    operation("decode/list, Dynamic", Size::None, |_| {
        decode(Body::List, Dynamic)
    }),
    operation("decode/watch, Typed", Size::None, |_| {
        decode(Body::Watch, typed())
    }),
    operation("decode/watch, Lean", Size::None, |_| {
        decode(Body::Watch, Lean)
    }),
    operation("decode/watch, MetadataOnly", Size::None, |_| {
        decode(Body::Watch, MetadataOnly)
    }),
    operation("decode/watch, Dynamic", Size::None, |_| {
        decode(Body::Watch, Dynamic)
    }),
    operation("decode/list in protobuf, Lean", Size::None, |_| {
        decode_protobuf(Body::List, Lean)
    }),
    operation("decode/list in protobuf, MetadataOnly", Size::None, |_| {
        decode_protobuf(Body::List, MetadataOnly)
    }),
    operation("decode/watch in protobuf, Lean", Size::None, |_| {
        decode_protobuf(Body::Watch, Lean)
    }),
    operation("decode/watch in protobuf, MetadataOnly", Size::None, |_| {
        decode_protobuf(Body::Watch, MetadataOnly)
    }),
    operation("decode/recorded list, Lean", Size::None, |_| {
        decode_recorded(Body::List, Encoding::Json)
    }),
    operation("decode/recorded list in protobuf, Lean", Size::None, |_| {
        decode_recorded(Body::List, Encoding::Protobuf)
    }),
    operation("decode/recorded watch, Lean", Size::None, |_| {
        decode_recorded(Body::Watch, Encoding::Json)
    }),
    operation(
        "decode/recorded watch in protobuf, Lean",
        Size::None,
        |_| decode_recorded(Body::Watch, Encoding::Protobuf),
    ),
    operation("packing/pack", Size::None, |_| pack()),
    operation("packing/unpack", Size::None, |_| unpack()),
    operation("pipeline/list, small, Lean", Size::Grows, |_| {
        list(Lean, Pods::small())
    }),
    operation("pipeline/list, Lean", Size::Grows, |_| {
        list(Lean, Pods::realistic())
    }),
    operation("pipeline/watch, Typed", Size::Fixed, |n| {
        churn(typed(), n, 1)
    }),
    operation("pipeline/watch, Lean", Size::Fixed, |n| churn(Lean, n, 1)),
    operation("pipeline/watch, Lean, 8 listeners", Size::Fixed, |n| {
        churn(Lean, n, 8)
    }),
    operation("pipeline/watch, MetadataOnly", Size::Fixed, |n| {
        churn(MetadataOnly, n, 1)
    }),
    operation("pipeline/watch, Dynamic", Size::Fixed, |n| {
        churn(Dynamic, n, 1)
    }),
];

/// The operations of one group.
pub fn group(name: &str) -> impl Iterator<Item = &'static Operation> {
    OPERATIONS
        .iter()
        .filter(move |operation| operation.name.split('/').next() == Some(name))
}

fn event(event: impl FnMut() + 'static) -> Event {
    Box::new(event)
}

/// Pops the first key and queues it again at the end, while `n` keys are queued.
fn push_pop(n: usize) -> Event {
    let mut fifo: DeltaFifo<_, Heap> = DeltaFifo::new(Seed::new(42));
    for number in 0..n {
        fifo.add(small(number, 1, false)).unwrap();
    }
    event(move || {
        let delta = fifo.pop().and_then(|popped| popped.deltas().next());
        let Some(Delta::Added(object) | Delta::Updated(object)) = delta else {
            unreachable!("only these are queued");
        };
        fifo.update(object).unwrap();
    })
}

/// The same with three changes per key, the last one a deletion.
fn push_pop_chain(n: usize) -> Event {
    fn push(fifo: &mut DeltaFifo<Small, Heap>, object: Small) {
        fifo.add(object.clone()).unwrap();
        fifo.update(object.clone()).unwrap();
        fifo.delete(object, &NothingKnown).unwrap();
    }
    let mut fifo = DeltaFifo::new(Seed::new(42));
    for number in 0..n {
        push(&mut fifo, small(number, 1, false));
    }
    event(move || {
        let delta = fifo.pop().and_then(|popped| popped.deltas().next());
        let Some(Delta::Added(object)) = delta else {
            unreachable!("every chain starts with an add");
        };
        push(&mut fifo, object);
    })
}

fn get(n: usize) -> Event {
    let store = store(n, 0);
    let keys: Vec<_> = spread(n, POOL).into_iter().map(key).collect();
    let mut next = 0;
    event(move || {
        next = (next + 1) % keys.len();
        black_box(store.get(&keys[next]));
    })
}

fn by_index(n: usize) -> Event {
    let store = store(n, 4);
    let app = store.index("app").unwrap();
    let values: Vec<_> = spread(n, POOL)
        .into_iter()
        .map(|number| numbered("app-", number / PODS_PER_APP))
        .collect();
    let mut next = 0;
    event(move || {
        next = (next + 1) % values.len();
        for object in store.by_index(app, &values[next]).unwrap() {
            black_box(object);
        }
    })
}

fn step<T: Resource>(delta: Delta<T>, initial: bool) -> Step<T> {
    let seen = Epoch::NEVER;
    Step::Delta {
        delta,
        initial,
        seen,
    }
}

/// Applies a new object as from a list. Building the object is included.
fn insert(indices: usize) -> Event {
    let mut store = store(0, indices);
    let mut number = 0;
    event(move || {
        let delta = Delta::Replaced(small(number, 1, false));
        number += 1;
        let applied = store.apply(step(delta, true), Rules::default());
        drop(black_box(applied));
    })
}

/// Updates the version of an object, and its index values if it `moves`. With `snapshot`, takes a
/// snapshot before each event, so that the event copies the pages that it writes.
fn update(n: usize, indices: usize, moves: bool, snapshot: bool) -> Event {
    let mut store = store(n, indices);
    let numbers = spread(n, POOL);
    let mut pool = Vec::new();
    for (version, moved) in [(2, moves), (3, false)] {
        pool.extend(numbers.iter().map(|number| small(*number, version, moved)));
    }
    let mut next = 0;
    let mut kept = None;
    event(move || {
        if snapshot {
            kept = Some(store.snapshot());
        }
        let object = pool[next].clone();
        next = (next + 1) % pool.len();
        let delta = Delta::Updated(object);
        let applied = store.apply(step(delta, false), Rules::default());
        drop(black_box(applied));
        black_box(&kept);
    })
}

/// Adds and deletes an object.
fn add_delete(n: usize, indices: usize) -> Event {
    let mut store = store(n, indices);
    let pool: Vec<_> = (n..n + POOL)
        .map(|number| small(number, 2, false))
        .collect();
    let mut next = 0;
    event(move || {
        let object = &pool[next];
        next = (next + 1) % pool.len();
        let delta = Delta::Added(object.clone());
        let applied = store.apply(step(delta, false), Rules::default());
        drop(black_box(applied));
        black_box(store.remove(object.key()));
    })
}

fn snapshot(n: usize) -> Event {
    let store = store(n, 4);
    event(move || drop(black_box(store.snapshot())))
}

/// Publishes a notification, and each listener takes its oldest one, while `n` are pending for
/// each.
fn fan_out(n: usize, listeners: usize) -> Event {
    let now = Instant::from_micros(1);
    let mut processor: Processor<_, Heap> = Processor::new(None, Seed::new(42));
    let empty = store(0, 0);
    let listeners: Vec<_> = (0..listeners)
        .map(|_| {
            processor
                .add_listener(ListenerConfig::new(), &empty, now)
                .unwrap()
        })
        .collect();
    let notification = |number| Notification::Updated {
        old: small(number, 1, false),
        new: small(number, 2, false),
        cause: Cause::Watch,
    };
    for number in 0..n {
        processor
            .publish(&notification(number), Audience::Everybody)
            .unwrap();
    }
    event(move || {
        let mut oldest = None;
        for listener in &listeners {
            oldest = processor.poll_notification(*listener, &empty);
        }
        processor
            .publish(&oldest.unwrap(), Audience::Everybody)
            .unwrap();
    })
}

/// Decodes and drops one object. Pieces end where objects end.
/// Objects with their text as the server sent it, and a packer that knows them.
fn learned() -> (Vec<Object<PackedBody>>, Packer) {
    let pods = Pods::realistic();
    let mut packer = Packer::new();
    let objects: Vec<_> = (0..POOL)
        .map(|pod| {
            let mut json = Vec::new();
            pods.write(pod, 2, &mut json);
            decode_object(&mut Packed, &json).unwrap()
        })
        .collect();
    for object in &objects {
        packer.pack(&mut object.clone());
    }
    (objects, packer)
}

fn pack() -> Event {
    let (objects, mut packer) = learned();
    let mut next = 0;
    event(move || {
        let mut object = objects[next].clone();
        next = (next + 1) % objects.len();
        packer.pack(&mut object);
        drop(black_box(object));
    })
}

fn unpack() -> Event {
    let (mut objects, mut packer) = learned();
    objects.iter_mut().for_each(|object| packer.pack(object));
    let mut next = 0;
    event(move || {
        black_box(objects[next].json().unwrap());
        next = (next + 1) % objects.len();
    })
}

fn decode<F: Form + 'static>(body: Body, form: F) -> Event {
    let pods = Pods::realistic();
    let mut decoder = Decoder::new(form);
    decoder.begin(body, Encoding::Json);
    let pieces: Vec<_> = (0..POOL)
        .map(|pod| {
            let mut piece = Vec::new();
            match body {
                Body::List => {
                    piece.push(b',');
                    pods.write(pod, 2, &mut piece);
                }
                Body::Watch => pods.write_event("MODIFIED", pod, 2, &mut piece),
            }
            piece
        })
        .collect();
    let mut head =
        &br#"{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"100"},"items":[{"metadata":{"name":"first"},"spec":{},"status":{}}"#[..];
    if body == Body::List {
        assert!(decoder.decode(&mut head).is_some());
    }
    let mut next = 0;
    event(move || {
        let mut piece = pieces[next].as_slice();
        next = (next + 1) % pieces.len();
        let fact = decoder.decode(&mut piece);
        assert!(matches!(fact, Some(Fact::Item(_) | Fact::Modified(_))));
        drop(black_box(fact));
    })
}

/// The same pods in protobuf.
fn decode_protobuf<F: Form + 'static>(body: Body, form: F) -> Event {
    let pods = Pods::realistic();
    let mut decoder = Decoder::new(form);
    decoder.begin(body, Encoding::Protobuf);
    let pieces: Vec<_> = (0..POOL)
        .map(|pod| {
            let mut json = Vec::new();
            pods.write(pod, 2, &mut json);
            let object = protobuf::object(&serde_json::from_slice(&json).unwrap());
            match body {
                Body::List => protobuf::Message::default().bytes(2, object).end(),
                Body::Watch => {
                    protobuf::event("MODIFIED", &protobuf::enveloped("v1", "Pod", &object))
                }
            }
        })
        .collect();
    // The list has 2^49 bytes, more than it will ever need.
    let head = b"k8s\0\x0a\x0d\x0a\x02v1\x12\x07PodList\x12\x80\x80\x80\x80\x80\x80\x80\x01\x0a\x03\x12\x017";
    if body == Body::List {
        assert!(decoder.decode(&mut &head[..]).is_none());
    }
    let mut next = 0;
    event(move || {
        let mut piece = pieces[next].as_slice();
        next = (next + 1) % pieces.len();
        let fact = decoder.decode(&mut piece);
        assert!(matches!(fact, Some(Fact::Item(_) | Fact::Modified(_))));
        drop(black_box(fact));
    })
}

/// An answer of a real server with four pods: a list, or the events of a streamed state.
fn decode_recorded(body: Body, encoding: Encoding) -> Event {
    const LIST: &[u8] = include_bytes!("../../tests/protobuf_bodies/real/pods.json");
    const LIST_IN_PROTOBUF: &[u8] = include_bytes!("../../tests/protobuf_bodies/real/pods.pb");
    const WATCH: &[u8] = include_bytes!("../../tests/protobuf_bodies/real/stream.json");
    const WATCH_IN_PROTOBUF: &[u8] = include_bytes!("../../tests/protobuf_bodies/real/stream.pb");
    let bytes = match (body, encoding) {
        (Body::List, Encoding::Json) => LIST,
        (Body::List, _) => LIST_IN_PROTOBUF,
        (Body::Watch, Encoding::Json) => WATCH,
        (Body::Watch, _) => WATCH_IN_PROTOBUF,
    };
    let mut decoder = Decoder::new(Lean);
    event(move || {
        decoder.begin(body, encoding);
        let mut input = bytes;
        let mut pods = 0;
        while let Some(fact) = decoder.decode(&mut input) {
            pods += usize::from(matches!(fact, Fact::Item(_) | Fact::Added(_)));
            drop(black_box(fact));
        }
        assert_eq!(pods, 4);
    })
}

/// Feeds one more object of a list, up to the listener.
fn list<F: Form + 'static>(form: F, pods: Pods) -> Event {
    let mut hand = Hand::listing(form, 1);
    let mut pod = 0;
    event(move || {
        hand.item(&pods, pod);
        pod += 1;
    })
}

/// Feeds a MODIFIED event, up to the listeners. The other objects are small: their size does not
/// affect the event.
fn churn<F: Form + 'static>(form: F, n: usize, listeners: usize) -> Event {
    let mut hand = Hand::watching(form, listeners, &Pods::small(), n);
    let pods = Pods::realistic();
    let mut lines = Vec::new();
    for version in [2, 3] {
        for pod in spread(n, POOL) {
            let mut line = Vec::new();
            pods.write_event("MODIFIED", pod, version, &mut line);
            lines.push(line);
        }
    }
    // From the second round on, the events replace realistic pods.
    for line in &lines {
        hand.feed(line);
    }
    let mut next = 0;
    event(move || {
        hand.feed(&lines[next]);
        next = (next + 1) % lines.len();
    })
}

const fn typed() -> Typed<typed::Pod> {
    Typed::new()
}

/// The fields of a pod that a controller might use.
#[expect(dead_code, reason = "it is decoded, not read")]
pub mod typed {
    use std::collections::BTreeMap;

    use serde::Deserialize;

    #[derive(Deserialize)]
    pub struct Pod {
        metadata: Metadata,
        spec: Spec,
        status: Status,
    }

    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Metadata {
        name: String,
        namespace: Option<String>,
        uid: Option<String>,
        resource_version: Option<String>,
        #[serde(default)]
        labels: BTreeMap<String, String>,
        #[serde(default)]
        annotations: BTreeMap<String, String>,
    }

    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Spec {
        node_name: Option<String>,
        #[serde(default)]
        containers: Vec<Container>,
    }

    #[derive(Deserialize)]
    struct Container {
        name: String,
        image: String,
        #[serde(default)]
        ports: Vec<Port>,
        #[serde(default)]
        resources: Resources,
    }

    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Port {
        name: Option<String>,
        container_port: u16,
    }

    #[derive(Deserialize, Default)]
    struct Resources {
        #[serde(default)]
        limits: BTreeMap<String, String>,
        #[serde(default)]
        requests: BTreeMap<String, String>,
    }

    #[derive(Deserialize)]
    struct Status {
        phase: Option<String>,
        #[serde(rename = "podIP")]
        pod_ip: Option<String>,
        #[serde(default)]
        conditions: Vec<Condition>,
    }

    #[derive(Deserialize)]
    struct Condition {
        #[serde(rename = "type")]
        kind: String,
        status: String,
    }
}
