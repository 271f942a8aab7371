//! The table of features in the documentation of a crate.

use std::collections::{BTreeMap, BTreeSet};

/// The rows of the table below `# Features`: the name of a feature, and whether it is called a default.
#[must_use]
pub fn table(source: &str) -> Vec<(String, bool)> {
    let lines = source.lines().filter_map(|line| line.strip_prefix("//!"));
    let section = lines
        .map(str::trim)
        .skip_while(|line| *line != "# Features")
        .skip(1)
        .take_while(|line| !line.starts_with("# "));
    let rows = section.filter_map(|line| {
        let (name, rest) = line.strip_prefix("| `")?.split_once('`')?;
        let (cell, _) = rest.split_once('|')?;
        Some((name.to_owned(), cell.trim() == "(default)"))
    });
    rows.collect()
}

/// What is wrong with a table, line by line.
#[must_use]
pub fn complaints(
    table: &[(String, bool)],
    features: &BTreeMap<String, Vec<String>>,
) -> Vec<String> {
    let defaults: BTreeSet<&str> = features
        .get("default")
        .into_iter()
        .flatten()
        .map(String::as_str)
        .collect();
    let mut complaints = Vec::new();
    for name in features.keys().filter(|name| *name != "default") {
        match table.iter().filter(|(row, _)| row == name).count() {
            0 => complaints.push(format!("the feature `{name}` has no row")),
            1 => {}
            rows => complaints.push(format!("the feature `{name}` has {rows} rows")),
        }
    }
    for (row, is_default) in table {
        if !features.contains_key(row) {
            complaints.push(format!("the row `{row}` names no feature"));
        } else if defaults.contains(row.as_str()) != *is_default {
            let not = if *is_default { "not " } else { "" };
            complaints.push(format!("the feature `{row}` is {not}a default"));
        }
    }
    complaints
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "\
//! Text.
//!
//! # Features
//!
//! | feature | what it adds |
//! | --- | --- |
//! | `json` (default) | objects |
//! | `alloc` | `Heap` |
//!
//! # Errors
//! | `other` | a table of something else |
pub struct S;
";

    fn features(names: &[&str], defaults: &[&str]) -> BTreeMap<String, Vec<String>> {
        let defaults = defaults.iter().map(|name| (*name).to_owned()).collect();
        let names = names.iter().map(|name| ((*name).to_owned(), Vec::new()));
        names.chain([("default".to_owned(), defaults)]).collect()
    }

    #[test]
    fn a_table_is_read() {
        let expected = [("json".to_owned(), true), ("alloc".to_owned(), false)];
        assert_eq!(table(SOURCE), expected);
        assert_eq!(table("//! # Other\n//! | `json` | x |\n"), []);
    }

    #[test]
    fn a_table_that_is_wrong_is_complained_about() {
        let table = table(SOURCE);
        let said =
            |names: &[&str], defaults: &[&str]| complaints(&table, &features(names, defaults));
        assert_eq!(said(&["alloc", "json"], &["json"]), [""; 0]);
        let missing = said(&["alloc", "heapless", "json"], &["json"]);
        assert_eq!(missing, ["the feature `heapless` has no row"]);
        let unknown = said(&["json"], &["json"]);
        assert_eq!(unknown, ["the row `alloc` names no feature"]);
        let other = said(&["alloc", "json"], &["alloc"]);
        assert_eq!(
            other,
            [
                "the feature `json` is not a default",
                "the feature `alloc` is a default"
            ]
        );
        let twice = [table.clone(), table.clone()].concat();
        let twice = complaints(&twice, &features(&["alloc", "json"], &["json"]));
        assert_eq!(
            twice,
            [
                "the feature `alloc` has 2 rows",
                "the feature `json` has 2 rows"
            ]
        );
    }
}
