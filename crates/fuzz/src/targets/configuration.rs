//! The configuration file of the server.

use cli::fuzzing::configuration;

use crate::source::text_of;

pub(crate) fn run(input: &[u8]) {
    let text = text_of(input);
    let Err(problem) = configuration(text) else { return };
    assert!(!problem.is_empty(), "whoever wrote it is told what is wrong");
    if let Some(rest) = problem.strip_prefix("config.toml, line ") {
        let line = rest.split(':').next().and_then(|line| line.parse::<usize>().ok());
        let line = line.expect("a line has a number");
        assert!((1..=text.lines().count() + 1).contains(&line), "{problem}");
    }
}
