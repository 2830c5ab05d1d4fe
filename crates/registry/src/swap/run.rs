//! Making a decision true: open the drawers, decide, swap; again if somebody was faster.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use claims::{ClaimId, Command, Refusal, Span, Stamp};

use super::Core;
use super::cabinet::{Cabinet, Exchange, Key, Swapped};
use super::decide::{Act, Circumstances, Decision};
use super::drawer::Drawer;
use super::open::Fresh;
use super::slots::Source;
use crate::error::StoreError;
use crate::store::Answer;

/// How long a command is tried.
const PATIENCE: Duration = Duration::from_secs(10);

impl<C: Cabinet> Core<C> {
    pub(super) async fn obey(&self, command: Command) -> Result<Answer, StoreError> {
        if let Command::Register(registration) = &command
            && let count @ 2.. = registration.resources.as_slice().len()
            && !C::SEVERAL
        {
            return Ok(Err(Refusal::OneResourceOnly { count }));
        }
        let answer = self.run(Act::Obey(command)).await?;
        Ok(answer.expect("a command has an answer"))
    }

    /// Does something, and says what came of it. What nobody asked for has no answer.
    pub(super) async fn run(&self, act: Act) -> Result<Option<Answer>, StoreError> {
        let mut last = None;
        match tokio::time::timeout(PATIENCE, self.try_until_done(&act, &mut last)).await {
            Ok(done) => done,
            Err(_) => Err(last.unwrap_or_else(|| {
                StoreError::Unavailable(
                    "others kept changing the same record: try again later".into(),
                )
            })),
        }
    }

    async fn try_until_done(
        &self,
        act: &Act,
        last: &mut Option<StoreError>,
    ) -> Result<Option<Answer>, StoreError> {
        let mut keys = loop {
            match self.keys_of(act).await {
                Ok(Some(keys)) => break keys,
                Ok(None) => return Ok(Some(Err(unknown(act)))),
                Err(StoreError::Unavailable(why)) => *last = Some(StoreError::Unavailable(why)),
                Err(error) => return Err(error),
            }
            pause(6).await;
        };
        let slots: Vec<_> = keys.iter().map(|key| self.slots.get(key)).collect();
        let mut turns = Vec::new();
        for slot in &slots {
            turns.push(slot.turn.lock().await);
        }
        let registers = matches!(act, Act::Obey(Command::Register(_)));
        let mut fresh = Fresh { guessing: C::GUESSES && registers, ..Fresh::default() };
        let mut tried = None;
        for attempt in 0.. {
            match self.attempt(act, &mut keys, &mut fresh, &mut tried).await {
                Ok(Some(answer)) if is_forgotten(act, &answer) && tried.is_some() => {
                    return Ok(tried);
                }
                Ok(Some(answer)) => return Ok(answer),
                Ok(None) => pause(attempt).await,
                Err(error @ (StoreError::Unavailable(_) | StoreError::Unknown(_))) => {
                    // It may have happened, or not: look again.
                    fresh = Fresh::needed();
                    // One unknown outcome makes the whole of it unknown, until somebody can look.
                    if !matches!(last, Some(StoreError::Unknown(_))) {
                        *last = Some(error);
                    }
                    pause(attempt + 5).await;
                }
                Err(error) => return Err(error),
            }
        }
        unreachable!("it is tried until the time is over")
    }

