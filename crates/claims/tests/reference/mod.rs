//! The rules once more, in the plainest words: one list, read from the front.
//!
//! This is for reading. There is no index, no event, no sweep; every question is a loop over all
//! claims, oldest first. What is due happens at its very moment, whoever looks or does not.
//! Whatever the engine answers, this must answer, too.

mod claim;

pub(crate) use claim::{Claim, Phase, Terms, Time, Turn};

const LINGER: Time = 60_000_000;
const TURN_MAX: Time = 120_000_000;
const LAPSE: Time = 2 * 3600 * 1_000_000;
/// Small, so that queues are full now and then.
pub(crate) const QUEUE_MAX: usize = 12;

/// Which claim, or the code of a refusal.
pub(crate) type Answer = Result<usize, &'static str>;

/// Claims in order of arrival. A claim is known by its place in the list.
#[derive(Default)]
pub(crate) struct Model {
    pub(crate) claims: Vec<Claim>,
    clock: Time,
    activations: u64,
}

/// What may be asked. The clock has reached `now`: see [`Model::reach`].
impl Model {
    /// Rules 10 and 13.
    pub(crate) fn register(&mut self, terms: Terms) -> Answer {
        let known = self.claims.iter().position(|claim| claim.terms.key == terms.key);
        let full = |name: &&str| self.queue(name).len() >= QUEUE_MAX;
        match known {
            Some(claim) if self.claims[claim].terms != terms => return Err("key-in-use"),
            Some(claim) => self.see(claim),
            None if terms.names.iter().any(full) => return Err("queue-full"),
            None => {
                let phase = Phase::Waiting { seen: self.clock, gap: 0, turn: Turn::InLine };
                let (keepers, fence, there) = (vec![], None, false);
                self.claims.push(Claim { terms, keepers, phase, fence, there });
            }
        }
        let claim = known.unwrap_or(self.claims.len() - 1);
        self.happen(self.clock, Some(claim));
        Ok(claim)
    }

    pub(crate) fn poll(&mut self, claim: usize, key: u64) -> Answer {
        self.owned(claim, key)?;
        self.see(claim);
        self.happen(self.clock, Some(claim));
        match self.claims[claim].phase {
            Phase::Waiting { .. } => Err("still-waiting"),
            Phase::Active { .. } => Ok(claim),
            Phase::Over(_) => Err("over"),
        }
    }

    /// An open wait ends. Until now its claimant was there, so this tells no polling gap.
    pub(crate) fn leave(&mut self, claim: usize, key: u64) -> Answer {
        self.owned(claim, key)?;
        self.claims[claim].there = true;
        self.see(claim);
        self.claims[claim].there = false;
        self.happen(self.clock, None);
        Ok(claim)
    }

    /// Rule 4.
    pub(crate) fn renew(&mut self, claim: usize, key: u64, to: Option<Time>) -> Answer {
        self.kept(claim, key)?;
        let Phase::Active { ttl, .. } = self.claims[claim].phase else { return Err("not-active") };
        let ttl = to.unwrap_or(ttl);
        let deadline = self.clock.saturating_add(ttl);
        self.claims[claim].phase = Phase::Active { ttl, deadline, graced: false };
        Ok(claim)
    }

    /// An administrator has no key and needs none.
    pub(crate) fn end(&mut self, claim: usize, key: Option<u64>, how: &'static str) -> Answer {
        let own = self.claims.get(claim).ok_or("unknown")?.terms.key;
        self.owned(claim, key.unwrap_or(own))?;
        match self.claims[claim].phase {
            Phase::Over(status) if status == how => return Ok(claim),
            Phase::Over(_) => return Err("cannot-end"),
            Phase::Waiting { .. } if how == "released" => return Err("cannot-end"),
            Phase::Waiting { .. } | Phase::Active { .. } => self.becomes(claim, Phase::Over(how)),
        };
        self.happen(self.clock, None);
        Ok(claim)
    }

    pub(crate) fn appoint(&mut self, claim: usize, key: u64, keeper: u64) -> Answer {
        self.owned(claim, key)?;
        let Claim { phase, keepers, .. } = &mut self.claims[claim];
        if let Phase::Over(_) = phase {
            return Err("over");
        }
        if !keepers.contains(&keeper) {
            keepers.push(keeper);
        }
        Ok(claim)
    }

