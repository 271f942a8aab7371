//! A strict reader of the OpenMetrics text format, written after its specification and not after the library
//! that writes it. It refuses what a scraper may refuse.
#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

use std::collections::{BTreeMap, BTreeSet};

/// The labels of a series.
pub type Labels = BTreeMap<String, String>;

/// All metric families of a text.
#[derive(Debug, Default)]
pub struct Exposition {
    pub families: BTreeMap<String, Family>,
}

#[derive(Debug, Default)]
pub struct Family {
    pub kind: String,
    pub help: String,
    pub unit: String,
    /// The name of the sample, its labels and its value.
    pub samples: Vec<(String, Labels, f64)>,
}

impl Exposition {
    /// Reads and checks a text.
    ///
    /// # Panics
    /// It breaks a rule.
    pub fn read(text: &str) -> Self {
        let body = text.strip_suffix("# EOF\n").expect("it ends with # EOF");
        let mut all = Self::default();
        let mut current = String::new();
        for line in body.split_terminator('\n') {
            match line.strip_prefix("# ") {
                Some(metadata) => all.metadata(metadata, &mut current),
                None => all.sample(line, &current),
            }
        }
        all.check();
        all
    }

    fn metadata(&mut self, line: &str, current: &mut String) {
        let mut words = line.splitn(3, ' ');
        let mut next = || words.next().unwrap_or_else(|| panic!("incomplete: {line}"));
        let (what, name, rest) = (next(), next(), next());
        assert!(is_name(name), "{line}");
        if *current != name {
            assert!(!self.families.contains_key(name), "interleaved: {line}");
            name.clone_into(current);
        }
        let family = self.families.entry(name.to_owned()).or_default();
        assert!(family.samples.is_empty(), "metadata behind samples: {line}");
        let place = match what {
            "HELP" => &mut family.help,
            "TYPE" => &mut family.kind,
            "UNIT" => &mut family.unit,
            other => panic!("unknown metadata {other}: {line}"),
        };
        assert!(place.is_empty(), "twice: {line}");
        *place = unescape(rest);
        assert!(!place.is_empty(), "empty: {line}");
    }

    fn sample(&mut self, line: &str, current: &str) {
        let end = line.find(['{', ' ']).unwrap_or_else(|| panic!("{line}"));
        let (name, rest) = line.split_at(end);
        let family = self.families.get_mut(current).expect("no metadata");
        let suffixes: &[&str] = match family.kind.as_str() {
            "counter" => &["_total"],
            "gauge" => &[""],
            "histogram" => &["_bucket", "_count", "_sum"],
            kind => panic!("unknown type {kind} of {current}"),
        };
        let suffix = name.strip_prefix(current).expect("another family");
        assert!(suffixes.contains(&suffix), "{line}");
        let (labels, rest) = read_labels(rest);
        let value = rest.strip_prefix(' ').unwrap_or_else(|| panic!("{line}"));
        let value: f64 = value.parse().unwrap_or_else(|_| panic!("value: {line}"));
        let counts = !suffix.is_empty() || family.kind == "counter";
        assert!(!counts || value >= 0.0, "less than nothing: {line}");
        let is_there = |(of, with, _): &(String, Labels, f64)| of == name && *with == labels;
        assert!(!family.samples.iter().any(is_there), "twice: {line}");
        family.samples.push((name.to_owned(), labels, value));
    }

    fn check(&self) {
        let mut names = BTreeSet::new();
        for (name, family) in &self.families {
            let Family {
                kind, help, unit, ..
            } = family;
            assert!(!help.is_empty() && !kind.is_empty(), "metadata of {name}");
            let with_unit = unit.is_empty() || name.ends_with(&format!("_{unit}"));
            assert!(with_unit, "{name} does not end with its unit {unit}");
            for reserved in ["_total", "_count", "_sum", "_bucket", "_created", "_info"] {
                assert!(!name.ends_with(reserved), "{name} ends with {reserved}");
            }
            for base in ["seconds", "bytes"] {
                let says = name.ends_with(&format!("_{base}"));
                assert!(!says || unit == base, "{name} does not declare {base}");
            }
            let of_family: BTreeSet<_> = family.samples.iter().map(|it| &it.0).collect();
            for sample in of_family {
                assert!(names.insert(sample), "{sample} is in two families");
            }
            if kind == "histogram" {
                family.check_histogram(name);
            }
        }
    }

