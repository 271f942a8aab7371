//! Server-side apply: who owns which fields of an object, as `metadata.managedFields` tells it.

// Sets of fields.
mod fields;

// How fields merge.
mod schema;

// Walks over objects.
mod walk;

use serde_json::{Map, Value, json};

use crate::api::ApiKind;
use crate::status::{ApiError, StatusCause};
use crate::store::apply::fields::FieldSet;
use crate::store::apply::schema::Type;
use crate::store::metadata::{metadata, metadata_mut};
use crate::store::write::{Author, Part};

/// The owner of everything that was there before the first apply.
const BEFORE: &str = "before-first-apply";

/// The fields that nobody owns.
const UNOWNED: [&[&str]; 11] = [
    &["f:apiVersion"],
    &["f:kind"],
    &["f:metadata"],
    &["f:metadata", "f:name"],
    &["f:metadata", "f:namespace"],
    &["f:metadata", "f:creationTimestamp"],
    &["f:metadata", "f:selfLink"],
    &["f:metadata", "f:uid"],
    &["f:metadata", "f:generation"],
    &["f:metadata", "f:managedFields"],
    &["f:metadata", "f:resourceVersion"],
];

/// An entry of `managedFields`.
#[derive(Clone, PartialEq, Debug)]
struct Owner {
    manager: String,
    is_applier: bool,
    api_version: String,
    subresource: String,
    time: Option<String>,
    fields: FieldSet,
}

impl Owner {
    fn new(kind: &ApiKind, manager: &str, is_applier: bool, author: Author<'_>) -> Self {
        Self {
            manager: manager.to_owned(),
            is_applier,
            api_version: kind.api_version(),
            subresource: author.subresource.to_owned(),
            time: None,
            fields: FieldSet::default(),
        }
    }

    fn parse(entry: &Value) -> Self {
        let text = |field: &str| {
            let text = entry.get(field).and_then(Value::as_str);
            text.unwrap_or_default().to_owned()
        };
        Self {
            manager: text("manager"),
            is_applier: text("operation") == "Apply",
            api_version: text("apiVersion"),
            subresource: text("subresource"),
            time: Some(text("time")).filter(|time| !time.is_empty()),
            fields: entry
                .get("fieldsV1")
                .map(FieldSet::parse)
                .unwrap_or_default(),
        }
    }

    fn to_value(&self) -> Value {
        let mut entry = json!({
            "manager": self.manager,
            "operation": if self.is_applier { "Apply" } else { "Update" },
            "apiVersion": self.api_version,
            "fieldsType": "FieldsV1",
            "fieldsV1": self.fields.to_value(),
        });
        if let Value::Object(entry) = &mut entry {
            if let Some(time) = &self.time {
                entry.insert("time".to_owned(), time.as_str().into());
            }
            if !self.subresource.is_empty() {
                entry.insert("subresource".to_owned(), self.subresource.as_str().into());
            }
        }
        entry
    }

    /// Whether both are entries of the same manager. An applier has one for all versions.
    fn is_same(&self, other: &Self) -> bool {
        self.manager == other.manager
            && self.is_applier == other.is_applier
            && self.subresource == other.subresource
            && (self.is_applier || self.api_version == other.api_version)
    }

    /// Its name in messages.
    fn described(&self) -> String {
        let mut text = format!("{:?}", self.manager);
        if !self.subresource.is_empty() {
            text += &format!(" with subresource {:?}", self.subresource);
        }
        if !self.is_applier {
            text += &format!(" using {}", self.api_version);
        }
        text
    }
}

/// Whether somebody owns fields of an object.
pub(crate) fn is_tracked(object: &Map<String, Value>) -> bool {
    metadata(object).is_some_and(|metadata| metadata.contains_key("managedFields"))
}

