//! Whether a JSON text repeats a member. Parsers may differ about which one counts.

use std::collections::BTreeSet;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

/// Whether an object in this text has two members with the same name. `false` for invalid JSON.
pub(super) fn has_repeated_members(json: &[u8]) -> bool {
    serde_json::from_slice::<Repeats>(json).is_ok_and(|found| found.0)
}

struct Repeats(bool);

impl<'de> Deserialize<'de> for Repeats {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Search).map(Self)
    }
}

struct Search;

impl<'de> Visitor<'de> for Search {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_bool<E>(self, _: bool) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_u64<E>(self, _: u64) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_i64<E>(self, _: i64) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_f64<E>(self, _: f64) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_str<E>(self, _: &str) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> Result<bool, A::Error> {
        let mut found = false;
        while let Some(Repeats(inside)) = values.next_element()? {
            found |= inside;
        }
        Ok(found)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<bool, A::Error> {
        let (mut found, mut names) = (false, BTreeSet::new());
        while let Some((name, Repeats(inside))) = members.next_entry::<String, _>()? {
            found |= inside | !names.insert(name);
        }
        Ok(found)
    }
}
