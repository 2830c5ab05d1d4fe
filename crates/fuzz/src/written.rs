//! A log that was written, what it said after each commit, and what can happen to it since.

use claims::{
    ClaimId, Command, Counters, Farewell, Fence, KeyHash, Limit, Name, Owner, Registration,
    Resources, Rules, Span, State, Status, Ttl, WallTime,
};
use registry::StoreError;
use registry::embedded::{Ledger, Medium, Options, Reading};

use crate::disk::Disk;
use crate::source::Source;

/// What is mixed into every checksum of the store.
pub(crate) const SALT: [u8; 16] = *b"salt of the disk";

/// What must survive, as far as a start does not change it: numbers, and where each claim stands.
#[derive(PartialEq)]
pub(crate) struct Digest(Counters, Vec<(ClaimId, Status, Option<Fence>)>);

impl Digest {
    pub(crate) fn of(state: &State) -> Self {
        let fence = |claim: &claims::Claim| claim.activation().map(|activation| activation.fence);
        let claims = state.claims_after(None);
        let claims = claims.map(|claim| (claim.id, claim.status(), fence(claim)));
        Self(state.counters(), claims.collect())
    }
}

/// A store that was written.
pub(crate) struct Written {
    pub(crate) disk: Disk,
    /// What it said after each commit, the first of nothing at all.
    pub(crate) history: Vec<Digest>,
}

impl Written {
    /// A store with a history of so many commits, and a snapshot after every so many bytes of it.
    pub(crate) fn new(commits: u8, snapshot_after: u64) -> Self {
        let disk = Disk::default();
        let options = Options { snapshot_after, ..options() };
        let mut ledger = Ledger::open(disk.clone(), options, reading(1)).expect("a new store");
        let mut history = vec![Digest::of(ledger.state())];
        for nth in 0..commits {
            ledger.tick(reading(2 + u64::from(nth)));
            let owner = |id: u8| Owner { claim: ClaimId(u64::from(id)), key: KeyHash([id; 16]) };
            // Most are claimed for the first time, some wait, some go on or end.
            let answer = match nth % 4 {
                3 => ledger.execute(Command::End(owner(nth / 2), Farewell::Release)),
                2 => ledger.execute(Command::Renew(owner(nth / 3), None)),
                _ => ledger.execute(Command::Register(wish(nth / 4 * 2 + nth % 4 + 1))),
            };
            answer.map(drop).expect("the disk has room");
            ledger.commit().map(drop).expect("the disk works");
            history.push(Digest::of(ledger.state()));
            while let Some(chore) = ledger.next_chore() {
                ledger.finish(chore.run()).expect("the disk works");
            }
        }
        Self { disk, history }
    }
}

fn wish(nth: u8) -> Registration {
    let name = |nth: u8| Name::new(&format!("resource-{}", nth % 7)).expect("a name");
    let resources = match nth % 3 {
        0 => Resources::try_from(vec![name(nth), name(nth + 1)]).expect("two names"),
        _ => Resources::one(name(nth)),
    };
    Registration {
        key: KeyHash([nth; 16]),
        resources,
        limit: if nth.is_multiple_of(5) { Limit::SHARED } else { Limit::EXCLUSIVE },
        ttl: Ttl::from_secs_f64(600.0).expect("ten minutes"),
        data: None,
    }
}

/// Small, so that there are several segments.
pub(crate) fn options() -> Options {
    Options {
        rules: Rules { events_max: 16, ..Rules::default() },
        segment_bytes: 8 << 10,
        snapshot_after: u64::MAX,
        snapshot_slice: 3,
        salt: SALT,
        ..Options::default()
    }
}

pub(crate) fn reading(secs: u64) -> Reading {
    Reading { boot: Span::from_secs(secs), wall: WallTime(secs * 1_000) }
}

/// Opens what is left. A refusal says that it is damaged, and where.
pub(crate) fn open(disk: &Disk) -> Option<Ledger<Disk>> {
    match Ledger::open(disk.clone(), options(), reading(100)) {
        Ok(ledger) => Some(ledger),
        Err(StoreError::Corrupt(why)) => {
            assert!(!why.is_empty());
            None
        }
        Err(error) => panic!("the disk works, and this is no damage: {error}"),
    }
}

/// Damages some files, as the source says.
pub(crate) fn damage(disk: &Disk, source: &mut Source<'_>) {
    while !source.is_empty() {
        let kind = source.below(8);
        let name = source.pick(&disk.names());
        let mut bytes = disk.read(&name).expect("it is there");
        if bytes.is_empty() {
            continue;
        }
        let at = source.below(bytes.len());
        let end = (at + 1 + source.below(256)).min(bytes.len());
        match kind {
            0 => bytes[at] ^= 1 << source.below(8),
            1 => bytes[at..end].fill(0),
            2 => bytes[at..end].fill(source.byte()),
            3 => bytes.truncate(at),
            4 => bytes.extend(source.some()),
            5 => {
                let to = source.below(bytes.len() - (end - at) + 1);
                bytes.copy_within(at..end, to);
            }
            6 => {
                let (new, room) = (source.some(), bytes.len() - at);
                bytes[at..at + new.len().min(room)].copy_from_slice(&new[..new.len().min(room)]);
            }
            _ => {
                if name != "identity" && disk.names().len() > 2 {
                    disk.remove(&name).expect("it is there");
                }
                continue;
            }
        }
        disk.put(&name, bytes);
    }
}

/// Goes on with a store that was opened: it takes a claim, and keeps it.
pub(crate) fn go_on(mut ledger: Ledger<Disk>, disk: &Disk) {
    ledger.tick(reading(101));
    let key = KeyHash([255; 16]);
    let wish = Registration {
        key,
        resources: Resources::one(Name::new("new").expect("a name")),
        ..wish(1)
    };
    let answer = ledger.execute(Command::Register(wish)).expect("the disk has room");
    let claim = answer.expect("nobody has it").claim.id;
    ledger.commit().map(drop).expect("the disk works");
    drop(ledger);
    let again = open(disk).expect("what was just written can be read");
    let kept = again.state().claim(claim).expect("what was acknowledged is kept");
    assert_eq!(kept.status(), Status::Active);
}

/// The name and the header of the first segment.
pub(crate) const SEGMENT: &str = "log-0000000000000001";

pub(crate) fn segment_header() -> Vec<u8> {
    let mut header = b"tenurlog\x01\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0".to_vec();
    header.extend(SALT);
    header.resize(60, 0);
    header.extend(crc32c::crc32c(&header).to_le_bytes());
    header
}

/// A checksum as frames and blocks have it.
pub(crate) fn checksum(parts: &[&[u8]]) -> [u8; 4] {
    let sum = crc32c::crc32c(&SALT);
    parts.iter().fold(sum, |sum, part| crc32c::crc32c_append(sum, part)).to_le_bytes()
}

/// Fills the rest of a segment with zeros, as it was made.
pub(crate) fn filled(mut segment: Vec<u8>) -> Vec<u8> {
    segment.resize(segment.len().max(8 << 10), 0);
    segment
}

/// For a file that has to be there and be sound.
pub(crate) fn identity(disk: &Disk) -> Vec<u8> {
    disk.read("identity").expect("every store has one")
}