/// Gives the fields that a write changed to its author. After a reset, nobody owns anything.
pub(crate) fn track(
    kind: &ApiKind,
    before: Option<&Map<String, Value>>,
    object: &mut Map<String, Value>,
    part: Part,
    author: Author<'_>,
    is_reset: bool,
) {
    let mut owners = before.map(owners).unwrap_or_default();
    // An object that nobody owns anything of stays so until it is applied.
    if is_reset || before.is_some() && owners.is_empty() {
        return forget_owners(object);
    }
    let blank = blank(kind);
    let before = before.unwrap_or(&blank);
    take_changes(
        kind,
        &mut owners,
        before,
        object,
        part,
        author,
        author.manager,
    );
    set_owners(object, owners);
}

/// Gives the difference of two states to a manager.
fn take_changes(
    kind: &ApiKind,
    owners: &mut Vec<Owner>,
    before: &Map<String, Value>,
    after: &Map<String, Value>,
    part: Part,
    author: Author<'_>,
    manager: &str,
) {
    let found = walk::compare(Type::of(kind), before, after);
    let changed = visible(kind, part, found.changed);
    let removed = visible(kind, part, found.removed);
    for owner in &mut *owners {
        owner.fields = owner.fields.difference(&changed).difference(&removed);
    }
    owners.retain(|owner| !owner.fields.is_empty());
    let mut taken = changed;
    taken.strip(&UNOWNED);
    if taken.is_empty() {
        return;
    }
    let mut new = Owner::new(kind, manager, false, author);
    new.time = Some(author.now.to_string());
    new.fields = taken;
    match owners.iter_mut().find(|owner| owner.is_same(&new)) {
        Some(owner) => {
            new.fields = new.fields.union(&owner.fields);
            *owner = new;
        }
        None => owners.push(new),
    }
}

/// The fields that a write to a part of an object can own.
fn visible(kind: &ApiKind, part: Part, set: FieldSet) -> FieldSet {
    match part {
        Part::Main if kind.has_status() => set.without("f:status"),
        Part::Main => set,
        Part::Status if kind.is_custom() => set.only("f:status"),
        Part::Status => set.without("f:spec"),
    }
}

/// Merges an applied configuration into an object. Returns its next state with its owners.
pub(crate) fn apply(
    kind: &ApiKind,
    live: Option<&Map<String, Value>>,
    config: &Map<String, Value>,
    part: Part,
    author: Author<'_>,
    force: bool,
) -> Result<Map<String, Value>, ApiError> {
    check(kind, config)?;
    let blank = blank(kind);
    let mut owners = live.map(owners).unwrap_or_default();
    if let (Some(live), true) = (live, owners.is_empty()) {
        take_changes(kind, &mut owners, &blank, live, Part::Main, author, BEFORE);
    }
    let types = Type::of(kind);
    let nothing = Map::new();
    let mut current = live.unwrap_or(&nothing).clone();
    forget_owners(&mut current);
    let merged = walk::merge(types, &current, config);

    let mut me = Owner::new(kind, author.manager, true, author);
    me.fields = visible(kind, part, walk::fields_of(types, config));
    let last = owners.iter().position(|owner| owner.is_same(&me));
    let last = last.map(|at| owners.remove(at));
    let object = match &last {
        Some(last) => prune(types, &merged, &owners, &me, &last.fields),
        None => merged,
    };

    let found = walk::compare(types, live.map_or(&blank, |_| &current), &object);
    let changed = visible(kind, part, found.changed);
    if !force {
        let conflicts = owners
            .iter()
            .map(|owner| (owner, owner.fields.intersection(&changed)));
        refuse(conflicts.filter(|(_, fields)| !fields.is_empty()))?;
    }
    for owner in &mut owners {
        owner.fields = owner.fields.difference(&changed).difference(&found.removed);
    }
    owners.retain(|owner| !owner.fields.is_empty());
    me.time = match object == current {
        true => last.and_then(|last| last.time),
        false => Some(author.now.to_string()),
    };
    me.fields.strip(&UNOWNED);
    if !me.fields.is_empty() {
        owners.push(me);
    }
    let mut object = object;
    set_owners(&mut object, owners);
    Ok(object)
}

