//! The thirteen rules of a claim, each sentence of them a test. The doc comment of a test names its
//! rule. Every step of every test also shows that the holders are legal and that the events alone
//! give the same state: see [`rules::world`].
#![allow(clippy::unwrap_used, reason = "what cannot fail here fails the test if it does")]

mod rules {
    mod world;

    mod limit_and_turn;
    mod present;

    mod lease;
    mod overdue;
    mod unswept;

    mod called;
    mod several;

    mod downtime;
    mod fence;
    mod key;
    mod memory;

    mod bounds;
    mod refusals;
}
