//! Objects, their keys and their index values. They are small, because a store only moves pointers.

use informer_core::{Object, ObjectKey};

/// An object with a small body.
pub type Small = Object<u32>;

/// The number of namespaces, teams and nodes, and the number of objects per app.
pub const NAMESPACES: usize = 64;
const TEAMS: usize = 8;
const NODES: usize = 512;
pub const OBJECTS_PER_APP: usize = 10;

/// An index: its name, and its value for an object.
#[derive(Clone, Copy)]
pub struct By {
    pub name: &'static str,
    pub value: fn(&Small) -> Option<&str>,
}

/// All indices. A smaller number means the first ones.
pub const INDICES: [By; 4] = [
    By {
        name: "namespace",
        value: |object| Some(object.key().namespace()),
    },
    By {
        name: "app",
        value: |object| object.labels().get("app"),
    },
    By {
        name: "team",
        value: |object| object.labels().get("team"),
    },
    By {
        name: "node",
        value: |object| object.labels().get("node"),
    },
];

/// The object with this number.
pub fn object(number: usize, version: usize) -> Small {
    Object::builder(key(number))
        .uid(format!("5a1c4f0e-a3b2-{number:07}"))
        .version(format!("100{version:07}"))
        .labels([
            ("app", app(number)),
            ("node", format!("node-{:03}", number % NODES)),
            ("team", format!("team-{}", number % TEAMS)),
        ])
        .body(number as u32)
}

/// The key of the object with this number.
pub fn key(number: usize) -> ObjectKey {
    ObjectKey::new(&namespace(number), &format!("app-7d9c5b6f4-{number:07}"))
}

/// The namespace of the object with this number.
pub fn namespace(number: usize) -> String {
    format!("team-{:03}", number % NAMESPACES)
}

/// The label `app` of the object with this number.
pub fn app(number: usize) -> String {
    format!("app-{:07}", number / OBJECTS_PER_APP)
}