fn check(kind: &ApiKind, config: &Map<String, Value>) -> Result<(), ApiError> {
    let given = |field: &str| {
        config
            .get(field)
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    let (version, name) = (given("apiVersion"), given("kind"));
    if version != kind.api_version() || name != kind.kind() {
        let slash = if version.contains('/') { "" } else { "/" };
        return Err(ApiError::bad_request(format!(
            "invalid object type: {slash}{version}, Kind={name}"
        )));
    }
    let has_owners = metadata(config).and_then(|it| it.get("managedFields"));
    if has_owners.is_some_and(|owners| !owners.is_null()) {
        return Err(ApiError::bad_request("metadata.managedFields must be nil"));
    }
    Ok(())
}

/// Removes what the applier owned before and does not apply any more, unless somebody else owns it.
fn prune(
    types: Type<'_>,
    merged: &Map<String, Value>,
    owners: &[Owner],
    me: &Owner,
    last: &FieldSet,
) -> Map<String, Value> {
    let named = |set: &FieldSet| walk::with_parents(types, set);
    let fields = |object: &Map<String, Value>| named(&walk::fields_of(types, object));
    let last = named(last);
    let pruned = walk::remove(types, merged, &last);
    let owned = owners
        .iter()
        .fold(me.fields.clone(), |all, owner| all.union(&owner.fields));
    let all = fields(merged);
    let kept = fields(&pruned).union(&named(&owned));
    let pruned = walk::remove(types, merged, &all.difference(&kept));
    // Only what the applier owned goes.
    let gone = all.difference(&fields(&pruned)).intersection(&last);
    walk::remove(types, merged, &gone)
}

/// 409 if somebody else owns what would change.
fn refuse<'a>(conflicts: impl Iterator<Item = (&'a Owner, FieldSet)>) -> Result<(), ApiError> {
    let mut conflicts: Vec<(&Owner, FieldSet)> = conflicts.collect();
    conflicts.sort_by_key(|(owner, _)| (&owner.manager, !owner.is_applier));
    let mut causes = Vec::new();
    let mut lines = Vec::new();
    for (owner, fields) in conflicts {
        let who = owner.described();
        lines.push(format!("conflicts with {who}:"));
        for path in fields.paths() {
            lines.push(format!("- {path}"));
            causes.push(StatusCause::field_conflict(&who, &path));
        }
    }
    let message = match causes.as_slice() {
        [] => return Ok(()),
        [only] => format!(
            "Apply failed with 1 conflict: {}: {}",
            only.message, only.field
        ),
        many => format!(
            "Apply failed with {} conflicts: {}",
            many.len(),
            lines.join("\n")
        ),
    };
    Err(ApiError::apply_conflict(message, causes))
}

fn owners(object: &Map<String, Value>) -> Vec<Owner> {
    let entries = metadata(object).and_then(|metadata| metadata.get("managedFields")?.as_array());
    let entries = entries.into_iter().flatten();
    entries.map(Owner::parse).collect()
}

fn forget_owners(object: &mut Map<String, Value>) {
    if let Some(Value::Object(metadata)) = object.get_mut("metadata") {
        metadata.remove("managedFields");
    }
}

fn set_owners(object: &mut Map<String, Value>, mut owners: Vec<Owner>) {
    if owners.is_empty() {
        return forget_owners(object);
    }
    owners.sort_by(|a, b| {
        let key = |owner: &Owner| {
            (
                !owner.is_applier,
                owner.time.clone(),
                owner.manager.clone(),
                owner.api_version.clone(),
                owner.subresource.clone(),
            )
        };
        key(a).cmp(&key(b))
    });
    let owners: Vec<Value> = owners.iter().map(Owner::to_value).collect();
    if let Some(metadata) = metadata_mut(object) {
        metadata.insert("managedFields".to_owned(), owners.into());
    }
}

/// An object of a kind without anything in it.
fn blank(kind: &ApiKind) -> Map<String, Value> {
    let text = format!("{{\"metadata\":{{}}{}}}", kind.blank());
    let mut blank: Map<String, Value> = serde_json::from_str(&text).unwrap_or_default();
    blank.insert("kind".to_owned(), kind.kind().into());
    blank.insert("apiVersion".to_owned(), kind.api_version().into());
    blank
}
