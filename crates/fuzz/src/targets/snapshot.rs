//! Snapshots of the embedded store. Damage to one is noticed, and what is opened without it is what
//! was written up to some commit.

use crate::disk::Disk;
use crate::source::Source;
use crate::written::{Digest, SALT, Written, checksum, damage, go_on, open};

thread_local! {
    /// With snapshots, and with the whole log but none: a short one, for it is read again each time.
    static WRITTEN: [Written; 2] = [Written::new(60, 1_500), Written::new(20, u64::MAX)];
}

/// The first byte says what is done: damage to snapshots and the log after them, a snapshot as it
/// is, or one whose checksums are made right.
pub(crate) fn run(input: &[u8]) {
    let mut source = Source::new(input);
    WRITTEN.with(|[snapshots, whole]| match source.below(3) {
        0 => {
            let disk = snapshots.disk.image();
            damage(&disk, &mut source);
            prefix_of(snapshots, &disk);
        }
        1 => {
            let disk = whole.disk.image();
            disk.put("snapshot-0000000000000007", source.rest().to_vec());
            prefix_of(whole, &disk);
        }
        _ => {
            let disk = whole.disk.image();
            let (sequence, snapshot) = sealed(&mut source);
            disk.put(&format!("snapshot-{sequence:016x}"), snapshot);
            if let Some(ledger) = open(&disk) {
                let _ = Digest::of(ledger.state());
            }
        }
    });
}

fn prefix_of(written: &Written, disk: &Disk) {
    if let Some(ledger) = open(disk) {
        let found = Digest::of(ledger.state());
        assert!(written.history.contains(&found), "this was never written");
        go_on(ledger, disk);
    }
}

/// A snapshot that is whole, whatever it says, and the frame that it includes.
fn sealed(source: &mut Source<'_>) -> (u64, Vec<u8>) {
    let (strange, sequence) = (source.byte(), u64::from(source.byte()));
    let mut field = |bit: u8, usual: u64| match strange >> bit & 1 {
        0 => usual,
        _ => source.number(),
    };
    let sequence = field(0, sequence);
    let numbers = [sequence, field(1, 90), field(2, 9), field(3, 9), field(4, 90), field(5, 90)];
    let epoch = field(6, 0) as u32;
    let mut snapshot = b"tenursnp\x01\0\0\0".to_vec();
    snapshot.extend(epoch.to_le_bytes());
    snapshot.extend(SALT);
    snapshot.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
    snapshot.resize(92, 0);
    snapshot.extend(crc32c::crc32c(&snapshot).to_le_bytes());
    let count = u64::from(source.byte());
    while !source.is_empty() {
        let block = source.some();
        snapshot.extend((block.len() as u32).to_le_bytes());
        snapshot.extend(checksum(&[block]));
        snapshot.extend(block);
    }
    snapshot.extend([0; 4]);
    snapshot.extend(checksum(&[&count.to_le_bytes()]));
    snapshot.extend(count.to_le_bytes());
    (sequence, snapshot)
}
