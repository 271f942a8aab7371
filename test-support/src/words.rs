//! A notification in one line.

use informer_core::{Notification, ObjectKey, Resource};

/// A notification with versions: `add x@10 initial Relist`, `update x 10 to 11 Watch`,
/// `delete x@12 Observed Watch`.
pub fn shown<T: Resource<Key = ObjectKey>>(told: &Notification<T>) -> String {
    let versions = match told {
        Notification::Added { object, .. } => format!("@{}", object.version()),
        Notification::Updated { old, new, .. } => {
            format!(" {} to {}", old.version(), new.version())
        }
        Notification::Deleted { last, .. } => {
            format!("@{}", last.as_ref().map_or("nothing", Resource::version))
        }
    };
    line(told, &versions)
}

/// A notification without versions, for tests whose server chooses them: `add x initial Relist`,
/// `update x Watch`, `update x same Resync`.
pub fn words<T: Resource<Key = ObjectKey>>(told: &Notification<T>) -> String {
    let is_same =
        matches!(told, Notification::Updated { old, new, .. } if old.version() == new.version());
    line(told, if is_same { " same" } else { "" })
}

fn line<T: Resource<Key = ObjectKey>>(told: &Notification<T>, versions: &str) -> String {
    let (name, cause) = (told.key().name(), told.cause());
    match told {
        Notification::Added { initial, .. } => {
            let initial = if *initial { " initial" } else { "" };
            format!("add {name}{versions}{initial} {cause:?}")
        }
        Notification::Updated { .. } => format!("update {name}{versions} {cause:?}"),
        Notification::Deleted { certainty, .. } => {
            format!("delete {name}{versions} {certainty:?} {cause:?}")
        }
    }
}
