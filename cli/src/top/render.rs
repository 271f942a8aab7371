//! Data as lines of text.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Style};
use ratatui::text::{Line, Span, Text};
use ratatui::widgets::{Paragraph, Widget as _};

use super::columns::{Column, Columns, NAME};
use super::overview::{HandlerRow, InformerRow, Overview};
use crate::words::{age, counted};

/// How much a line below an informer is indented.
const INDENT: usize = 2;

/// The styles. Words say the same, so that nothing is lost without colours.
pub(crate) struct Palette {
    title: Style,
    good: Style,
    bad: Style,
}

impl Palette {
    pub(crate) const fn plain() -> Self {
        let plain = Style::new();
        Self {
            title: plain,
            good: plain,
            bad: plain,
        }
    }

    /// For a terminal.
    pub(crate) const fn of_terminal(colours: bool) -> Self {
        let title = Style::new().bold();
        match colours {
            false => Self {
                title,
                bad: title,
                ..Self::plain()
            },
            true => Self {
                title,
                good: Style::new().fg(Color::Green),
                bad: Style::new().fg(Color::Red).bold(),
            },
        }
    }
}

/// Draws the screen. Returns how many lines are out of sight below it.
pub(crate) fn screen(
    overview: &Overview,
    scrolled: usize,
    palette: &Palette,
    buffer: &mut Buffer,
) -> usize {
    let area = buffer.area;
    let width = usize::from(area.width);
    let mut lines = vec![heading(overview, width, palette), Line::default()];
    lines.extend(table(overview, width, palette));
    lines.extend(handlers(overview, width, palette));
    let [body, footer] = split(area);
    let hidden = lines.len().saturating_sub(usize::from(body.height));
    let scrolled = scrolled.min(hidden);
    let visible: Vec<_> = lines.into_iter().skip(scrolled).collect();
    Paragraph::new(Text::from(visible)).render(body, buffer);
    let keys = match hidden {
        0 => "q quits".to_owned(),
        hidden => format!("q quits, up and down scroll ({scrolled} of {hidden})"),
    };
    Paragraph::new(cut(&keys, width)).render(footer, buffer);
    hidden
}

/// All but the last line, and the last line.
fn split(area: Rect) -> [Rect; 2] {
    let below = area.height.saturating_sub(1);
    let footer = Rect {
        y: area.y + below,
        height: area.height - below,
        ..area
    };
    let body = Rect {
        height: below,
        ..area
    };
    [body, footer]
}

/// How many informers there are, how many need a look, and where.
fn heading(overview: &Overview, width: usize, palette: &Palette) -> Line<'static> {
    let stale = overview.informers.iter().filter(|it| !it.fresh).count();
    let informers = counted(overview.informers.len() as u64, "informer");
    let (state, style) = match stale {
        0 => ("all fresh".to_owned(), palette.good),
        stale => (format!("{stale} not fresh"), palette.bad),
    };
    let spent = informers.len() + 2 + state.len();
    let place = format!("; {}", overview.place);
    Line::from(vec![
        Span::styled(format!("{informers}, "), palette.title),
        Span::styled(state, style),
        Span::raw(cut(&place, width.saturating_sub(spent))),
    ])
}

/// The informers, with a line for those that are not fresh.
pub(crate) fn table(overview: &Overview, width: usize, palette: &Palette) -> Vec<Line<'static>> {
    let columns = Columns::fit(width, &overview.informers);
    let mut lines = vec![title(&columns, palette)];
    for informer in &overview.informers {
        lines.push(row(informer, &columns, palette));
        if let Some(why) = &informer.why {
            let room = width.saturating_sub(INDENT).max(1);
            for line in wrapped(why, room) {
                let line = format!("{:INDENT$}{line}", "");
                lines.push(Line::styled(line, palette.bad));
            }
        }
    }
    lines
}

fn title(columns: &Columns, palette: &Palette) -> Line<'static> {
    let mut text = format!("{:1$}", cut(NAME, columns.name), columns.name);
    for column in &columns.shown {
        text.push(' ');
        text.push_str(&aligned(column.title(), *column, columns));
    }
    Line::styled(text, palette.title)
}

fn row(informer: &InformerRow, columns: &Columns, palette: &Palette) -> Line<'static> {
    let name = cut(&informer.resource, columns.name);
    let mut spans = vec![Span::raw(format!("{name:0$}", columns.name))];
    for column in &columns.shown {
        let cell = column.cell(informer, columns.width(*column));
        let style = match column {
            Column::Fresh if informer.fresh => palette.good,
            Column::Fresh => palette.bad,
            _ => Style::new(),
        };
        spans.push(Span::raw(" "));
        spans.push(Span::styled(aligned(&cell, *column, columns), style));
    }
    Line::from(spans)
}

fn aligned(cell: &str, column: Column, columns: &Columns) -> String {
    let width = columns.width(column);
    match column.is_number() {
        true => format!("{cell:>width$}"),
        false => format!("{cell:width$}"),
    }
}

/// The handlers of all informers. Those of one informer have numbers.
fn handlers(overview: &Overview, width: usize, palette: &Palette) -> Vec<Line<'static>> {
    let numbered = |informer: &InformerRow, at: usize| format!("{} #{}", informer.resource, at + 1);
    let rows = overview.informers.iter().flat_map(|informer| {
        let handlers = informer.handlers.iter().enumerate();
        handlers.map(move |(at, handler)| (numbered(informer, at), handler))
    });
    let rows: Vec<(String, &HandlerRow)> = rows.collect();
    if rows.is_empty() {
        return Vec::new();
    }
    let titles = ["BACKLOG", "DELIVERED", "MERGED", "PANICS", "IN CALL"];
    let mut fitting = titles.len();
    let taken =
        |fitting: usize| -> usize { titles.iter().take(fitting).map(|it| 1 + it.len()).sum() };
    let longest = rows.iter().map(|(name, _)| name.chars().count()).max();
    let longest = longest.unwrap_or(0).max("HANDLER".len());
    while fitting > 1 && longest + taken(fitting) > width {
        fitting -= 1;
    }
    let name = longest.min(width.saturating_sub(taken(fitting)));
    let line = |first: &str, cells: [String; 5]| {
        let mut text = format!("{:name$}", cut(first, name));
        for (cell, title) in cells.iter().zip(titles).take(fitting) {
            text.push_str(&format!(" {cell:>0$}", title.len()));
        }
        text
    };
    let mut lines = vec![Line::default()];
    lines.push(Line::styled(
        line("HANDLER", titles.map(str::to_owned)),
        palette.title,
    ));
    for (first, handler) in rows {
        let cells = [
            handler.backlog.to_string(),
            handler.delivered.to_string(),
            handler.merged.to_string(),
            handler.panics.to_string(),
            handler.in_call.map_or_else(|| "-".to_owned(), age),
        ];
        lines.push(Line::raw(line(&first, cells)));
    }
    lines
}

/// The text, or its beginning if it is longer.
fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let mut cut: String = text.chars().take(width.saturating_sub(1)).collect();
    if width > 0 {
        cut.push('…');
    }
    cut
}

/// The text in lines of at most `width`, broken between words where that is possible.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let mut word: Vec<char> = word.chars().collect();
        while let Some(line) = lines.last_mut() {
            let used = line.chars().count();
            let gap = usize::from(used > 0);
            if used + gap + word.len() <= width {
                line.extend([' '].iter().take(gap).chain(&word));
                break;
            }
            if used == 0 {
                line.extend(word.drain(..width));
            }
            lines.push(String::new());
        }
    }
    lines
}

#[cfg(test)]
mod tests;
