//! Lines for people.

use super::running::{Tail, tail};
use crate::cluster::{cluster, create, delete, touch};
#[cfg(target_os = "linux")]
use crate::terminal::Terminal;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn columns_are_aligned_and_plain_in_a_pipe() {
    let (server, running) = cluster().await;
    let flags = ["pods", "-n", "web", "--server", running.url()];
    let tail = Tail::start(&mut tail(&flags));
    let read = |count| (0..count).map(|_| tail.line()).collect::<Vec<_>>();
    assert_eq!(
        read(6),
        [
            "EVENT   KEY                                   VERSION           CAUSE",
            "status  streaming",
            "add     web/a                                 2                 relist, initial",
            "add     web/b                                 3                 relist, initial",
            "status  watching",
            "synced  2 objects",
        ]
    );
    touch(&server, "web/a");
    delete(&server, "web/b");
    create(
        &server,
        "pods",
        "web/a-pod-whose-name-is-longer-than-others",
    );
    touch(&server, "web/a");
    assert_eq!(
        read(4),
        [
            "update  web/a                                 2 -> 5            watch",
            "delete  web/b                                 6                 watch, observed",
            "add     web/a-pod-whose-name-is-longer-than-others  7                 watch",
            "update  web/a                                       5 -> 8            watch",
        ]
    );
    let ran = tail.stop("-INT");
    assert_eq!(
        ran.stdout,
        "store   2 objects                                   8\n"
    );
    assert_eq!((ran.status, ran.stderr.as_str()), (Some(0), ""));
    running.stop().await;
}

/// The output on a terminal, up to the line `synced`.
#[cfg(target_os = "linux")]
pub(super) fn on_a_terminal(command: &mut std::process::Command) -> String {
    let mut terminal = Terminal::run(command);
    let is_whole = |seen: &str| {
        seen.split_once("synced")
            .is_some_and(|(_, end)| end.contains('\n'))
    };
    terminal.output(is_whole).replace("\r\n", "\n")
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_terminal_gets_colours_unless_no_color_is_set() {
    let (_, running) = cluster().await;
    let flags = ["pods", "-n", "web", "--server", running.url()];
    let plain = on_a_terminal(tail(&flags).env("NO_COLOR", "1"));
    assert!(plain.contains("\nadd     web/a  "), "{plain}");
    assert!(!plain.contains('\u{1b}'), "{plain}");
    let coloured = on_a_terminal(tail(&flags).env_remove("NO_COLOR"));
    assert!(
        coloured.contains("\n\u{1b}[32madd   \u{1b}[0m  web/a  "),
        "{coloured:?}"
    );
    // The columns are the same.
    let stripped = ["\u{1b}[32m", "\u{1b}[36m", "\u{1b}[0m"]
        .iter()
        .fold(coloured, |text, colour| text.replace(colour, ""));
    assert_eq!(stripped, plain);
    running.stop().await;
}
