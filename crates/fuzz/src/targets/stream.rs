//! The stream of events of a server, as `tenure watch` reads it: however it is cut into pieces, it
//! says the same.

use cli::fuzzing::event_stream;

use crate::source::Source;

/// The first byte is the size of the pieces; the rest is the stream.
pub(crate) fn run(input: &[u8]) {
    let mut source = Source::new(input);
    let size = 1 + usize::from(source.byte());
    let stream = source.rest();
    let (whole, cut) = (event_stream([stream]), event_stream(stream.chunks(size)));
    assert_eq!(whole, cut, "in pieces of {size}");
}