    /// Rule 11.
    pub(crate) fn resume(&mut self) {
        for claim in &mut self.claims {
            claim.there = false;
            claim.phase = match claim.phase {
                Phase::Active { ttl, deadline, graced: false } => {
                    let deadline = deadline.max(self.clock.saturating_add(ttl));
                    Phase::Active { ttl, deadline, graced: true }
                }
                Phase::Waiting { gap, turn, .. } => {
                    let turn = if turn == Turn::PassedOver { turn } else { Turn::InLine };
                    Phase::Waiting { seen: self.clock, gap, turn }
                }
                other @ (Phase::Active { .. } | Phase::Over(_)) => other,
            }
        }
        self.happen(self.clock, None);
    }

    /// Rule 9.
    fn owned(&self, claim: usize, key: u64) -> Answer {
        self.kept(claim, key)?;
        let is_owner = self.claims[claim].terms.key == key;
        is_owner.then_some(claim).ok_or("keeper-may-only-renew")
    }

    fn kept(&self, claim: usize, key: u64) -> Answer {
        let Claim { terms, keepers, .. } = self.claims.get(claim).ok_or("unknown")?;
        (terms.key == key || keepers.contains(&key)).then_some(claim).ok_or("unknown")
    }
}

/// What happens by itself.
impl Model {
    /// Lets time pass, from one moment at which something is due to the next.
    pub(crate) fn reach(&mut self, now: Time) {
        self.happen(now, None);
        while let Some(moment) = self.next_moment().filter(|&moment| moment < now) {
            self.clock = moment;
            self.happen(now, None);
        }
        self.clock = now;
        self.happen(now, None);
    }

    fn next_moment(&self) -> Option<Time> {
        let due = |claim: &Claim| match claim.phase {
            Phase::Active { deadline, .. } => [deadline, deadline.saturating_add(LINGER)],
            Phase::Waiting { seen, turn: Turn::Called { until }, .. } => [until, seen + LAPSE],
            Phase::Waiting { seen, .. } => [seen + LAPSE, Time::MAX],
            Phase::Over(_) => [Time::MAX, Time::MAX],
        };
        self.claims.iter().flat_map(due).filter(|&due| due > self.clock).min()
    }

    /// Everything that is due at this moment, the oldest claim first, until nothing is.
    fn happen(&mut self, now: Time, asking: Option<usize>) {
        while (0..self.claims.len()).any(|claim| self.changes(claim, now, asking)) {}
    }

    /// Whether something happens to a claim, or for it.
    fn changes(&mut self, claim: usize, now: Time, asking: Option<usize>) -> bool {
        let there = self.claims[claim].there || asking == Some(claim);
        let expired = Phase::Over("expired");
        match self.claims[claim].phase {
            // Rule 5: nobody wanted it for too long. Rule 6: nobody has seen it for too long.
            Phase::Active { deadline, .. } if deadline.saturating_add(LINGER) <= self.clock => {
                self.becomes(claim, expired)
            }
            Phase::Waiting { seen, .. } if seen + LAPSE <= self.clock && !there => {
                self.becomes(claim, expired)
            }
            Phase::Waiting { seen, gap, turn } if turn != Turn::PassedOver => {
                // Rule 5: overdue and wanted. But nobody's lease is over in the very answer that
                // gives it, however short it is.
                let overdue = self.overdue_in_the_way(claim);
                if let Some(holder) = overdue.filter(|&holder| asking != Some(holder)) {
                    return self.becomes(holder, expired);
                }
                let kept_for = self.claims[claim].terms.ttl.max(gap + gap / 2).min(TURN_MAX);
                let its_turn = self.is_its_turn(claim);
                let turn = match turn {
                    Turn::Called { .. } if !its_turn => Turn::InLine,
                    Turn::InLine if !its_turn => return false,
                    _ if there => return self.activate(claim, now),
                    Turn::Called { until } if self.clock < until => return false,
                    Turn::Called { .. } => Turn::PassedOver,
                    Turn::InLine | Turn::PassedOver => {
                        Turn::Called { until: self.clock + kept_for }
                    }
                };
                self.becomes(claim, Phase::Waiting { seen, gap, turn })
            }
            Phase::Waiting { .. } | Phase::Active { .. } | Phase::Over(_) => false,
        }
    }

