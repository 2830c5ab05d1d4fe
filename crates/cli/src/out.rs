//! The output: what people and programs read.
//!
//! A reader that has seen enough (`tenure claims | head -1`) ends the program quietly. An output that
//! cannot be written is an error like any other, and is noticed before the program says it is done.

use std::fmt::{self, Display};
use std::io::{self, BufWriter, IsTerminal, Stdout, Write};

use crate::exit::{Exit, OrExit};

/// The standard output.
pub(crate) struct Out {
    inner: BufWriter<Stdout>,
    is_terminal: bool,
}

impl Out {
    pub(crate) fn new() -> Self {
        let stdout = io::stdout();
        let is_terminal = stdout.is_terminal();
        Self { inner: BufWriter::new(stdout), is_terminal }
    }

    /// Whether somebody looks at it.
    pub(crate) fn is_terminal(&self) -> bool {
        self.is_terminal
    }

    pub(crate) fn line(&mut self, text: impl Display) -> anyhow::Result<()> {
        checked(writeln!(self.inner, "{text}"))
    }

    pub(crate) fn write(&mut self, text: &[u8]) -> anyhow::Result<()> {
        checked(self.inner.write_all(text))
    }

    /// Everything so far is read, or the error is known.
    pub(crate) fn flush(&mut self) -> anyhow::Result<()> {
        checked(self.inner.flush())
    }

    /// Emphasised, where that can be seen and is wanted (<https://no-color.org>).
    pub(crate) fn bold(&self, text: &str) -> String {
        match self.is_terminal && wants_colour() {
            true => format!("\x1b[1m{text}\x1b[0m"),
            false => text.to_owned(),
        }
    }
}

fn wants_colour() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
        && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// A line at once, for those who speak in turns.
pub(crate) fn say(text: impl Display) -> anyhow::Result<()> {
    checked(writeln!(io::stdout(), "{text}"))
}

/// Prints what clap has to say on the standard output.
pub(crate) fn print_help(help: &clap::Error) -> anyhow::Result<()> {
    checked(help.print())?;
    checked(io::stdout().flush())
}

fn checked(written: io::Result<()>) -> anyhow::Result<()> {
    match written {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Err(Enough.into()),
        Err(error) => Err(error).or_exit(Exit::Io, || {
            "cannot write the output: make room, or send it elsewhere".into()
        }),
    }
}

/// The reader of the output has gone: there is nobody left to work for.
#[derive(Debug)]
pub(crate) struct Enough;

impl Display for Enough {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the output is closed")
    }
}

impl std::error::Error for Enough {}

/// Text of others, so that it cannot drive the terminal or turn the reading order around.
pub(crate) fn plain(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        let turns = matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        if c.is_control() || turns {
            shown.extend(c.escape_unicode());
        } else {
            shown.push(c);
        }
    }
    shown
}

/// Seconds for people.
pub(crate) fn seconds(secs: Option<f64>) -> String {
    secs.map_or("-".into(), |secs| format!("{secs:.1} s"))
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn text_of_others_cannot_drive_the_terminal() {
        assert_eq!(plain("a\x1b[2Jb\u{9b}c\u{202e}d"), "a\\u{1b}[2Jb\\u{9b}c\\u{202e}d");
        assert_eq!(plain("ночь 🌙 \"x\""), "ночь 🌙 \"x\"");
    }
}
