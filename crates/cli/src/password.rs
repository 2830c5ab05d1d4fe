//! `tenure password`: what the configuration keeps of a password.

use std::io::{self, BufRead, IsTerminal, Write};

use clap::Args;
use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
use server::User;

use crate::exit::{Exit, OrExit};
use crate::out::Out;

#[derive(Args)]
pub(crate) struct Password {
    /// Who is to log on with it
    name: String,
}

pub(crate) fn run(wish: &Password, out: &mut Out) -> anyhow::Result<()> {
    let password = read().or_exit(Exit::Io, || "no password can be read".into())?;
    if password.is_empty() {
        return Err(
            Exit::Usage.because("there is no password on the input: write it, and a newline")
        );
    }
    let user = User::new(&wish.name, &password).map_err(|said| Exit::Usage.because(said))?;
    out.line(format_args!("{user}"))
}

/// One line of the input; a terminal does not show it.
fn read() -> io::Result<String> {
    let mut line = String::new();
    let input = io::stdin();
    if !input.is_terminal() {
        input.lock().read_line(&mut line)?;
        return Ok(without_newline(line));
    }
    let before = tcgetattr(&input)?;
    let mut hidden = before.clone();
    hidden.local_modes.remove(LocalModes::ECHO);
    write!(io::stderr(), "Password: ")?;
    tcsetattr(&input, OptionalActions::Flush, &hidden)?;
    let done = input.lock().read_line(&mut line);
    tcsetattr(&input, OptionalActions::Flush, &before)?;
    writeln!(io::stderr())?;
    done.map(|_| without_newline(line))
}

fn without_newline(mut line: String) -> String {
    line.truncate(line.trim_end_matches(['\r', '\n']).len());
    line
}
