//! The text that Prometheus reads: a head for each figure, then its lines.

use std::fmt::{Display, Write};

use registry::Histogram;

/// A page of figures, as it is written.
#[derive(Default)]
pub(super) struct Page(String);

impl Page {
    /// A figure that only rises.
    pub(super) fn counter(&mut self, name: &str, help: &str, count: u64) {
        self.head(name, "counter", help);
        self.line(name, "", count);
    }

    /// A figure that rises and falls.
    pub(super) fn gauge(&mut self, name: &str, help: &str, value: impl Display) {
        self.head(name, "gauge", help);
        self.line(name, "", value);
    }

    /// Figures of one name, one for each value of a label.
    pub(super) fn by_label<'a>(
        &mut self,
        (kind, name, label): (&str, &str, &str),
        help: &str,
        figures: impl IntoIterator<Item = (&'a str, u64)>,
    ) {
        self.head(name, kind, help);
        for (value, figure) in figures {
            self.line(name, &format!("{{{label}=\"{value}\"}}"), figure);
        }
    }

    /// How often a figure was how large; `unit` of what was observed make one of what is shown.
    pub(super) fn histogram<const N: usize>(
        &mut self,
        name: &str,
        help: &str,
        histogram: &Histogram<N>,
        unit: f64,
    ) {
        self.head(name, "histogram", help);
        let bucket = format!("{name}_bucket");
        for (bound, below) in histogram.up_to() {
            self.line(&bucket, &format!("{{le=\"{}\"}}", bound as f64 / unit), below);
        }
        self.line(&bucket, "{le=\"+Inf\"}", histogram.count());
        self.line(&format!("{name}_sum"), "", histogram.sum() as f64 / unit);
        self.line(&format!("{name}_count"), "", histogram.count());
    }

    pub(super) fn finish(self) -> String {
        self.0
    }

    fn head(&mut self, name: &str, kind: &str, help: &str) {
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    fn line(&mut self, name: &str, labels: &str, value: impl Display) {
        let _ = writeln!(self.0, "{name}{labels} {value}");
    }
}
