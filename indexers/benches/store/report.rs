//! Rounds, medians and tables.

/// The table for one size of the store.
pub struct Report<'a> {
    /// The number of objects.
    pub n: usize,
    wanted: &'a [String],
}

/// One run in a round. It returns the cost of one operation.
pub type Run<'a> = Box<dyn FnMut() -> f64 + 'a>;

/// One line: our store and, where it applies, the map with the default hasher and with a fast hasher.
pub struct Runs<'a> {
    pub ours: Run<'a>,
    pub std: Option<Run<'a>>,
    pub fast: Option<Run<'a>>,
}

/// The unit of a figure.
#[derive(Clone, Copy)]
pub enum Unit {
    Nanoseconds,
    Bytes,
}

const ROUNDS: usize = 15;

impl<'a> Report<'a> {
    pub fn new(n: usize, wanted: &'a [String]) -> Self {
        println!();
        println!(
            "| {:<78} | {:>9} | {:>9} | {:>6} | {:>9} | {:>6} |",
            format!("{n} objects"),
            "ours",
            "std",
            "ratio",
            "foldhash",
            "ratio"
        );
        println!(
            "| {:-<78} | {:->9} | {:->9} | {:->6} | {:->9} | {:->6} |",
            "", ":", ":", ":", ":", ":"
        );
        Self { n, wanted }
    }

    /// Whether a line was requested.
    pub fn wants(&self, line: &str) -> bool {
        self.wanted.is_empty() || self.wanted.iter().any(|part| line.contains(part))
    }

    /// Measures in rounds and prints the line.
    pub fn measure(&self, line: &str, runs: Runs<'_>) {
        let mut runs = [Some(runs.ours), runs.std, runs.fast];
        let mut figures = [const { Vec::new() }; 3];
        for round in 0..ROUNDS {
            // Change the order, so that warm caches do not always help the same store.
            let order = if round % 2 == 0 { [0, 1, 2] } else { [2, 1, 0] };
            for at in order {
                if let Some(run) = &mut runs[at] {
                    figures[at].push(run());
                }
            }
        }
        let medians = figures.map(|figures| percentile(figures, 50.0));
        self.line(line, Unit::Nanoseconds, medians);
    }

    /// Prints a line of figures measured elsewhere: our store and the two others.
    pub fn line(&self, line: &str, unit: Unit, figures: [Option<f64>; 3]) {
        let [ours, std, fast] = figures;
        let ratio = |other: Option<f64>| match (ours, other) {
            (Some(ours), Some(other)) => format!("{:.2}", ours / other),
            _ => "–".to_owned(),
        };
        println!(
            "| {line:<78} | {:>9} | {:>9} | {:>6} | {:>9} | {:>6} |",
            unit.show(ours),
            unit.show(std),
            ratio(std),
            unit.show(fast),
            ratio(fast),
        );
    }
}

impl Unit {
    fn show(self, figure: Option<f64>) -> String {
        let Some(figure) = figure else {
            return "–".to_owned();
        };
        match self {
            Self::Bytes => format!("{figure:.1} B"),
            Self::Nanoseconds if figure < 1e3 => format!("{figure:.0} ns"),
            Self::Nanoseconds if figure < 1e6 => format!("{:.2} µs", figure / 1e3),
            Self::Nanoseconds => format!("{:.2} ms", figure / 1e6),
        }
    }
}

/// The `percent` percentile of the figures.
pub fn percentile(mut figures: Vec<f64>, percent: f64) -> Option<f64> {
    figures.sort_by(f64::total_cmp);
    let last = figures.len().checked_sub(1)?;
    let at = (last as f64 * percent / 100.0).round() as usize;
    figures.get(at).copied()
}
