use std::time::Duration;

use ratatui::Terminal;
use ratatui::backend::TestBackend;

use super::*;
use crate::top::history::History;

fn informer(resource: &str, changes: &[u64]) -> InformerRow {
    let mut history = History::default();
    let mut total = 0;
    for count in changes {
        total += count;
        history.record(total, Duration::from_secs(1));
    }
    InformerRow {
        resource: resource.to_owned(),
        phase: "watching",
        fresh: true,
        why: None,
        objects: 12_345,
        relists: 1,
        failures: 2,
        last_event: Some(Duration::from_secs(3)),
        handlers: vec![HandlerRow {
            backlog: 7,
            delivered: 98_765,
            merged: 4,
            panics: 0,
            in_call: None,
        }],
        history: Some(history),
    }
}

fn waiting(resource: &str) -> InformerRow {
    InformerRow {
        phase: "waiting",
        fresh: false,
        why: Some("tries again in 4s: connection refused by http://127.0.0.1:8001".to_owned()),
        objects: 0,
        last_event: None,
        handlers: Vec::new(),
        ..informer(resource, &[0, 0])
    }
}

fn overview(informers: Vec<InformerRow>) -> Overview {
    Overview {
        place: "http://127.0.0.1:8001, all namespaces".to_owned(),
        informers,
    }
}

/// The screen as text, and how many lines are out of sight.
fn drawn(
    overview: &Overview,
    (width, height): (u16, u16),
    scrolled: usize,
) -> (Vec<String>, usize) {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    let mut hidden = 0;
    terminal
        .draw(|frame| {
            let palette = Palette::of_terminal(false);
            hidden = screen(overview, scrolled, &palette, frame.buffer_mut());
        })
        .unwrap();
    let buffer = terminal.backend().buffer();
    let cells = buffer.content().chunks(usize::from(width));
    let line = |cells: &[ratatui::buffer::Cell]| -> String {
        let line: String = cells.iter().map(|cell| cell.symbol()).collect();
        line.trim_end().to_owned()
    };
    (cells.map(line).collect(), hidden)
}

fn both() -> Overview {
    overview(vec![
        informer("pods", &[0, 2, 40, 20, 10]),
        waiting("deployments.apps"),
    ])
}

#[test]
fn everything_fits_into_80_columns() {
    let (lines, hidden) = drawn(&both(), (80, 10), 0);
    assert_eq!(
        lines,
        [
            "2 informers, 1 not fresh; http://127.0.0.1:8001, all namespaces",
            "",
            "RESOURCE         PHASE     FRESH OBJECTS EVENTS/S HISTORY  LAST RELISTS FAILURES",
            "pods             watching  yes     12345     14.4 ▁▂█▅▄      3s       1        2",
            "deployments.apps waiting   NO          0      0.0 ▁▁          -       1        2",
            "  tries again in 4s: connection refused by http://127.0.0.1:8001",
            "",
            "HANDLER BACKLOG DELIVERED MERGED PANICS IN CALL",
            "pods #1       7     98765      4      0       -",
            "q quits",
        ]
    );
    assert_eq!(hidden, 0);
}

#[test]
fn in_40_columns_the_most_important_ones_remain() {
    let (lines, _) = drawn(&both(), (40, 11), 0);
    assert_eq!(
        lines,
        [
            "2 informers, 1 not fresh; http://127.0.…",
            "",
            "RESOURCE         FRESH OBJECTS EVENTS/S",
            "pods             yes     12345     14.4",
            "deployments.apps NO          0      0.0",
            "  tries again in 4s: connection refused",
            "  by http://127.0.0.1:8001",
            "",
            "HANDLER BACKLOG DELIVERED MERGED PANICS",
            "pods #1       7     98765      4      0",
            "q quits",
        ]
    );
}

#[test]
fn a_wide_terminal_shows_a_longer_history() {
    let seconds = [vec![0; 30], vec![9; 30]].concat();
    let pods = overview(vec![informer("pods", &seconds)]);
    let (lines, _) = drawn(&pods, (200, 10), 0);
    let bars = lines[3].chars().filter(|c| ('▁'..='█').contains(c));
    assert_eq!(bars.count(), 60);
}

#[test]
fn long_names_are_cut_and_the_freshness_stays() {
    let long = overview(vec![informer("widgets.of.a.long.group.example.org", &[1])]);
    let (lines, _) = drawn(&long, (30, 10), 0);
    assert_eq!(lines[2], "RESOURCE         FRESH OBJECTS");
    assert_eq!(lines[3], "widgets.of.a.lo… yes     12345");
    assert_eq!(lines[5], "HANDLER                BACKLOG");
    assert_eq!(lines[6], "widgets.of.a.long.gro…       7");
    // A long name leaves room for most columns.
    let (lines, _) = drawn(&long, (80, 10), 0);
    let name = "widgets.of.a.long.group.e…";
    let row = format!("{name} watching  yes     12345      1.0   3s        2");
    assert_eq!(lines[3], row);
}

#[test]
fn no_size_is_too_small() {
    let both = both();
    for width in 0..30 {
        for height in 0..4 {
            let mut buffer = Buffer::empty(Rect::new(0, 0, width, height));
            screen(&both, 3, &Palette::plain(), &mut buffer);
        }
    }
}

#[test]
fn what_does_not_fit_can_be_scrolled_to() {
    let many = overview(
        (0..9)
            .map(|at| informer(&format!("kind-{at}"), &[]))
            .collect(),
    );
    let (lines, hidden) = drawn(&many, (80, 6), 0);
    assert_eq!(hidden, 18);
    assert!(lines[0].starts_with("9 informers"), "{lines:?}");
    assert_eq!(lines[5], "q quits, up and down scroll (0 of 18)");
    let (lines, _) = drawn(&many, (80, 6), 18);
    assert!(lines[4].starts_with("kind-8 #1"), "{lines:?}");
    // There is nothing beyond the end.
    let (beyond, _) = drawn(&many, (80, 6), 99);
    assert_eq!(beyond, lines);
}

#[test]
fn colours_only_repeat_what_words_say() {
    let styles = |colours| {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 80, 10));
        screen(&both(), 0, &Palette::of_terminal(colours), &mut buffer);
        let of = |x, y| {
            buffer
                .cell((x, y))
                .unwrap()
                .style()
                .fg
                .unwrap_or(Color::Reset)
        };
        [of(27, 3), of(27, 4), of(2, 5)]
    };
    assert_eq!(styles(true), [Color::Green, Color::Red, Color::Red]);
    assert_eq!(styles(false), [Color::Reset; 3]);
}

#[test]
fn a_single_look_has_no_rates() {
    let mut once = overview(vec![informer("pods", &[]), waiting("deployments")]);
    once.informers.iter_mut().for_each(|it| it.history = None);
    let lines = table(&once, usize::MAX, &Palette::plain());
    let lines: Vec<String> = lines.iter().map(Line::to_string).collect();
    assert_eq!(
        lines,
        [
            "RESOURCE    PHASE     FRESH OBJECTS LAST RELISTS FAILURES",
            "pods        watching  yes     12345   3s       1        2",
            "deployments waiting   NO          0    -       1        2",
            "  tries again in 4s: connection refused by http://127.0.0.1:8001",
        ]
    );
}

#[test]
fn words_are_only_broken_if_they_are_too_long() {
    assert_eq!(wrapped("a bc def", 4), ["a bc", "def"]);
    assert_eq!(wrapped("a abcdefghi j", 4), ["a", "abcd", "efgh", "i j"]);
    assert_eq!(wrapped("", 4), [""]);
}
