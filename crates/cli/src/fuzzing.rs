//! Ways in for the fuzzer: what a file or a pipe would bring, without either.

use std::path::Path;

use clap::{Command, CommandFactory, FromArgMatches};
use tenure::keychain::Request;

use crate::{Arguments, config, keychain, serve, watch};

thread_local! {
    /// All its flags with their words: to put that together takes longer than to read a file.
    static SERVE: Command = {
        let mut command = Arguments::command();
        command.find_subcommand_mut("serve").expect("there is such a command").clone()
    };
}

/// Reads a configuration as `serve` does, the command line being empty, up to what it means.
pub fn configuration(text: &str) -> Result<(), String> {
    SERVE.with(|known| configuration_of(known, text))
}

fn configuration_of(known: &Command, text: &str) -> Result<(), String> {
    let words = |error: anyhow::Error| format!("{error:#}");
    let file = config::File::parse(Path::new("config.toml"), text, known).map_err(words)?;
    let serve = config::with_defaults(known.clone(), &file).no_binary_name(true);
    let matches = serve.try_get_matches_from([""; 0]).map_err(|error| error.to_string())?;
    let wish = serve::Serve::from_arg_matches(&matches).map_err(|error| error.to_string())?;
    wish.settings.options().map_err(words)?;
    let _ = wish.settings.config(Vec::new());
    Ok(())
}

/// Reads what a program says to its keychain, to the end of the last line.
pub fn keychain_lines(input: &[u8]) -> Vec<Result<Request, String>> {
    keychain::input::lines(input).collect()
}

/// Reads the events of a stream that comes in these pieces, each in words.
pub fn event_stream<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<String> {
    watch::stream::heard(pieces)
}