    /// Rules 4 and 8: the lease runs from the answer.
    fn activate(&mut self, claim: usize, now: Time) -> bool {
        self.activations += 1;
        self.claims[claim].fence = Some(self.activations);
        let ttl = self.claims[claim].terms.ttl;
        let deadline = now.saturating_add(ttl);
        self.becomes(claim, Phase::Active { ttl, deadline, graced: false })
    }

    fn becomes(&mut self, claim: usize, phase: Phase) -> bool {
        self.claims[claim].phase = phase;
        self.claims[claim].there &= matches!(phase, Phase::Waiting { .. });
        true
    }

    /// Rule 6: a waiter is in line again when it asks. What it let pass since it asked before is its
    /// polling gap, unless it was there all the time.
    fn see(&mut self, claim: usize) {
        let there = self.claims[claim].there;
        if let Phase::Waiting { seen, gap, turn } = self.claims[claim].phase {
            let gap = if there { gap } else { self.clock - seen };
            let turn = if turn == Turn::PassedOver { Turn::InLine } else { turn };
            self.becomes(claim, Phase::Waiting { seen: self.clock, gap, turn });
        }
    }
}

/// Who is where.
impl Model {
    fn on(&self, name: &str, counts: impl Fn(usize, Phase) -> bool) -> Vec<usize> {
        let claims = self.claims.iter().enumerate();
        let here = claims.filter(|(_, claim)| claim.terms.names.contains(&name));
        here.filter(|(nth, claim)| counts(*nth, claim.phase)).map(|(nth, _)| nth).collect()
    }

    pub(crate) fn queue(&self, name: &str) -> Vec<usize> {
        self.on(name, |_, phase| matches!(phase, Phase::Waiting { .. }))
    }

    pub(crate) fn holders(&self, name: &str) -> Vec<usize> {
        self.on(name, |_, phase| matches!(phase, Phase::Active { .. }))
    }

    /// Those who wait in front of a claim, but for those who were passed over.
    fn ahead(&self, name: &str, claim: usize) -> Vec<usize> {
        self.on(name, |nth, phase| match phase {
            Phase::Waiting { turn, .. } => nth < claim && turn != Turn::PassedOver,
            Phase::Active { .. } | Phase::Over(_) => false,
        })
    }

    /// Of several queues, the one it stands furthest back in.
    pub(crate) fn position(&self, claim: usize) -> Option<usize> {
        let before = |name: &&str| self.queue(name).iter().filter(|&&nth| nth < claim).count();
        self.claims[claim].terms.names.iter().map(before).max().map(|before| before + 1)
    }

    /// Rules 2 and 7: next and with room on all its resources.
    fn is_its_turn(&self, claim: usize) -> bool {
        let names = &self.claims[claim].terms.names;
        names.iter().all(|name| self.is_next(name, claim) && self.has_room(name, claim))
    }

    /// Rule 2, on one resource: everybody in front was called.
    fn is_next(&self, name: &str, claim: usize) -> bool {
        self.ahead(name, claim).into_iter().all(|nth| {
            matches!(self.claims[nth].phase, Phase::Waiting { turn: Turn::Called { .. }, .. })
        })
    }

    /// Rule 1, with those who are called in front of it as if they were there.
    fn has_room(&self, name: &str, claim: usize) -> bool {
        let together = [self.holders(name), self.ahead(name, claim), vec![claim]].concat();
        together.iter().all(|&nth| together.len() <= self.claims[nth].terms.limit as usize)
    }

    /// Of those who hold what it would have next, the one whose lease ran out first, if one has.
    fn overdue_in_the_way(&self, claim: usize) -> Option<usize> {
        let names = self.claims[claim].terms.names.iter();
        let wanted = names.filter(|name| self.is_next(name, claim) && !self.has_room(name, claim));
        let overdue = |nth: usize| match self.claims[nth].phase {
            Phase::Active { deadline, .. } if deadline <= self.clock => Some((deadline, nth)),
            Phase::Waiting { .. } | Phase::Active { .. } | Phase::Over(_) => None,
        };
        wanted.flat_map(|name| self.holders(name)).filter_map(overdue).min().map(|(_, nth)| nth)
    }
}
