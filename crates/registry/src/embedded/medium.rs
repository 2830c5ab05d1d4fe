//! All that the embedded store asks of the world below it: a flat directory of files.
//!
//! Narrow on purpose. The real one is `Directory`; the simulator has a twin that
//! loses, tears and flips what was not synced. Faults are injected here and nowhere above.

use std::io;

use claims::Span;

/// A flat directory. Copies of it are the same directory.
pub trait Medium: Clone {
    /// An open file.
    type File: MediumFile;

    /// The names of the files in it, in no particular order.
    fn list(&self) -> io::Result<Vec<String>>;
    /// The whole content of a file.
    fn read(&self, name: &str) -> io::Result<Vec<u8>>;
    /// A new file of `len` zero bytes that really take up their space; an old one of that name is
    /// replaced. Neither the bytes nor the name are durable yet.
    fn create(&self, name: &str, len: u64) -> io::Result<Self::File>;
    /// A file that exists, to write to.
    fn open(&self, name: &str) -> io::Result<Self::File>;
    /// Gives a file another name, replacing what had it. Durable after [`Medium::sync_names`].
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;
    /// Removes a file. Durable after [`Medium::sync_names`].
    fn remove(&self, name: &str) -> io::Result<()>;
    /// Makes creations, renames and removals durable.
    fn sync_names(&self) -> io::Result<()>;
    /// A number that a copy of the file does not have, where the file system knows one.
    fn birthmark(&self, name: &str) -> io::Result<u64>;
}

/// An open file. Copies of it are the same file.
pub trait MediumFile: Clone {
    /// Writes all of `bytes` at `offset`, growing the file if it must. Not durable yet.
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()>;
    /// Writes like [`MediumFile::write_at`] at the end of what the file has: behind it, to the end of
    /// the block, are only zeros. For records that are synced at once.
    fn append_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.write_at(offset, bytes)
    }
    /// Makes everything written to this file durable. After an error nothing is known about any of
    /// it, and asking again would prove nothing.
    fn sync(&self) -> io::Result<()>;
    /// [`MediumFile::sync`], and how long it took, by the medium's own clock, if it has one.
    fn sync_timed(&self) -> io::Result<Option<Span>> {
        self.sync().map(|()| None)
    }
}
