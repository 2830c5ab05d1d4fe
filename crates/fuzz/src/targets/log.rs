//! The log of the embedded store. Whatever happened to its files, it is refused as damaged, or what
//! is read is what was written up to some commit; bytes of others are no log at all.

use crate::disk::Disk;
use crate::source::Source;
use crate::written::{
    Digest, SEGMENT, Written, checksum, damage, filled, go_on, identity, open, segment_header,
};

thread_local! {
    static WRITTEN: Written = Written::new(60, u64::MAX);
}

/// The first byte says what is done: damage to a log, a segment as it is, or frames whose checksums
/// are made right.
pub(crate) fn run(input: &[u8]) {
    let mut source = Source::new(input);
    WRITTEN.with(|written| match source.below(3) {
        0 => damaged(written, &mut source),
        1 => {
            let disk = disk(written, filled([segment_header(), source.rest().to_vec()].concat()));
            // Nobody who does not know the salt can write a frame.
            if let Some(ledger) = open(&disk) {
                assert!(Digest::of(ledger.state()) == written.history[0], "bytes of nobody count");
                go_on(ledger, &disk);
            }
        }
        _ => {
            let (segment, events) = sealed(&mut source);
            let disk = disk(written, segment);
            if let Some(ledger) = open(&disk) {
                let _ = Digest::of(ledger.state());
                assert!(ledger.position() >= events, "each event was counted once");
            }
        }
    });
}

fn damaged(written: &Written, source: &mut Source<'_>) {
    let disk = written.disk.image();
    damage(&disk, source);
    if let Some(ledger) = open(&disk) {
        let found = Digest::of(ledger.state());
        assert!(written.history.contains(&found), "this was never written");
        go_on(ledger, &disk);
    }
}

fn disk(written: &Written, segment: Vec<u8>) -> Disk {
    let disk = Disk::default();
    disk.put("identity", identity(&written.disk));
    disk.put(SEGMENT, segment);
    disk
}

/// A segment of frames that are whole, whatever they say, and how many events are in them.
fn sealed(source: &mut Source<'_>) -> (Vec<u8>, u64) {
    let mut segment = segment_header();
    let (mut nth, mut events) = (0_u64, 0);
    while !source.is_empty() {
        nth += 1;
        let (strange, body) = (source.byte(), source.some());
        let mut field = |bit: u8, usual: u64| match strange >> bit & 1 {
            0 => usual,
            _ => source.number(),
        };
        let numbers =
            [field(0, nth), field(1, nth - 1), field(2, events), field(3, nth), field(4, 0)];
        let epoch = field(5, 0) as u32;
        let mut frame = b"tnr\x01".to_vec();
        frame.extend((body.len() as u32).to_le_bytes());
        frame.extend([0; 4]);
        frame.extend(epoch.to_le_bytes());
        frame.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
        frame.extend(body);
        let sum = checksum(&[&frame[..8], &frame[12..]]);
        frame[8..12].copy_from_slice(&sum);
        segment.extend(frame);
        events += count(body);
    }
    (filled(segment), events)
}

/// How many events these bytes are, as far as they are any.
fn count(mut body: &[u8]) -> u64 {
    let mut count = 0;
    while let Ok((_, rest)) = postcard::take_from_bytes::<claims::Event>(body) {
        (count, body) = (count + 1, rest);
    }
    count
}
