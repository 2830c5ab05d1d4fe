//! `--print-config`: the configuration in effect, as a file that could be read again.

use std::any::TypeId;

use clap::builder::ValueParser;
use clap::{Arg, ArgAction, ArgMatches, Command};

use super::{File, key, origin, settings};
use crate::out::Out;

pub(crate) fn print(
    out: &mut Out,
    command: &Command,
    matches: &ArgMatches,
    file: Option<&File>,
) -> anyhow::Result<()> {
    match file {
        Some(file) => out.line(format_args!("# read from {}", file.path.display()))?,
        None => out.line("# no configuration file was read")?,
    }
    for setting in settings(command) {
        out.line(line(setting, matches, &origin(setting, matches, file)))?;
    }
    Ok(())
}

fn line(setting: &Arg, matches: &ArgMatches, origin: &str) -> String {
    let key = key(setting);
    let raw = matches.get_raw(setting.get_id().as_str());
    // What must not be shown in the help must not be shown here.
    if setting.is_hide_env_values_set() && raw.is_some() {
        return format!("# {key} = (a secret, {origin})");
    }
    let values: Option<Vec<String>> =
        raw.map(|values| values.map(|value| shown(setting, &value.to_string_lossy())).collect());
    match (values, setting.get_action()) {
        (None, ArgAction::Append) => format!("{key} = []  # {origin}"),
        (None, _) => format!("# {key} is not set"),
        (Some(values), ArgAction::Append) => format!("{key} = [{}]  # {origin}", values.join(", ")),
        (Some(values), _) => format!("{key} = {}  # {origin}", values.join(", ")),
    }
}

/// A value in TOML: numbers and truth as they are, the rest quoted.
fn shown(setting: &Arg, value: &str) -> String {
    let parser: &ValueParser = setting.get_value_parser();
    let kind = parser.type_id();
    let numbers = [TypeId::of::<u64>(), TypeId::of::<usize>(), TypeId::of::<u32>()];
    if numbers.iter().any(|number| kind == *number) {
        return value.to_owned();
    }
    if kind == TypeId::of::<bool>() {
        return super::parse_bool(value)
            .map_or("false", |is| if is { "true" } else { "false" })
            .into();
    }
    quoted(value)
}

/// A basic string of TOML.
fn quoted(value: &str) -> String {
    let mut text = String::from('"');
    for c in value.chars() {
        match c {
            '"' | '\\' => text.extend(['\\', c]),
            c if c.is_control() => text += &format!("\\u{:04X}", u32::from(c)),
            c => text.push(c),
        }
    }
    text + "\""
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secret_is_never_printed() {
        let command = Command::new("serve")
            .arg(Arg::new("key").long("key").env("TENURE_KEY").hide_env_values(true));
        let matches = command.clone().try_get_matches_from(["serve", "--key", "hush"]).unwrap();
        let setting = settings(&command).next().unwrap();
        let line = line(setting, &matches, &origin(setting, &matches, None));
        assert_eq!(line, "# key = (a secret, from --key)");
    }

    #[test]
    fn text_is_quoted_so_that_it_reads_back() {
        for text in ["plain", "a \"b\" \\ c", "tab\tand\u{7f}", "ночь"] {
            let document = format!("key = {}", quoted(text));
            let table = toml::de::DeTable::parse(&document).unwrap();
            assert_eq!(table.get_ref()["key"].get_ref().as_str(), Some(text));
        }
    }
}
