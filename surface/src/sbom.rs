//! A list of parts for programs: CycloneDX 1.5, in JSON.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;

use informer_surface::tree::{self, Id};
use informer_surface::{Workspace, root};
use serde_json::{Value, json};

/// Prints all crates that a user of `package` compiles, with its default features, on all platforms.
pub(crate) fn print(package: &str) -> Result<(), Box<dyn Error>> {
    let graph = tree::graph(package, "all")?;
    let workspace = Workspace::all()?;
    let licences: BTreeMap<Id, _> = workspace
        .packages
        .iter()
        .map(|it| ((it.name.clone(), it.version.clone()), it.license.as_deref()))
        .collect();
    let checksums = checksums(&fs::read_to_string(root().join("Cargo.lock"))?)?;

    let component = |id: &Id| {
        let (name, version) = id;
        let licence = licences.get(id).copied().flatten();
        let licence = licence.map(|text| text.replace(" / ", "/").replace('/', " OR "));
        let expression = |text| json!({"expression": text});
        let hash = |text| json!({"alg": "SHA-256", "content": text});
        json!({
            "type": "library", "name": name, "version": version, "purl": url(id), "bom-ref": url(id),
            "licenses": licence.map(expression).into_iter().collect::<Vec<_>>(),
            "hashes": checksums.get(id).map(hash).into_iter().collect::<Vec<_>>(),
        })
    };
    let main = graph.keys().find(|(name, _)| name == package);
    let main = main.ok_or_else(|| format!("there is no package {package}"))?;
    let others = graph.keys().filter(|id| *id != main);
    let dependencies = graph.iter().map(|(id, below)| {
        let below: Vec<_> = below.iter().map(url).collect();
        json!({"ref": url(id), "dependsOn": below})
    });
    let bom = json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": component(main)},
        "components": others.map(component).collect::<Vec<_>>(),
        "dependencies": dependencies.collect::<Vec<_>>(),
    });
    println!("{}", serde_json::to_string_pretty(&bom)?);
    Ok(())
}

fn url((name, version): &Id) -> String {
    format!("pkg:cargo/{name}@{version}")
}

/// The checksums of a lock file.
fn checksums(lock: &str) -> Result<BTreeMap<Id, String>, Box<dyn Error>> {
    let lock: Value = toml::from_str(lock)?;
    let packages = lock.pointer("/package").and_then(Value::as_array);
    let packages = packages.into_iter().flatten().filter_map(|package| {
        let text = |name| package.get(name)?.as_str().map(str::to_owned);
        Some(((text("name")?, text("version")?), text("checksum")?))
    });
    Ok(packages.collect())
}
