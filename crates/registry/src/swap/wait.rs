//! Waiting with a claimant until its turn comes.
//!
//! Nobody is made a holder but in answer to its own request (rule 3): whoever frees a resource *calls*
//! the next, wherever that waits, and the one who waits for it here asks when it sees the call.

use std::collections::HashMap;
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::Duration;

use claims::{ClaimId, Command, KeyHash, Owner, Phase, Refusal, Standing, Turn};
use tokio::sync::watch;
use tokio::time::Instant;

use super::Core;
use super::cabinet::{Cabinet, Key};
use super::decide::Act;
use super::run::random_below;
use super::slots::{Source, parsed};
use super::timeline::duration;
use crate::error::StoreError;
use crate::store::Answer;

/// Who stands further back in the queue leaves what is due to those in front.
const PLACE_BACK: Duration = Duration::from_millis(20);
/// A waiter is seen at least so many times before it would lapse.
const SEEN_TIMES: u32 = 4;

/// The newest wait for each key, with what tells it when it is not that any more.
pub(super) type Waits = HashMap<[u8; 16], Arc<watch::Sender<bool>>>;

/// One open wait. When a newer one is opened for the same claim, it is told.
pub(super) struct Wait<C: Cabinet> {
    core: Arc<Core<C>>,
    key: Option<KeyHash>,
    this: Arc<watch::Sender<bool>>,
}

impl<C: Cabinet> Drop for Wait<C> {
    fn drop(&mut self) {
        let Some(key) = self.key else { return };
        let mut waits = self.core.waits();
        if waits.get(&key.0).is_some_and(|newest| Arc::ptr_eq(newest, &self.this)) {
            waits.remove(&key.0);
        }
    }
}

/// How far a waiter has come, as far as is known here.
enum View {
    /// It has to be asked for: it is its turn, it was passed over, or it is not there any more.
    Ask,
    /// Something is due, perhaps the lease of whoever holds: to be done after so long, unless those
    /// in front were faster.
    Due(Duration),
    /// Nothing before then.
    Still(Duration),
}

impl<C: Cabinet> Core<C> {
    fn waits(&self) -> MutexGuard<'_, Waits> {
        self.waits.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn open_wait(self: &Arc<Self>, command: &Command) -> Wait<C> {
        let key = match command {
            Command::Register(registration) => Some(registration.key),
            Command::Activate(owner) => Some(owner.key),
            Command::Leave(_)
            | Command::Renew(..)
            | Command::End(..)
            | Command::Appoint(..)
            | Command::Revoke(_) => None,
        };
        let this = Arc::new(watch::Sender::new(false));
        if let Some(key) = key
            && let Some(before) = self.waits().insert(key.0, this.clone())
        {
            before.send_replace(true);
        }
        Wait { core: self.clone(), key, this }
    }

    pub(super) async fn submit_and_wait(
        self: Arc<Self>,
        command: Command,
        patience: Duration,
        wait: Wait<C>,
    ) -> Result<Answer, StoreError> {
        let until = Instant::now() + patience;
        let registered = matches!(command, Command::Register(_));
        let answer = self.obey(command).await?;
        let claim = match &answer {
            Ok(Standing { claim, place: Some(_), .. }) => claim.id,
            Err(Refusal::StillWaiting { claim, .. }) => *claim,
            _ => return Ok(answer),
        };
        let Some(key) = wait.key else { return Ok(answer) };
        self.begin_to_follow();
        let owner = Owner { claim, key };
        let mut replaced = wait.this.subscribe();
        let granted = tokio::select! {
            _ = replaced.wait_for(|&replaced| replaced) => None,
            () = tokio::time::sleep_until(until) => None,
            granted = self.wait_for_turn(owner) => Some(granted?),
        };
        let answer = match granted {
            Some(answer) => answer,
            // It was there until now, which says nothing about how often it asks.
            None => self.obey(Command::Leave(owner)).await?,
        };
        Ok(answer.and_then(|standing| as_asked(standing, registered)))
    }

