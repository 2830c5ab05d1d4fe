//! What is shown while it runs: to people at a terminal, and to nobody else.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

pub(crate) struct Progress(ProgressBar);

impl Progress {
    /// Of so many steps.
    pub(crate) fn of(steps: u64, unit: &str) -> Self {
        let bar = ProgressBar::new(steps);
        let form = format!("{{elapsed_precise}} {{wide_bar}} {{pos}}/{{len}} {unit} {{msg}}");
        bar.set_style(ProgressStyle::with_template(&form).expect("the template is sound"));
        Self(bar)
    }

    /// Without a known end.
    pub(crate) fn open(title: &str) -> Self {
        let bar = ProgressBar::new_spinner();
        let form = "{spinner} {elapsed_precise} {prefix} {msg}";
        bar.set_style(ProgressStyle::with_template(form).expect("the template is sound"));
        bar.set_prefix(title.to_owned());
        bar.enable_steady_tick(Duration::from_millis(200));
        Self(bar)
    }

    pub(crate) fn say(&self, what: &'static str) {
        self.0.set_message(what);
    }

    pub(crate) fn step(&self) {
        self.0.inc(1);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
