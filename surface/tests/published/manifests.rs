//! The manifests say what crates.io and docs.rs show.

use std::fs;

use informer_surface::{Workspace, root};
use serde_json::Value;

const PUBLISHED: [&str; 8] = [
    "informer",
    "informer-cli",
    "informer-core",
    "informer-indexers",
    "informer-transport-http",
    "informer-transport-hyper",
    "informer-transport-kube",
    "informer-transport-mock",
];

/// The categories of crates.io that ours are among. It silently drops a name that it does not know.
const CATEGORIES: [&str; 14] = [
    "api-bindings",
    "asynchronous",
    "caching",
    "command-line-utilities",
    "concurrency",
    "data-structures",
    "development-tools::debugging",
    "development-tools::testing",
    "embedded",
    "network-programming",
    "no-std",
    "no-std::no-alloc",
    "simulation",
    "web-programming::http-client",
];

#[test]
fn only_these_crates_can_be_published() {
    let workspace = Workspace::members().unwrap();
    let names: Vec<_> = workspace.published().map(|it| &it.name).collect();
    assert_eq!(names, PUBLISHED, "the others need `publish = false`");
}

#[test]
fn all_crates_share_one_version_and_one_rust() {
    let workspace = Workspace::members().unwrap();
    let field = |field| {
        let values = workspace.published().map(move |it| it.manifest.get(field));
        values.collect::<Vec<_>>()
    };
    for name in ["version", "edition", "rust_version"] {
        let values = field(name);
        let first = values.first();
        assert!(
            values.iter().all(|it| Some(it) == first),
            "{name}: {values:?}"
        );
    }
}

#[test]
fn manifests_are_complete() {
    for package in Workspace::members().unwrap().published() {
        let name = &package.name;
        let text = |field| package.manifest.get(field).and_then(Value::as_str);
        let list = |field| {
            let values = package.manifest.get(field).and_then(Value::as_array);
            let values = values.into_iter().flatten().filter_map(Value::as_str);
            values.map(str::to_owned).collect::<Vec<_>>()
        };
        let docs = format!("https://docs.rs/{name}");
        assert!(
            text("description").is_some_and(|it| it.len() > 20),
            "{name}"
        );
        assert_eq!(text("readme"), Some("README.md"), "{name}");
        assert_eq!(text("license"), Some("Apache-2.0"), "{name}");
        assert_eq!(text("documentation"), Some(docs.as_str()), "{name}");
        assert!(text("rust_version").is_some(), "{name}");

        let (keywords, categories) = (list("keywords"), list("categories"));
        assert!((1..=5).contains(&keywords.len()), "{name}: {keywords:?}");
        let may_be =
            |it: &String| it.len() <= 20 && it.chars().all(|c| c.is_ascii_lowercase() || c == '-');
        assert!(keywords.iter().all(may_be), "{name}: {keywords:?}");
        assert!(
            (1..=5).contains(&categories.len()),
            "{name}: {categories:?}"
        );
        for category in categories {
            let is_known = CATEGORIES.contains(&category.as_str());
            assert!(is_known, "{name}: crates.io may not know {category}");
        }
    }
}

#[test]
fn every_package_has_a_readme_and_the_licence() {
    let license = fs::read_to_string(root().join("LICENSE")).unwrap();
    for package in Workspace::members().unwrap().published() {
        let name = &package.name;
        let read = |file| fs::read_to_string(package.folder().join(file)).unwrap();
        assert!(
            read("README.md").starts_with(&format!("# {name}\n")),
            "{name}"
        );
        assert_eq!(read("LICENSE"), license, "{name}");
        let is_tested = read("src/lib.rs").contains("include_str!(\"../README.md\")");
        assert!(is_tested, "nothing compiles the README of {name}");
        let manifest = read("Cargo.toml");
        let packs = r#"include = ["/src", "/LICENSE", "/README.md"]"#;
        assert!(manifest.contains(packs), "{name} packs other files");
    }
}

#[test]
fn docs_rs_gets_every_feature() {
    for package in Workspace::members().unwrap().published() {
        let arguments = package.docs_arguments().join(" ");
        for feature in package.features.keys().filter(|it| *it != "default") {
            let is_documented = arguments == "--all-features"
                || arguments.split([' ', ',']).any(|it| it == feature);
            assert!(
                is_documented,
                "docs.rs leaves out {feature} of {}",
                package.name
            );
        }
    }
}