    async fn wait_for_turn(&self, owner: Owner) -> Result<Answer, StoreError> {
        let Some(home) = self.cabinet.find(owner.claim).await? else {
            return Ok(Err(Refusal::Unknown { claim: owner.claim }));
        };
        let slot = self.slots.get(&home);
        let mut changed = slot.changed.subscribe();
        let lapse = duration(self.rules.waiter_lapse) / SEEN_TIMES;
        let mut seen_until = Instant::now() + lapse;
        let mut gap = C::LOOK.0;
        loop {
            changed.borrow_and_update();
            let view = self.view(owner.claim, &home);
            let still = match view {
                View::Ask => {
                    match self.obey(Command::Activate(owner)).await? {
                        Err(Refusal::StillWaiting { .. }) => {}
                        answer => return Ok(answer),
                    }
                    // Not yet, although it looked like it: somebody was faster.
                    C::LOOK.0
                }
                View::Due(back) => {
                    tokio::select! {
                        _ = changed.changed() => {}
                        () = tokio::time::sleep(back) => {
                            self.run(Act::Sweep(home.clone())).await?;
                        }
                    }
                    continue;
                }
                View::Still(still) => still,
            };
            if Instant::now() >= seen_until {
                seen_until = Instant::now() + lapse;
                match self.obey(Command::Activate(owner)).await? {
                    Err(Refusal::StillWaiting { .. }) => {}
                    answer => return Ok(answer),
                }
            }
            let look = gap.mul_f64(0.75 + random_below(512) as f64 / 1024.0);
            tokio::select! {
                _ = changed.changed() => gap = C::LOOK.0,
                () = tokio::time::sleep(still.min(lapse)) => {}
                () = tokio::time::sleep(look) => {
                    self.look_again(&home).await;
                    gap = gap.mul_f64(1.5).min(self.longest_gap(owner.claim, &home));
                }
            }
        }
    }

    /// How a waiter stands, by what is known.
    fn view(&self, claim: ClaimId, home: &Key) -> View {
        let Some((opened, stamp)) = self.glance(home) else { return View::Ask };
        let mut claims = opened.iter().flat_map(|it| &it.claims).map(|record| &record.claim);
        let turn = match claims.find(|it| it.id == claim).map(|it| &it.phase) {
            Some(&Phase::Waiting(turn)) => turn,
            _ => return View::Ask,
        };
        if matches!(turn, Turn::Called { .. } | Turn::PassedOver) {
            return View::Ask;
        }
        let before = opened
            .iter()
            .flat_map(|it| &it.claims)
            .map(|record| &record.claim)
            .filter(|it| it.id < claim && matches!(it.phase, Phase::Waiting(_)));
        let back = PLACE_BACK * u32::try_from(before.count().min(50)).unwrap_or(50);
        match self.circumstances(stamp).next_due(&opened) {
            Some(due) if due <= stamp.at => View::Due(back),
            Some(due) => View::Still(duration(due.since(stamp.at))),
            None => View::Still(duration(self.rules.waiter_lapse)),
        }
    }

    /// A turn that comes is kept for the ttl: look often enough to see it.
    fn longest_gap(&self, claim: ClaimId, home: &Key) -> Duration {
        let ttl = self.slots.get(home).known().drawer().claims.iter().find_map(|written| {
            let it = written.claim();
            (it.id == claim).then(|| duration(it.ttl.span()))
        });
        (ttl.unwrap_or(C::LOOK.1) / 3).clamp(C::LOOK.0, C::LOOK.1)
    }

    /// Looks into a drawer. If that fails, the next look may not.
    async fn look_again(&self, key: &Key) {
        let stamp = self.timeline.now();
        if let Ok(mut contents) = self.cabinet.read(std::slice::from_ref(key)).await
            && let Some(content) = contents.pop()
            && let Ok((version, drawer)) = parsed(&*self.cabinet, key, content)
        {
            self.note(key, version, drawer, stamp, Source::Hearsay);
        }
    }
}

/// What a waiter is told when its wait is over, one way or the other.
fn as_asked(standing: Standing, registered: bool) -> Answer {
    let claim = standing.claim.id;
    match (&standing.claim.phase, &standing.place) {
        (Phase::Ended(_), _) => Err(Refusal::Over { claim, status: standing.claim.status() }),
        (_, Some(place)) if !registered => Err(Refusal::StillWaiting {
            claim,
            position: place.position,
            holders: place.holders.clone(),
        }),
        _ => Ok(standing),
    }
}
