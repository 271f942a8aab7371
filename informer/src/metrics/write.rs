//! How series are written: each kind of subject has a table of rows, and each row is a metric.

use std::collections::HashMap;
use std::fmt;
use std::time::Duration;

use prometheus_client::encoding::{DescriptorEncoder, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::exemplar::Exemplar;
use prometheus_client::registry::Unit;

use crate::meters::Histogram;

static SECONDS: Unit = Unit::Seconds;
static BYTES: Unit = Unit::Bytes;

/// Something that is measured, with the labels of its series.
pub(super) struct Subject<T> {
    pub(super) labels: Vec<(&'static str, String)>,
    pub(super) of: T,
}

/// One metric of subjects of type `T`.
pub(super) struct Row<T: 'static> {
    /// Without the unit, and without the `_total` of a counter: the library adds them.
    name: &'static str,
    help: &'static str,
    unit: Option<&'static Unit>,
    kind: Kind,
    read: Read<T>,
}

#[derive(Clone, Copy)]
enum Kind {
    Gauge,
    Counter,
    Histogram,
}

/// How to read a subject.
enum Read<T: 'static> {
    One(fn(&T) -> Value),
    /// A series for each value of this label.
    Each(&'static str, fn(&T) -> Vec<(&'static str, Value)>),
    Histogram(fn(&T) -> &Histogram),
}

/// The value of a gauge or a counter.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Value {
    /// There is no series.
    Absent,
    Whole(u64),
    Real(f64),
}

impl From<u64> for Value {
    fn from(number: u64) -> Self {
        Self::Whole(number)
    }
}

impl From<usize> for Value {
    fn from(number: usize) -> Self {
        Self::Whole(number as u64)
    }
}

impl From<bool> for Value {
    fn from(is_so: bool) -> Self {
        Self::Whole(is_so.into())
    }
}

impl From<Duration> for Value {
    fn from(time: Duration) -> Self {
        Self::Real(time.as_secs_f64())
    }
}

impl<V: Into<Self>> From<Option<V>> for Value {
    fn from(value: Option<V>) -> Self {
        value.map_or(Self::Absent, Into::into)
    }
}

impl<T> Row<T> {
    pub(super) const fn gauge(
        name: &'static str,
        help: &'static str,
        read: fn(&T) -> Value,
    ) -> Self {
        Self::new(name, help, Kind::Gauge, Read::One(read))
    }

    pub(super) const fn counter(
        name: &'static str,
        help: &'static str,
        read: fn(&T) -> Value,
    ) -> Self {
        Self::new(name, help, Kind::Counter, Read::One(read))
    }

    /// A gauge for each value of a label.
    pub(super) const fn gauges(
        name: &'static str,
        help: &'static str,
        label: &'static str,
        read: fn(&T) -> Vec<(&'static str, Value)>,
    ) -> Self {
        Self::new(name, help, Kind::Gauge, Read::Each(label, read))
    }

    /// A counter for each value of a label.
    pub(super) const fn counters(
        name: &'static str,
        help: &'static str,
        label: &'static str,
        read: fn(&T) -> Vec<(&'static str, Value)>,
    ) -> Self {
        Self::new(name, help, Kind::Counter, Read::Each(label, read))
    }

    pub(super) const fn histogram(
        name: &'static str,
        help: &'static str,
        read: fn(&T) -> &Histogram,
    ) -> Self {
        Self::new(name, help, Kind::Histogram, Read::Histogram(read))
    }

    const fn new(name: &'static str, help: &'static str, kind: Kind, read: Read<T>) -> Self {
        Self {
            name,
            help,
            unit: None,
            kind,
            read,
        }
    }

    /// Writes the series of all subjects. A metric without series is left out.
    fn write(&self, subjects: &[Subject<T>], encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let series: Vec<_> = subjects.iter().flat_map(|it| self.series(it)).collect();
        if series.is_empty() {
            return Ok(());
        }
        let kind = match self.kind {
            Kind::Gauge => MetricType::Gauge,
            Kind::Counter => MetricType::Counter,
            Kind::Histogram => MetricType::Histogram,
        };
        let mut family = encoder.encode_descriptor(self.name, self.help, self.unit, kind)?;
        for Series { labels, value } in series {
            let mut metric = family.encode_family(&labels)?;
            match value {
                Point::Value(value) => self.encode(value, &mut metric)?,
                Point::Histogram(histogram) => encode_histogram(histogram, &mut metric)?,
            }
        }
        Ok(())
    }

    fn series<'a>(&self, subject: &'a Subject<T>) -> Vec<Series<'a>> {
        let labels = || subject.labels.clone();
        let points: Vec<_> = match self.read {
            Read::Histogram(read) => vec![(labels(), Point::Histogram(read(&subject.of)))],
            Read::One(read) => vec![(labels(), Point::Value(read(&subject.of)))],
            Read::Each(label, read) => {
                let each = read(&subject.of).into_iter();
                let with = |(of, value): (&str, Value)| {
                    let mut labels = labels();
                    labels.push((label, of.to_owned()));
                    (labels, Point::Value(value))
                };
                each.map(with).collect()
            }
        };
        let present = |(_, value): &(_, Point<'_>)| !matches!(value, Point::Value(Value::Absent));
        let series = |(labels, value)| Series { labels, value };
        points.into_iter().filter(present).map(series).collect()
    }

    fn encode(&self, value: Value, metric: &mut MetricEncoder<'_>) -> fmt::Result {
        let counts = matches!(self.kind, Kind::Counter);
        let no_exemplar = None::<&Exemplar<NoLabelSet, f64>>;
        match value {
            Value::Absent => Ok(()),
            Value::Whole(number) if counts => metric.encode_counter(&number, no_exemplar),
            Value::Real(number) if counts => metric.encode_counter(&number, no_exemplar),
            Value::Whole(number) => metric.encode_gauge(&number),
            Value::Real(number) => metric.encode_gauge(&number),
        }
    }
}

/// The same row, in seconds.
pub(super) const fn seconds<T>(mut row: Row<T>) -> Row<T> {
    row.unit = Some(&SECONDS);
    row
}

/// The same row, in bytes.
pub(super) const fn bytes<T>(mut row: Row<T>) -> Row<T> {
    row.unit = Some(&BYTES);
    row
}

struct Series<'a> {
    labels: Vec<(&'static str, String)>,
    value: Point<'a>,
}

enum Point<'a> {
    Value(Value),
    Histogram(&'a Histogram),
}

fn encode_histogram(histogram: &Histogram, metric: &mut MetricEncoder<'_>) -> fmt::Result {
    let no_exemplars = None::<&HashMap<usize, Exemplar<NoLabelSet, f64>>>;
    let (sum, count) = (histogram.sum(), histogram.count());
    metric.encode_histogram(sum, count, histogram.buckets(), no_exemplars)
}

/// Writes all rows of a table.
pub(super) fn write_all<T>(
    rows: &[Row<T>],
    subjects: &[Subject<T>],
    encoder: &mut DescriptorEncoder<'_>,
) -> fmt::Result {
    rows.iter().try_for_each(|row| row.write(subjects, encoder))
}
