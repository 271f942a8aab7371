//! Each crate documents each of its features, and no others.

use std::fs;

use informer_surface::{Workspace, features};

#[test]
fn every_feature_has_a_row_in_the_documentation_of_its_crate() {
    for package in Workspace::members().unwrap().published() {
        let source = fs::read_to_string(package.folder().join("src/lib.rs")).unwrap();
        let complaints = features::complaints(&features::table(&source), &package.features);
        assert!(
            complaints.is_empty(),
            "the table below `# Features` in {}/src/lib.rs is wrong: {}",
            package.name,
            complaints.join("; ")
        );
    }
}
