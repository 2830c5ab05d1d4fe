//! What can happen between a worker and the server. The way to the witness stays open, so whoever
//! acts late is seen.

use fastrand::Rng;

use super::{Fault, Fit, longer_than};
use crate::crew::Crew;
use crate::network::{Lost, hurry, lose, mend, slow};

pub(super) const CUT: Fault<Crew> = Fault {
    name: "partition",
    about: "nothing passes between a worker and the server",
    fits,
    strike: |crew, dice| drop_packets(crew, dice, Lost::All),
};

pub(super) const REQUESTS: Fault<Crew> = Fault {
    name: "lost-requests",
    about: "what a worker sends is lost, what the server sends arrives",
    fits,
    strike: |crew, dice| drop_packets(crew, dice, Lost::Requests),
};

pub(super) const ANSWERS: Fault<Crew> = Fault {
    name: "lost-answers",
    about: "what a worker sends arrives, what the server sends is lost",
    fits,
    strike: |crew, dice| drop_packets(crew, dice, Lost::Answers),
};

pub(super) const LOSS: Fault<Crew> = Fault {
    name: "loss",
    about: "a third of all packets between a worker and the server is lost",
    fits,
    strike: |crew, dice| drop_packets(crew, dice, Lost::Percent(30)),
};

pub(super) const DELAY: Fault<Crew> = Fault {
    name: "delay",
    about: "what a worker sends takes up to seconds",
    fits: |crew| {
        let try_out = |space: &String| slow(space).and_then(|()| hurry(space)).is_ok();
        let is_slow = crew.seats[0].space.as_ref().is_some_and(try_out);
        Fit::given(is_slow, "tc cannot make a way slow here")
    },
    strike: |crew, dice| {
        let Some(space) = somebody(crew, dice) else { return Ok(()) };
        slow(&space)?;
        longer_than(crew.brief.ttl, dice);
        hurry(&space)
    },
};

fn drop_packets(crew: &mut Crew, dice: &mut Rng, lost: Lost) -> anyhow::Result<()> {
    let Some(space) = somebody(crew, dice) else { return Ok(()) };
    let server = crew.brief.server.split(':').next().unwrap_or_default();
    lose(&space, server, lost)?;
    longer_than(crew.brief.ttl, dice);
    mend(&space)
}

fn somebody(crew: &Crew, dice: &mut Rng) -> Option<String> {
    crew.seats[dice.usize(0..crew.seats.len())].space.clone()
}

fn fits(crew: &Crew) -> Fit {
    let Some(space) = &crew.seats[0].space else {
        return Fit::NotHere("network namespaces are not permitted here".to_owned());
    };
    let tried = lose(space, "127.0.0.1", Lost::All).and_then(|()| mend(space));
    Fit::given(tried.is_ok(), "nftables is not installed, or the kernel has none")
}
