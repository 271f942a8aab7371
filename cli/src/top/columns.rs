//! Which columns there is room for.

use super::overview::InformerRow;
use crate::words::age;

/// A column of the table of informers, behind the name of the resource.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Column {
    Phase,
    Fresh,
    Objects,
    Rate,
    History,
    Last,
    Relists,
    Failures,
}

use Column::{Failures, Fresh, History, Last, Objects, Phase, Rate, Relists};

/// From left to right.
const ALL: [Column; 8] = [
    Phase, Fresh, Objects, Rate, History, Last, Relists, Failures,
];

/// The columns that have to go if there is no room for all, in this order. The others stay.
const EXPENDABLE: [Column; 6] = [History, Relists, Last, Failures, Phase, Rate];

/// The widest history: one column per sample.
const WIDEST_HISTORY: usize = 60;

/// A name may have this many characters, or a third of the width, before it is cut.
const LONGEST_NAME: usize = 16;

/// The columns of a table, and how wide those are whose width is not fixed.
pub(crate) struct Columns {
    pub(crate) name: usize,
    pub(crate) shown: Vec<Column>,
    pub(crate) history: usize,
}

impl Columns {
    /// As many columns as fit into `width`. A single look has no rates.
    pub(crate) fn fit(width: usize, informers: &[InformerRow]) -> Self {
        let has_rates = informers.iter().any(|it| it.history.is_some());
        let mut shown = Vec::from(ALL);
        shown.retain(|column| has_rates || !matches!(column, Rate | History));
        let names = informers.iter().map(|it| it.resource.chars().count());
        let longest = names.max().unwrap_or(0).max(NAME.len());
        let name = longest.min(LONGEST_NAME.max(width / 3));
        let taken = |shown: &[Column]| shown.iter().map(|it| 1 + it.width()).sum::<usize>();
        for column in EXPENDABLE {
            if name + taken(&shown) <= width {
                break;
            }
            shown.retain(|it| *it != column);
        }
        let spare = width.saturating_sub(name + taken(&shown));
        Self {
            // If there is no room even so, names are cut.
            name: name.min(width.saturating_sub(taken(&shown))),
            shown,
            history: WIDEST_HISTORY.min(History.width() + spare),
        }
    }

    pub(crate) fn width(&self, column: Column) -> usize {
        match column {
            History => self.history,
            column => column.width(),
        }
    }
}

/// The title of the first column.
pub(crate) const NAME: &str = "RESOURCE";

impl Column {
    pub(crate) const fn title(self) -> &'static str {
        match self {
            Phase => "PHASE",
            Fresh => "FRESH",
            Objects => "OBJECTS",
            Rate => "EVENTS/S",
            History => "HISTORY",
            Last => "LAST",
            Relists => "RELISTS",
            Failures => "FAILURES",
        }
    }

    /// The width, or the smallest one that makes sense.
    const fn width(self) -> usize {
        match self {
            Phase => "streaming".len(),
            Last => "365d".len(),
            column => column.title().len(),
        }
    }

    /// Whether it has numbers, which are aligned at their end.
    pub(crate) const fn is_number(self) -> bool {
        !matches!(self, Phase | Fresh | History)
    }

    /// What the column says of an informer, in `width` characters.
    pub(crate) fn cell(self, informer: &InformerRow, width: usize) -> String {
        match self {
            Phase => informer.phase.to_owned(),
            Fresh if informer.fresh => "yes".to_owned(),
            Fresh => "NO".to_owned(),
            Objects => informer.objects.to_string(),
            Rate => match informer.history.as_ref().and_then(|it| it.rate()) {
                Some(rate) => format!("{rate:.1}"),
                None => "-".to_owned(),
            },
            History => informer
                .history
                .as_ref()
                .map_or_else(String::new, |it| it.bars(width)),
            Last => informer.last_event.map_or_else(|| "-".to_owned(), age),
            Relists => informer.relists.to_string(),
            Failures => informer.failures.to_string(),
        }
    }
}
