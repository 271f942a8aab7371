//! The bounds, and the table of results.

use std::fmt;

use crate::measure::Measured;

/// The bounds that hold for every mode.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// The most requests per minute in the steady state.
    pub(crate) per_minute: usize,
    /// The longest message, in characters.
    pub(crate) message: usize,
}

impl Bounds {
    pub(crate) const ALL: Self = Self {
        per_minute: 20,
        message: 1_000,
    };

    /// The bounds that a mode has broken, in words.
    pub(crate) fn broken_by(&self, measured: &Measured, baseline: u64) -> Vec<String> {
        let mut broken = Vec::new();
        let Measured { mode, message, .. } = measured;
        if measured.peak.saturating_sub(baseline) > mode.memory {
            broken.push("memory".to_owned());
        }
        if measured.burst > mode.burst {
            broken.push("burst".to_owned());
        }
        if measured.per_minute > self.per_minute {
            broken.push("requests".to_owned());
        }
        if measured.recovered.is_none_or(|took| took > mode.recovery) {
            broken.push("recovery".to_owned());
        }
        if measured.strays > 0 {
            broken.push("went elsewhere".to_owned());
        }
        if message.chars().count() > self.message {
            broken.push("long message".to_owned());
        }
        if message.chars().any(char::is_control) {
            broken.push("control characters in the message".to_owned());
        }
        if !message.contains(mode.says) {
            broken.push(format!("message without \"{}\"", mode.says));
        }
        broken
    }
}

/// The table, in Markdown.
pub(crate) struct Table {
    pub(crate) bounds: Bounds,
    /// The memory of a program with a good server, in bytes.
    pub(crate) baseline: u64,
    pub(crate) rows: Vec<Measured>,
}

impl Table {
    pub(crate) fn is_good(&self) -> bool {
        self.rows.iter().all(|row| self.broken(row).is_empty())
    }

    fn broken(&self, row: &Measured) -> Vec<String> {
        self.bounds.broken_by(row, self.baseline)
    }
}

/// How much of a message is shown.
const SHOWN: usize = 160;

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Bounds { per_minute, .. } = self.bounds;
        writeln!(
            f,
            "| mode | over | what the server does | what stops it | MB | burst | \
             per minute (≤ {per_minute}) | recovered, s | what the user sees | broken |",
        )?;
        writeln!(
            f,
            "| --- | --- | --- | --- | ---: | ---: | ---: | ---: | --- | --- |"
        )?;
        for row in &self.rows {
            let recovered = match row.recovered {
                Some(took) => format!(
                    "{:.1} of {}",
                    took.as_secs_f64(),
                    row.mode.recovery.as_secs()
                ),
                None => "never".to_owned(),
            };
            let over = row.peak.saturating_sub(self.baseline);
            writeln!(
                f,
                "| `{}` | {} | {} | {} | {:.1} of {} | {} | {} | {recovered} | {} | {} |",
                row.mode.name,
                row.mode.over,
                row.mode.mechanism,
                row.mode.limit,
                megabytes(over),
                row.mode.memory >> 20,
                row.burst,
                row.per_minute,
                shown(&row.message),
                self.broken(row).join(", "),
            )?;
        }
        let broken = self.rows.iter().filter(|row| !self.broken(row).is_empty());
        writeln!(
            f,
            "\n{} modes, {} with a broken bound; a program with a good server uses {:.1} MB.",
            self.rows.len(),
            broken.count(),
            megabytes(self.baseline),
        )
    }
}

#[expect(clippy::cast_precision_loss, reason = "only one decimal is shown")]
fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}

/// A message as a table cell.
fn shown(message: &str) -> String {
    let visible = message.chars().flat_map(|character| match character {
        '|' => "\\|".chars().collect::<Vec<_>>(),
        character if character.is_control() => character.escape_default().collect(),
        character => vec![character],
    });
    let mut text: String = visible.take(SHOWN).collect();
    if message.chars().count() > SHOWN {
        text.push('…');
    }
    text
}
