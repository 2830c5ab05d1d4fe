//! Where claims are kept when nobody says: a file of the user's own, for all programs of this machine.

use std::ffi::OsString;
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;

use super::code::Stop;
use super::terms::usage;

/// The address of the user's own store. Its directory is made if it is not there.
pub(crate) fn store() -> Result<String, Stop> {
    let directory = directory(|name| std::env::var_os(name));
    let directory = directory.ok_or_else(|| {
        usage(&"neither XDG_STATE_HOME nor HOME is set: say with --at where the claim is kept")
    })?;
    // Who may write to it may hold what others want, and who may read it sees what they wrote down.
    let made = DirBuilder::new().recursive(true).mode(0o700).create(&directory);
    made.map_err(|error| Stop::system(&format!("cannot make {}", directory.display()), error))?;
    Ok(format!("sqlite:{}", directory.join("claims.db").display()))
}

fn directory(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let path = |name| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    // A path that is not absolute is to be ignored, says the specification.
    let state = path("XDG_STATE_HOME").filter(|state| state.is_absolute());
    let state = state.or_else(|| path("HOME").map(|home| home.join(".local/state")));
    Some(state?.join("tenure"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn state_directory_is_the_users() {
        let with = |state: &'static str, home: &'static str| {
            let found = directory(|name| Some(if name == "HOME" { home } else { state }.into()));
            found.map(|path| path.display().to_string())
        };
        assert_eq!(with("/s", "/h").as_deref(), Some("/s/tenure"));
        assert_eq!(with("", "/h").as_deref(), Some("/h/.local/state/tenure"));
        assert_eq!(with("relative", "/h").as_deref(), Some("/h/.local/state/tenure"));
        assert_eq!(with("", ""), None);
    }
}
