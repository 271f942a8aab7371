//! The quickstart.

use crate::program::{example, run, shown};

/// Replaces times, which differ from run to run. Only times have two digits after the point.
fn without_times(text: &str) -> String {
    let is_time = |word: &str| {
        let parts = word.split_once('.');
        parts.is_some_and(|(a, b)| b.len() == 2 && (a.to_owned() + b).parse::<u32>().is_ok())
    };
    let words = text.split_inclusive([' ', '\n']).map(|word| {
        let bare = word.trim_end();
        if is_time(bare) {
            word.replace(bare, "0.00")
        } else {
            word.to_owned()
        }
    });
    words.collect()
}

#[test]
fn it_prints_what_the_readme_shows() {
    let ran = run(example("quickstart").args(["--changes", "8"]));
    assert_eq!((ran.status, ran.stderr.as_str()), (Some(0), ""));
    let shown = shown("quickstart -- --changes 8");
    assert_eq!(without_times(&ran.stdout), without_times(&shown));
}

#[test]
fn colours_need_a_terminal_or_a_request() {
    let coloured = |variable: &str| {
        let mut quickstart = example("quickstart");
        quickstart
            .args(["--changes", "1"])
            .env_remove("NO_COLOR")
            .env(variable, "1");
        run(&mut quickstart).stdout.contains('\u{1b}')
    };
    assert!(!coloured("UNRELATED"));
    assert!(coloured("CLICOLOR_FORCE"));
    assert!(!coloured("NO_COLOR"));
}

#[test]
fn changes_and_follow_conflict() {
    let ran = run(example("quickstart").args(["--changes", "1", "--follow"]));
    assert_eq!(ran.status, Some(2), "{}", ran.stderr);
}
