//! Packages, as `cargo metadata` describes them.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// The manifest of the published crate that is a workspace of its own, because its tests compile kube-rs.
pub(crate) const APART: &str = "transport-kube/Cargo.toml";

/// All packages of the workspace, and those that they depend on.
#[derive(Debug)]
#[non_exhaustive]
pub struct Workspace {
    /// By name, then by version.
    pub packages: Vec<Package>,
}

/// One package.
#[derive(Debug)]
#[non_exhaustive]
pub struct Package {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Where cargo found it. A package of this workspace has no source.
    pub source: Option<String>,
    /// Its licence, as an SPDX expression.
    pub license: Option<String>,
    /// Its features, and what each of them turns on.
    pub features: BTreeMap<String, Vec<String>>,
    /// All that its manifest says.
    pub manifest: Value,
}

impl Workspace {
    /// The packages of the workspace alone, and the published one that is apart.
    ///
    /// # Errors
    /// Cargo fails, or prints something else than its metadata.
    pub fn members() -> Result<Self, Box<dyn Error>> {
        let mut members = Self::read(&["--no-deps"])?;
        let apart = Self::read(&["--no-deps", "--manifest-path", APART])?;
        members.packages.extend(apart.packages);
        members.packages.sort_by(by_name);
        Ok(members)
    }

    /// The packages of the workspace, and all packages that any feature on any platform brings in.
    ///
    /// # Errors
    /// Cargo fails, or prints something else than its metadata.
    pub fn all() -> Result<Self, Box<dyn Error>> {
        Self::read(&["--all-features"])
    }

    fn read(arguments: &[&str]) -> Result<Self, Box<dyn Error>> {
        let arguments = [
            &["metadata", "--format-version", "1", "--locked"],
            arguments,
        ]
        .concat();
        let metadata: Value = serde_json::from_str(&cargo(&arguments)?)?;
        let packages = metadata.pointer("/packages").and_then(Value::as_array);
        let packages = packages.ok_or("`cargo metadata` printed no packages")?;
        let mut packages: Vec<_> = packages.iter().map(Package::read).collect();
        packages.sort_by(by_name);
        Ok(Self { packages })
    }

    /// The packages that are published.
    pub fn published(&self) -> impl Iterator<Item = &Package> {
        self.packages.iter().filter(|it| it.is_published())
    }

    /// The packages of others.
    pub fn foreign(&self) -> impl Iterator<Item = &Package> {
        self.packages.iter().filter(|it| it.source.is_some())
    }
}

fn by_name(a: &Package, b: &Package) -> Ordering {
    (&a.name, &a.version).cmp(&(&b.name, &b.version))
}

impl Package {
    /// Reads an entry of `packages`.
    #[must_use]
    pub fn read(manifest: &Value) -> Self {
        let text = |name| manifest.get(name)?.as_str().map(str::to_owned);
        let features = manifest.get("features").and_then(Value::as_object);
        let features = features.into_iter().flatten().map(|(name, turns_on)| {
            let turns_on = turns_on.as_array().into_iter().flatten();
            let turns_on = turns_on.filter_map(Value::as_str).map(str::to_owned);
            (name.clone(), turns_on.collect())
        });
        Self {
            name: text("name").unwrap_or_default(),
            version: text("version").unwrap_or_default(),
            source: text("source"),
            license: text("license"),
            features: features.collect(),
            manifest: manifest.clone(),
        }
    }

    /// Whether it is one of ours and may be published.
    #[must_use]
    pub fn is_published(&self) -> bool {
        self.source.is_none() && self.manifest.get("publish").is_none_or(Value::is_null)
    }

    /// The folder of its manifest.
    #[must_use]
    pub fn folder(&self) -> PathBuf {
        let manifest = self.manifest.get("manifest_path").and_then(Value::as_str);
        let folder = manifest.map(Path::new).and_then(Path::parent);
        folder.map(Path::to_owned).unwrap_or_default()
    }

    /// The arguments with which docs.rs documents it.
    #[must_use]
    pub fn docs_arguments(&self) -> Vec<String> {
        let Some(docs) = self.manifest.pointer("/metadata/docs/rs") else {
            return Vec::new();
        };
        if docs.get("all-features").and_then(Value::as_bool) == Some(true) {
            return vec!["--all-features".to_owned()];
        }
        let features = docs.get("features").and_then(Value::as_array);
        let features = features.into_iter().flatten().filter_map(Value::as_str);
        let features: Vec<_> = features.collect();
        match features.as_slice() {
            [] => Vec::new(),
            features => vec!["--features".to_owned(), features.join(",")],
        }
    }
}

/// The folder of the workspace.
#[must_use]
pub fn root() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here)
}

/// Runs cargo in the folder of the workspace. Returns what it prints.
pub(crate) fn cargo(arguments: &[&str]) -> Result<String, Box<dyn Error>> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(arguments)
        .current_dir(root())
        .output()?;
    if !output.status.success() {
        let why = String::from_utf8_lossy(&output.stderr);
        return Err(format!("`cargo {}` failed: {why}", arguments.join(" ")).into());
    }
    Ok(String::from_utf8(output.stdout)?)
}
