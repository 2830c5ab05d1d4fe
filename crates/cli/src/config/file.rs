//! The configuration file: TOML, one key a setting, and nothing that is not understood.

use std::io;
use std::path::{Path, PathBuf};

use clap::{Arg, ArgAction, Command};
use toml::de::{DeTable, DeValue};

use super::{key, settings};
use crate::exit::{Exit, OrExit};

/// A file that was read, checked against the settings there are.
pub(crate) struct File {
    pub(crate) path: PathBuf,
    pub(super) entries: Vec<Entry>,
}

/// One setting in a file.
pub(super) struct Entry {
    pub(super) id: String,
    pub(super) values: Vec<String>,
    pub(super) line: usize,
}

impl File {
    /// The file that was named, else the first that is there: the user's, then the machine's.
    pub(crate) fn find(named: Option<&Path>, command: &Command) -> anyhow::Result<Option<Self>> {
        if let Some(path) = named {
            let text = std::fs::read_to_string(path).or_exit(Exit::Config, || {
                format!("cannot read {}: check --config or TENURE_CONFIG", path.display())
            })?;
            return Self::parse(path, &text, command).map(Some);
        }
        for path in usual_places() {
            match std::fs::read_to_string(&path) {
                Ok(text) => return Self::parse(&path, &text, command).map(Some),
                Err(error) if is_absent(&error) => {}
                Err(error) => {
                    return Err(error).or_exit(Exit::Config, || {
                        format!("cannot read {}: make it readable, or remove it", path.display())
                    });
                }
            }
        }
        Ok(None)
    }

    pub(crate) fn parse(path: &Path, text: &str, command: &Command) -> anyhow::Result<Self> {
        let line_of = |at: usize| text[..at.min(text.len())].matches('\n').count() + 1;
        let wrong = |at: usize, said: String| {
            Exit::Config.because(format!("{}, line {}: {said}", path.display(), line_of(at)))
        };
        let table = DeTable::parse(text).map_err(|error| {
            wrong(error.span().map_or(0, |span| span.start), error.message().into())
        })?;
        let mut entries = Vec::new();
        for (name, value) in table.get_ref().iter() {
            let at = name.span().start;
            let setting = find(command, name.get_ref()).map_err(|said| wrong(at, said))?;
            let values = values(setting, value.get_ref()).map_err(|said| wrong(at, said))?;
            try_out(command, setting, &values).map_err(|said| wrong(at, said))?;
            let id = setting.get_id().to_string();
            entries.push(Entry { id, values, line: line_of(at) });
        }
        Ok(Self { path: path.to_owned(), entries })
    }

    pub(super) fn entry(&self, id: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.id == id)
    }
}

fn usual_places() -> Vec<PathBuf> {
    let named = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let user = named("XDG_CONFIG_HOME").or_else(|| Some(named("HOME")?.join(".config")));
    let mut places = Vec::new();
    places.extend(user.map(|user| user.join("tenure/config.toml")));
    places.push("/etc/tenure/config.toml".into());
    places
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn find<'a>(command: &'a Command, name: &str) -> Result<&'a Arg, String> {
    if let Some(setting) = settings(command).find(|setting| key(setting) == name) {
        return Ok(setting);
    }
    let nearest = settings(command)
        .map(key)
        .max_by(|a, b| strsim::jaro(a, name).total_cmp(&strsim::jaro(b, name)))
        .unwrap_or_default();
    Err(format!(
        "there is no setting {name:?}; the nearest is {nearest:?} (`tenure serve --print-config` \
         lists all)"
    ))
}

/// A value as the command line would have it.
fn values(setting: &Arg, value: &DeValue<'_>) -> Result<Vec<String>, String> {
    let one = |value: &DeValue<'_>| match value {
        DeValue::String(text) => Ok(text.to_string()),
        DeValue::Integer(number) if number.radix() == 10 => Ok(number.as_str().to_owned()),
        DeValue::Float(number) => Ok(number.as_str().to_owned()),
        DeValue::Boolean(truth) => Ok(truth.to_string()),
        DeValue::Integer(_) | DeValue::Datetime(_) | DeValue::Array(_) | DeValue::Table(_) => {
            Err(format!("{} cannot be a {}", key(setting), value.type_str()))
        }
    };
    match (value, setting.get_action()) {
        (DeValue::Array(list), ArgAction::Append) => {
            list.iter().map(|value| one(value.get_ref())).collect()
        }
        (value, _) => Ok(vec![one(value)?]),
    }
}

/// Lets the command line's own rules judge the value, alone.
fn try_out(command: &Command, setting: &Arg, values: &[String]) -> Result<(), String> {
    let alone = Command::new("serve").no_binary_name(true).arg(setting.clone().env(None));
    debug_assert!(settings(command).any(|known| known.get_id() == setting.get_id()));
    let flags = values.iter().map(|value| format!("--{}={value}", key(setting)));
    match alone.try_get_matches_from(flags) {
        Ok(_) => Ok(()),
        Err(error) => {
            let said = error.to_string();
            let said = said.lines().next().unwrap_or_default().trim_start_matches("error: ");
            Err(said.to_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command() -> Command {
        Command::new("serve")
            .arg(
                Arg::new("list_max")
                    .long("list-max")
                    .env("TENURE_LIST_MAX")
                    .value_parser(clap::value_parser!(u16)),
            )
            .arg(Arg::new("host").long("host").env("TENURE_HOST").action(ArgAction::Append))
    }

    fn said(text: &str) -> String {
        match File::parse(Path::new("f.toml"), text, &command()) {
            Ok(_) => String::new(),
            Err(error) => format!("{error:#}"),
        }
    }

    #[test]
    fn what_is_wrong_is_said_with_file_line_and_the_nearest_key() {
        assert_eq!(said("list-max = 7\nhost = ['a', 'b']\n"), "");
        let text = said("\nlist_max = 7\n");
        assert!(
            text.starts_with(
                "f.toml, line 2: there is no setting \"list_max\"; the nearest is \"list-max\""
            ),
            "{text}"
        );
        let text = said("host = 'a'\nlist-max = 99999\n");
        assert!(
            text.starts_with("f.toml, line 2: invalid value '99999' for '--list-max"),
            "{text}"
        );
        assert!(said("list-max = 1\nlist-max = 2\n").starts_with("f.toml, line 2: "));
        assert!(said("list-max = \n").starts_with("f.toml, line 1: "));
        assert!(said("[list-max]\na = 1\n").contains("line 1: list-max cannot be a table"));
    }
}