    /// One try. None if somebody was faster, or what was known is not enough.
    async fn attempt(
        &self,
        act: &Act,
        keys: &mut BTreeSet<Key>,
        fresh: &mut Fresh,
        tried: &mut Option<Answer>,
    ) -> Result<Option<Option<Answer>>, StoreError> {
        let stamp = self.open(keys, fresh).await?;
        fresh.guessing = false;
        let opened = self.opened(keys, stamp);
        let mut circumstances = self.circumstances(stamp);
        if matches!(act, Act::Obey(Command::Register(_))) {
            circumstances.sequence = self.draw_sequence();
        }
        let Decision { answer, puts, born, forgotten, events } = circumstances.decide(&opened, act);
        if puts.is_empty() {
            // A no, or a nothing, must be true now; a sweep says nothing to anybody.
            let believed = opened.iter().all(|it| fresh.read.contains(&it.key));
            if believed || matches!(act, Act::Sweep(_)) {
                return Ok(Some(answer));
            }
            fresh.wanted = true;
            return Ok(None);
        }
        let exchange = Exchange {
            expected: opened.iter().map(|it| (it.key.clone(), it.version.clone())).collect(),
            puts: puts
                .iter()
                .map(|(key, drawer)| (key.clone(), drawer.as_ref().map(Drawer::write)))
                .collect(),
            floor: circumstances.floor,
            born,
            forgotten,
        };
        let swapped = self.cabinet.swap(exchange).await.map_err(|error| match error {
            StoreError::Unavailable(why) | StoreError::Unknown(why) => {
                tried.clone_from(&answer);
                StoreError::Unknown(why)
            }
            error @ (StoreError::Conflict | StoreError::Corrupt(_)) => error,
        });
        match swapped? {
            Swapped::Done(versions, position) => {
                for ((key, drawer), version) in puts.into_iter().zip(versions) {
                    let drawer = Arc::new(drawer.unwrap_or_default());
                    self.note(&key, version, drawer, stamp, Source::Own);
                }
                if let Some(position) = position.filter(|_| events) {
                    self.told.fetch_max(position + 1, Ordering::Relaxed);
                }
                self.commits().kept(1);
                let took = self.timeline.now().at.since(stamp.at);
                self.commits().synced(took);
                Ok(Some(answer))
            }
            Swapped::Conflict(Some(contents)) => {
                let keys = opened.into_iter().map(|it| it.key);
                self.take_in(keys.zip(contents), stamp, fresh)?;
                Ok(None)
            }
            Swapped::Conflict(None) => {
                *fresh = Fresh::needed();
                Ok(None)
            }
        }
    }

    /// The drawers that a command names. None if it names a claim that is nowhere.
    async fn keys_of(&self, act: &Act) -> Result<Option<BTreeSet<Key>>, StoreError> {
        let claim = match act {
            Act::Obey(Command::Register(registration)) => {
                let names = registration.resources.as_slice();
                return Ok(Some(names.iter().map(|name| self.cabinet.drawer(name)).collect()));
            }
            Act::Sweep(key) => return Ok(Some([key.clone()].into())),
            Act::Obey(command) => claim_of(command),
        };
        Ok(self.cabinet.find(claim).await?.map(|key| [key].into()))
    }

    pub(super) fn circumstances(&self, stamp: Stamp) -> Circumstances<'_, C> {
        let mut nonce = [0; 16];
        getrandom::fill(&mut nonce).expect("the system has random numbers");
        Circumstances {
            cabinet: &self.cabinet,
            rules: &self.rules,
            epoch: self.epoch,
            stamp,
            floor: self.cabinet.floor(),
            sequence: 0,
            nonce,
        }
    }

    /// A place after every claim that is known.
    fn draw_sequence(&self) -> u64 {
        self.sequence.fetch_max(self.cabinet.floor(), Ordering::Relaxed);
        self.sequence.fetch_add(1, Ordering::Relaxed) + 1
    }
}

fn claim_of(command: &Command) -> ClaimId {
    match command {
        Command::Register(_) => unreachable!("a registration names resources"),
        Command::Activate(owner)
        | Command::Leave(owner)
        | Command::Renew(owner, _)
        | Command::End(owner, _)
        | Command::Appoint(owner, _) => owner.claim,
        Command::Revoke(claim) => *claim,
    }
}

/// Whether a farewell finds no claim any more. Only what is over is forgotten: if it was tried before and
/// its outcome is not known, it has ended the claim, or the claim's lease has ended since. Either way what
/// was asked for is so, and what was tried is the answer.
fn is_forgotten(act: &Act, answer: &Option<Answer>) -> bool {
    matches!(act, Act::Obey(Command::End(..)))
        && matches!(answer, Some(Err(Refusal::Unknown { .. })))
}

fn unknown(act: &Act) -> Refusal {
    match act {
        Act::Obey(command) => Refusal::Unknown { claim: claim_of(command) },
        Act::Sweep(_) => unreachable!("a sweep names its drawer"),
    }
}

/// Longer from try to try, and different for everybody.
async fn pause(attempt: u32) {
    let most = 2_000u64 << attempt.min(7);
    tokio::time::sleep(super::timeline::duration(Span::from_micros(random_below(most)))).await;
}

/// A number below `bound`, different for everybody.
pub(super) fn random_below(bound: u64) -> u64 {
    getrandom::u64().expect("the system has random numbers") % bound.max(1)
}
