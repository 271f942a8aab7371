//! The migration guides show these programs and say how long they are.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::fs;
use std::path::Path;

fn read(path: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    fs::read_to_string(folder.join(path)).unwrap()
}

/// Lines that are neither blank nor comments.
fn lines(program: &str) -> usize {
    let lines = program.lines().map(str::trim);
    let code = lines.filter(|line| !line.is_empty() && !line.starts_with("//"));
    code.count()
}

#[test]
fn the_guides_show_the_program_and_count_all_three() {
    let ours = read("src/bin/with_informer.rs");
    let counts = [
        ("this crate", lines(&ours)),
        ("kube-rs", lines(&read("src/bin/with_kube_rs.rs"))),
        ("client-go", lines(&read("client-go/main.go"))),
    ];
    assert!(counts[0].1 <= 60, "{counts:?}");
    let kube = read("../docs/migrating-from-kube-rs.md");
    let go = read("../docs/migrating-from-client-go.md");
    assert!(kube.contains(ours.trim()), "the guide has another program");
    for (with, count) in counts {
        let row = format!("| {with} | {count} |");
        assert!(
            kube.contains(&row),
            "docs/migrating-from-kube-rs.md lacks: {row}"
        );
        assert!(
            go.contains(&row),
            "docs/migrating-from-client-go.md lacks: {row}"
        );
    }
}
