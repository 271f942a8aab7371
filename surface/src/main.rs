//! What comes with our crates: `surface check`, `surface licences`, `surface sbom [PACKAGE]`, and
//! `surface docs-arguments PACKAGE`.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program")]

// Expressions such as `MIT OR Apache-2.0`.
mod licence;

// The rules of `deny.toml`.
mod rules;

// A list of parts for programs.
mod sbom;

use std::collections::BTreeMap;
use std::error::Error;
use std::process::ExitCode;

use informer_surface::Workspace;

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    let ended = match arguments.as_slice() {
        ["check"] => rules::check(),
        ["licences"] => licences(),
        ["sbom"] => sbom::print("informer"),
        ["sbom", package] => sbom::print(package),
        ["docs-arguments", package] => docs_arguments(package),
        _ => {
            eprintln!("usage: surface check | licences | sbom [PACKAGE] | docs-arguments PACKAGE");
            return ExitCode::from(2);
        }
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("surface: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Prints each licence, and the crates that have it.
fn licences() -> Result<(), Box<dyn Error>> {
    let workspace = Workspace::all()?;
    let mut by_licence: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for package in workspace.foreign() {
        let licence = package.license.as_deref().unwrap_or("none stated");
        let crates = by_licence.entry(licence).or_default();
        crates.push(format!("{} {}", package.name, package.version));
    }
    for (licence, crates) in &by_licence {
        println!("{licence} ({})", crates.len());
        for package in crates {
            println!("  {package}");
        }
    }
    Ok(())
}

/// Prints the arguments with which docs.rs documents a crate.
fn docs_arguments(name: &str) -> Result<(), Box<dyn Error>> {
    let workspace = Workspace::members()?;
    let package = workspace.packages.iter().find(|it| it.name == name);
    let package = package.ok_or_else(|| format!("there is no package {name}"))?;
    println!("{}", package.docs_arguments().join(" "));
    Ok(())
}
