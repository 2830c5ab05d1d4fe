//! How much memory and disk a server uses over time, and whether that grows.

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use serde::Serialize;

/// What does not count as growth: caches that fill, a segment more or less, a snapshot under way.
const SLACK: u64 = 8 << 20;

/// What a server used at one moment, in bytes.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Sample {
    pub(crate) memory: u64,
    pub(crate) disk: u64,
}

/// Looks at a server now and then.
pub(crate) struct Gauge {
    every: Duration,
    samples: Mutex<Vec<Sample>>,
}

/// A figure at the beginning and at the end, each the median of a quarter of the time.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Growth {
    pub(crate) first: u64,
    pub(crate) last: u64,
}

impl Gauge {
    pub(crate) fn every(every: Duration) -> Self {
        Self { every, samples: Mutex::default() }
    }

    /// Until it is over.
    pub(crate) fn watch(&self, pid: u32, data: &Path, is_over: impl Fn() -> bool) {
        let mut next = Instant::now();
        while !is_over() {
            if Instant::now() >= next {
                next += self.every;
                let sample = Sample { memory: memory(pid), disk: disk(data) };
                self.samples.lock().expect("nobody panics while counting").push(sample);
            }
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    pub(crate) fn samples(&self) -> Vec<Sample> {
        self.samples.lock().expect("nobody panics while counting").clone()
    }
}

impl Growth {
    /// None if there are too few samples to say anything.
    pub(crate) fn of(samples: &[Sample], figure: fn(&Sample) -> u64) -> Option<Self> {
        let quarter = samples.len() / 4;
        let median = |part: &[Sample]| {
            let mut figures: Vec<u64> = part.iter().map(figure).collect();
            figures.sort_unstable();
            figures[figures.len() / 2]
        };
        let (first, last) = (&samples[..quarter], &samples[samples.len() - quarter..]);
        (quarter > 0).then(|| Self { first: median(first), last: median(last) })
    }

    /// More than a tenth, and more than what comes and goes.
    pub(crate) fn is_growing(&self) -> bool {
        self.last > self.first + self.first / 10 + SLACK
    }
}

/// What of a process is in memory.
fn memory(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kibibytes = line.and_then(|line| line.trim().split(' ').next()?.parse::<u64>().ok());
    kibibytes.unwrap_or(0) << 10
}

/// What the files of a directory occupy.
fn disk(directory: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(directory) else { return 0 };
    let sizes = entries.flatten().filter_map(|entry| Some(entry.metadata().ok()?.blocks() * 512));
    sizes.sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn growth(megabytes: impl IntoIterator<Item = u64>) -> Growth {
        let samples = megabytes.into_iter().map(|count| Sample { memory: count << 20, disk: 0 });
        Growth::of(&samples.collect::<Vec<_>>(), |sample| sample.memory).unwrap()
    }

    #[test]
    fn what_grows_is_told_from_what_comes_and_goes() {
        assert!(!growth([50, 90, 50, 50, 50, 50, 51, 52, 53, 90, 50, 50]).is_growing());
        assert!(growth(50..150).is_growing());
        assert!(Growth::of(&[Sample { memory: 1, disk: 1 }; 3], |sample| sample.memory).is_none());
    }
}
