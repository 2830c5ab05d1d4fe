//! A table that is drawn anew as things change.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Instant;

use rustix::termios::tcgetwinsize;

use super::board::{Board, Life};
use crate::http::Address;
use crate::out::{Out, plain};

/// The other page of the terminal, without a cursor and without wrapping.
const ENTER: &str = "\x1b[?1049h\x1b[?25l\x1b[?7l";
const LEAVE: &str = "\x1b[?7h\x1b[?25h\x1b[?1049l";

pub(super) struct Screen<'a> {
    out: &'a mut Out,
    title: String,
    note: String,
}

/// What is known about one resource.
#[derive(Default)]
struct Row<'a> {
    holders: Vec<(u64, &'a Life)>,
    waiting: usize,
    oldest: Option<Instant>,
}

impl<'a> Screen<'a> {
    pub(super) fn open(out: &'a mut Out, address: &Address) -> anyhow::Result<Self> {
        out.write(ENTER.as_bytes())?;
        Ok(Self { out, title: format!("Tenure at {address}"), note: String::new() })
    }

    /// Something that is said until something else is.
    pub(super) fn note(&mut self, text: &str) {
        self.note = plain(text);
    }

    pub(super) fn draw(
        &mut self,
        board: &Board,
        wants: impl Fn(&[String]) -> bool,
    ) -> anyhow::Result<()> {
        let mut rows: BTreeMap<&str, Row<'_>> = BTreeMap::new();
        for (id, life) in board.lives.iter().filter(|(_, life)| wants(&life.resources)) {
            for name in &life.resources {
                let row = rows.entry(name).or_default();
                match life.held {
                    Some(_) => row.holders.push((*id, life)),
                    None => {
                        row.waiting += 1;
                        row.oldest = row.oldest.into_iter().chain([life.registered]).min();
                    }
                }
            }
        }
        let height = tcgetwinsize(std::io::stdout()).map_or(24, |size| size.ws_row).max(6);
        let text = self.page(&rows, usize::from(height));
        self.out.write(text.as_bytes())?;
        self.out.flush()
    }

    fn page(&self, rows: &BTreeMap<&str, Row<'_>>, height: usize) -> String {
        let now = Instant::now();
        let held = rows.values().filter(|row| !row.holders.is_empty()).count();
        let waiting: usize = rows.values().map(|row| row.waiting).sum();
        let mut text = String::from("\x1b[H");
        let title = self.out.bold(&self.title);
        let _ = writeln!(text, "{title}: {held} held, {waiting} waiting  {}\x1b[K", self.note);
        let head = ["HOLDER", "FENCE", "HELD", "LEASE", "WAITING", "LONGEST"];
        let _ = writeln!(text, "{}  RESOURCE\x1b[K", columns(&head.map(str::to_owned)));
        let room = height - 4;
        for (name, row) in rows.iter().take(room) {
            let _ = writeln!(text, "{}  {}\x1b[K", columns(&cells(row, now)), plain(name));
        }
        if rows.len() > room {
            let _ = writeln!(text, "  and {} more\x1b[K", rows.len() - room);
        }
        text + "\x1b[J"
    }
}

impl Drop for Screen<'_> {
    fn drop(&mut self) {
        // A terminal that is gone needs no repair.
        let _ = self.out.write(LEAVE.as_bytes()).and_then(|()| self.out.flush());
    }
}

fn columns(cells: &[String; 6]) -> String {
    let [holder, fence, held, lease, waiting, longest] = cells;
    format!("{holder:>9}  {fence:>9}  {held:>7}  {lease:>7}  {waiting:>7}  {longest:>7}")
}

fn cells(row: &Row<'_>, now: Instant) -> [String; 6] {
    let none = || "-".to_owned();
    let since = |moment: Instant| format!("{} s", now.saturating_duration_since(moment).as_secs());
    let holder = match &row.holders[..] {
        [] => none(),
        [(id, _)] => id.to_string(),
        all => format!("{} share", all.len()),
    };
    let last = row.holders.iter().max_by_key(|(_, life)| life.fence).map(|(_, life)| life);
    let fence = last.and_then(|life| life.fence).map_or_else(none, |fence| fence.to_string());
    let held = last.and_then(|life| life.held).map_or_else(none, since);
    let lease = last.and_then(|life| life.deadline).map_or_else(none, |deadline| {
        match deadline.checked_duration_since(now) {
            Some(left) => format!("{} s", left.as_secs()),
            None => "over".into(),
        }
    });
    [holder, fence, held, lease, row.waiting.to_string(), row.oldest.map_or_else(none, since)]
}
