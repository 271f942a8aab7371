//! The first program that anybody runs.

use crate::program::{example, run, shown};

/// Times differ from run to run; they have two digits behind the point, and nothing else has.
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
fn it_shows_what_the_readme_shows() {
    let ran = run(example("quickstart").args(["--changes", "8"]));
    assert_eq!((ran.status, ran.stderr.as_str()), (Some(0), ""));
    let shown = shown("quickstart -- --changes 8");
    assert_eq!(without_times(&ran.stdout), without_times(&shown));
}

#[test]
fn colours_are_for_terminals_and_for_whoever_wants_them() {
    let coloured = |variable: &str| {
        let mut quickstart = example("quickstart");
        quickstart
            .args(["--changes", "1"])
            .env_remove("NO_COLOR")
            .env(variable, "1");
        run(&mut quickstart).stdout.contains('\u{1b}')
    };
    assert!(!coloured("TERM_IS_OF_NO_INTEREST"));
    assert!(coloured("CLICOLOR_FORCE"));
    assert!(!coloured("NO_COLOR"));
}

#[test]
fn a_bound_and_no_bound_do_not_go_together() {
    let ran = run(example("quickstart").args(["--changes", "1", "--follow"]));
    assert_eq!(ran.status, Some(2), "{}", ran.stderr);
}
