//! What the program says, line by line, at bounded cost.

use std::io::{self, BufRead, BufReader, Read};

use tenure::keychain::{LINE_BYTES_MAX, Request};
use tokio::sync::mpsc;

/// How many lines may wait to be followed.
const LINES_AHEAD: usize = 64;

/// One line: a request, or what is wrong with it.
pub(crate) struct Line {
    /// Its number, from 1.
    pub(crate) number: u64,
    pub(crate) request: Result<Request, String>,
}

/// Reads on a thread of its own, which ends with the input (or with the process).
pub(crate) fn start(input: impl Read + Send + 'static) -> io::Result<mpsc::Receiver<Line>> {
    let (sender, heard) = mpsc::channel(LINES_AHEAD);
    std::thread::Builder::new().name("input".into()).spawn(move || {
        for (number, request) in (1..).zip(lines(BufReader::new(input))) {
            if sender.blocking_send(Line { number, request }).is_err() {
                break;
            }
        }
    })?;
    Ok(heard)
}

/// Every line to the end of the input. A pipe that cannot be read is a pipe that has ended.
pub(crate) fn lines(mut input: impl BufRead) -> impl Iterator<Item = Result<Request, String>> {
    std::iter::from_fn(move || read_line(&mut input).ok().flatten())
        .map(|line| line.and_then(|line| understand(&line)))
}

fn understand(line: &[u8]) -> Result<Request, String> {
    Request::parse(line).map_err(|error| format!("this is no request: {error}"))
}

/// The next line, without its end; none at the end of the input. What is too long
/// is read to its end and thrown away.
fn read_line(input: &mut impl BufRead) -> io::Result<Option<Result<Vec<u8>, String>>> {
    let mut line = Vec::new();
    let mut length = 0;
    loop {
        let some = match input.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            some => some?,
        };
        if some.is_empty() {
            // A line without an end was not finished: whoever wrote it is gone.
            return Ok(None);
        }
        let end = some.iter().position(|byte| *byte == b'\n');
        let part = &some[..end.unwrap_or(some.len())];
        length += part.len();
        if length <= LINE_BYTES_MAX {
            line.extend_from_slice(part);
        }
        let used = part.len() + usize::from(end.is_some());
        input.consume(used);
        if end.is_some() {
            return Ok(Some(match length <= LINE_BYTES_MAX {
                true => Ok(line),
                false => {
                    Err(format!("a line has at most {LINE_BYTES_MAX} bytes, this one {length}"))
                }
            }));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{LINE_BYTES_MAX, read_line};

    #[test]
    fn lines_are_cut_at_their_ends_and_the_long_ones_are_thrown_away() {
        let long = "x".repeat(3 * LINE_BYTES_MAX);
        let just = "y".repeat(LINE_BYTES_MAX);
        let text = format!("one\n\n{long}\n{just}\nlast\nunfinished");
        let mut input = std::io::BufReader::with_capacity(1000, text.as_bytes());
        let mut next = || read_line(&mut input).expect("memory can be read");
        assert_eq!(next(), Some(Ok(b"one".to_vec())));
        assert_eq!(next(), Some(Ok(Vec::new())));
        assert!(matches!(next(), Some(Err(problem)) if problem.contains("393216")));
        assert_eq!(next(), Some(Ok(just.into_bytes())));
        assert_eq!(next(), Some(Ok(b"last".to_vec())));
        assert_eq!(next(), None);
    }
}
