//! What may happen in a long history.

use claims::Farewell;
use proptest::prelude::*;

use crate::reference::Time;

pub(crate) const NAMES: [&str; 3] = ["a", "b", "c"];

const SECOND: Time = 1_000_000;

/// One step.
#[derive(Debug, Clone)]
pub(crate) enum Act {
    Register(Wish),
    /// The registration of an earlier claim comes again.
    RegisterAgain(usize),
    /// A registration under the key of an earlier claim, with terms of its own.
    RegisterUnder(usize, Wish),
    Poll(Who),
    /// Asks, and stays to be told.
    Wait(Who),
    Leave(Who),
    Renew(Who, Option<Time>),
    End(Who, Farewell),
    Appoint(Who, u64),
    Revoke(usize),
    Pass(Time),
    Sweep,
    Restart,
    BeginEpoch,
}

#[derive(Debug, Clone)]
pub(crate) struct Wish {
    pub(crate) names: Vec<&'static str>,
    pub(crate) limit: u32,
    pub(crate) ttl: Time,
}

/// Somebody who asks about a claim, counted from the newest; there may be none so far back.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Who {
    pub(crate) back: usize,
    pub(crate) key: Key,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Key {
    Own,
    /// One that is appointed now and then.
    Keeper(u64),
    Stranger,
}

pub(crate) fn acts() -> impl Strategy<Value = Act> {
    let farewell = prop_oneof![
        4 => Just(Farewell::Release),
        1 => Just(Farewell::Abort),
        2 => Just(Farewell::Withdraw),
    ];
    prop_oneof![
        12 => wish().prop_map(Act::Register),
        2 => back().prop_map(Act::RegisterAgain),
        1 => (back(), wish()).prop_map(|(back, wish)| Act::RegisterUnder(back, wish)),
        14 => who().prop_map(Act::Poll),
        6 => who().prop_map(Act::Wait),
        3 => who().prop_map(Act::Leave),
        6 => (who(), prop::option::of(ttl())).prop_map(|(who, ttl)| Act::Renew(who, ttl)),
        12 => (who(), farewell).prop_map(|(who, farewell)| Act::End(who, farewell)),
        1 => (who(), 0..4u64).prop_map(|(who, keeper)| Act::Appoint(who, keeper)),
        1 => back().prop_map(Act::Revoke),
        16 => span().prop_map(Act::Pass),
        6 => Just(Act::Sweep),
        1 => Just(Act::Restart),
        1 => Just(Act::BeginEpoch),
    ]
}

fn wish() -> impl Strategy<Value = Wish> {
    let limit = prop_oneof![3 => Just(1), 2 => Just(2), 1 => Just(3), 2 => Just(u32::MAX)];
    let names = prop_oneof![
        3 => prop::sample::subsequence(&NAMES[..], 1),
        2 => prop::sample::subsequence(&NAMES[..], 2),
        1 => Just(NAMES.to_vec()),
    ];
    (names.prop_shuffle(), limit, ttl()).prop_map(|(names, limit, ttl)| Wish { names, limit, ttl })
}

/// Mostly recent claims: the old ones are over.
fn back() -> impl Strategy<Value = usize> {
    prop_oneof![8 => 0..6usize, 2 => 6..16usize, 1 => 16..200usize]
}

fn who() -> impl Strategy<Value = Who> {
    let key = prop_oneof![
        20 => Just(Key::Own),
        2 => (0..4u64).prop_map(Key::Keeper),
        1 => Just(Key::Stranger),
    ];
    (back(), key).prop_map(|(back, key)| Who { back, key })
}

fn ttl() -> impl Strategy<Value = Time> {
    let seconds = prop_oneof![
        1 => Just(0),
        4 => 1..20u64,
        4 => 20..100u64,
        1 => 100..4000u64,
    ];
    prop_oneof![
        20 => (seconds, 0..7u64).prop_map(|(seconds, micros)| seconds * SECOND + micros),
        1 => Just(Time::MAX),
    ]
}

/// Instants, polling gaps, and now and then a silence longer than anything is kept for.
fn span() -> impl Strategy<Value = Time> {
    prop_oneof![
        3 => 0..5u64,
        8 => 1..5 * SECOND,
        8 => 5 * SECOND..70 * SECOND,
        3 => 60 * SECOND..400 * SECOND,
        1 => 3_000 * SECOND..9_000 * SECOND,
    ]
}