    /// The value of the sample with this name and these labels.
    pub fn get(&self, name: &str, labels: &[(&str, &str)]) -> Option<f64> {
        let is_it = |(of, with, _): &&(String, Labels, f64)| {
            let same =
                |(label, value): &(&str, &str)| with.get(*label).is_some_and(|it| it == value);
            of == name && with.len() == labels.len() && labels.iter().all(same)
        };
        let mut all = self.families.values().flat_map(|family| &family.samples);
        all.find(is_it).map(|it| it.2)
    }

    /// All values that a label has.
    pub fn values_of(&self, label: &str) -> BTreeSet<&str> {
        let all = self.families.values().flat_map(|family| &family.samples);
        all.filter_map(|(_, labels, _)| labels.get(label))
            .map(String::as_str)
            .collect()
    }
}

impl Family {
    /// Buckets ascend and add up to the count.
    fn check_histogram(&self, name: &str) {
        let mut buckets: BTreeMap<Labels, Vec<(f64, f64)>> = BTreeMap::new();
        for (sample, labels, value) in &self.samples {
            if sample.ends_with("_bucket") {
                let mut labels = labels.clone();
                let bound = labels.remove("le").expect("a bucket without a bound");
                let bound = bound.parse().expect("a bound is a number");
                buckets.entry(labels).or_default().push((bound, *value));
            }
        }
        let of = |suffix: &str, labels: &Labels| {
            let sample = format!("{name}{suffix}");
            let mut all = self.samples.iter();
            all.find(|it| it.0 == sample && it.1 == *labels)
                .map(|it| it.2)
        };
        let sums = self.samples.iter().filter(|it| it.0.ends_with("_sum"));
        assert_eq!(sums.count(), buckets.len(), "{name}");
        for (labels, buckets) in buckets {
            for pair in buckets.windows(2) {
                assert!(pair[0].0 < pair[1].0, "bounds of {name}: {buckets:?}");
                assert!(pair[0].1 <= pair[1].1, "counts of {name}: {buckets:?}");
            }
            let last = buckets.last().unwrap();
            assert!(last.0.is_infinite(), "{name} has no infinite bucket");
            assert_eq!(of("_count", &labels), Some(last.1), "{name}");
            assert!(of("_sum", &labels).is_some(), "{name}");
        }
    }
}

fn is_name(name: &str) -> bool {
    let rest = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    !name.starts_with(|first: char| first.is_ascii_digit())
        && !name.is_empty()
        && name.bytes().all(rest)
}

/// Reads the labels at the beginning of a text, and returns the rest.
fn read_labels(text: &str) -> (Labels, &str) {
    let mut labels = Labels::new();
    let Some(mut rest) = text.strip_prefix('{') else {
        return (labels, text);
    };
    loop {
        let (name, value) = rest.split_once("=\"").expect("a label has a value");
        assert!(is_name(name), "label {name:?}");
        let mut escaped = false;
        let end = value.bytes().position(|byte| {
            let ends = byte == b'"' && !escaped;
            escaped = byte == b'\\' && !escaped;
            ends
        });
        let (value, behind) = value.split_at(end.expect("the value ends"));
        let before = labels.insert(name.to_owned(), unescape(value));
        assert!(before.is_none(), "label {name} twice");
        rest = match behind.strip_prefix("\",") {
            Some(next) => next,
            None => return (labels, behind.strip_prefix("\"}").expect("labels end")),
        };
    }
}

fn unescape(text: &str) -> String {
    let mut plain = String::new();
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        plain.push(match (character, character == '\\') {
            (_, true) => match characters.next() {
                Some('n') => '\n',
                Some(same @ ('\\' | '"')) => same,
                other => panic!("bad escape {other:?} in {text}"),
            },
            (other, false) => other,
        });
    }
    plain
}
