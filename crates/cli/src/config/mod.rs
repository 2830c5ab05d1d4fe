//! Where a setting comes from: a flag, else a `TENURE_*` variable, else the configuration file, else
//! the default.
//!
//! A setting is one field with `#[arg(long, env = "TENURE_…")]` in the arguments of `serve`, and that
//! is all: its flag is its key in the file. The file only changes the *default* of a flag before the
//! command line is read, so every way of saying a value has the same names, the same limits and the
//! same words for what is wrong with it.

mod file;
mod print;
mod span;

use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command};

pub(crate) use self::file::File;
pub(crate) use self::print::print;
pub(crate) use self::span::{Keep, Span, parse_bool};

/// The arguments of `serve` that are not settings: they say where settings are.
const NOT_SETTINGS: [&str; 3] = ["config", "print_config", "help"];

/// The settings of a command, in the order of its help.
pub(crate) fn settings(command: &Command) -> impl Iterator<Item = &Arg> {
    command
        .get_arguments()
        .filter(|arg| arg.get_long().is_some() && !NOT_SETTINGS.contains(&arg.get_id().as_str()))
}

/// The name of a setting: of its flag, and of its key in the file.
pub(crate) fn key(setting: &Arg) -> &str {
    setting.get_long().expect("a setting has a flag")
}

/// The variable of a setting.
pub(crate) fn variable(setting: &Arg) -> String {
    setting.get_env().expect("a setting has a variable").to_string_lossy().into_owned()
}

/// The command with the values of a file for its defaults.
pub(crate) fn with_defaults(mut command: Command, file: &File) -> Command {
    for entry in &file.entries {
        let values = entry.values.clone();
        command = command.mut_arg(&entry.id, |arg| arg.default_values(values));
    }
    command
}

/// Where the value of a setting came from, in words.
fn origin(setting: &Arg, matches: &ArgMatches, file: Option<&File>) -> String {
    let id = setting.get_id().as_str();
    match matches.value_source(id) {
        Some(ValueSource::CommandLine) => format!("from --{}", key(setting)),
        Some(ValueSource::EnvVariable) => format!("from {}", variable(setting)),
        _ => match file.and_then(|file| Some((file, file.entry(id)?))) {
            Some((file, entry)) => format!("from {}, line {}", file.path.display(), entry.line),
            None => "default".into(),
        },
    }
}
