//! A claim is written down as logs, snapshots and databases have it, and read from there.
#![allow(clippy::unwrap_used, reason = "what cannot fail here fails the test if it does")]

use claims::{
    ClaimId, Command, Data, Farewell, KeyHash, Limit, Name, Owner, Record, Registration, Resources,
    Rules, Stamp, State, Timestamp, Ttl, WallTime, engine,
};

/// One that is over, one with everything that a claim can have, one that asked again, and a holder.
fn state() -> State {
    let mut state = State::new(Rules::default());
    let mut take = |secs: u64, command: Command| {
        let stamp = Stamp { at: Timestamp::from_micros(secs * 1_000_000), wall: WallTime(secs) };
        let _yes_or_no = engine::execute(&mut state, command, stamp, &mut Vec::new());
    };
    let owner = |id: u8| Owner { claim: ClaimId(id.into()), key: KeyHash([id; 16]) };
    let wish = |id: u8, names: &[&str]| {
        let names: Vec<Name> = names.iter().map(|name| Name::new(name).unwrap()).collect();
        Command::Register(Registration {
            key: owner(id).key,
            resources: Resources::try_from(names).unwrap(),
            limit: if id == 3 { Limit::SHARED } else { Limit::EXCLUSIVE },
            ttl: Ttl::from_secs_f64(60.0).unwrap(),
            data: (id == 2).then(|| Data::new("{\"who\":\"two\"}").unwrap()),
        })
    };
    take(1, wish(1, &["r"]));
    take(2, wish(2, &["r", "s"]));
    take(3, wish(3, &["r"]));
    take(4, Command::Appoint(owner(2), KeyHash([9; 16])));
    take(7, Command::Activate(owner(3)));
    take(8, Command::End(owner(1), Farewell::Release));
    take(9, wish(4, &["q"]));
    state
}

/// Their ids, their keys, and the rest, as stores have them since there are any.
const WRITTEN: [&str; 4] = [
    "01 01010101010101010101010101010101 01017201808ece1cc0843d01020080a4e803080101c0843d0100",
    "02 02020202020202020202020202020202 020172017301808ece1c80897a020080897a000180b2b62001010d7b2277686f223a2274776f227d0109090909090909090909090909090909",
    "03 03030303030303030303030303030303 010172ffffffff0f808ece1cc08db7010300c09fab038092f4010000",
    "04 04040404040404040404040404040404 01017101808ece1cc0a8a504090102c0a8a50409808ece1cc0b6f3200000",
];

#[test]
fn claims_are_written_and_read_as_they_have_always_been() {
    let state = state();
    let records: Vec<Record> = state.records_after(None).map(Record::cloned).collect();
    assert_eq!(records.len(), WRITTEN.len());
    for (record, written) in records.iter().zip(WRITTEN) {
        let bytes = postcard::to_allocvec(&record.borrowed()).unwrap();
        let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hex, written.replace(' ', ""));
        assert_eq!(&postcard::from_bytes::<Record>(&bytes).unwrap(), record);
    }
}
