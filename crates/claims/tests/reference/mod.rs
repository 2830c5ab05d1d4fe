//! The rules once more, in the plainest words: one list, read from the front.
//!
//! This is for reading. There is no index, no event, no sweep; every question is a loop over all
//! claims, oldest first. What is due happens at its very moment, whoever looks or does not.
//! Whatever the engine answers, this must answer, too.

/// Microseconds.
pub(crate) type Time = u64;

pub(crate) const LINGER: Time = 60_000_000;
pub(crate) const TURN_MAX: Time = 120_000_000;
pub(crate) const LAPSE: Time = 2 * 3600 * 1_000_000;
pub(crate) const KEEPERS_MAX: usize = 8;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Terms {
    pub(crate) key: u64,
    pub(crate) names: Vec<&'static str>,
    /// How many may hold together; `u32::MAX` for any number.
    pub(crate) limit: u32,
    pub(crate) ttl: Time,
}

#[derive(Debug, Clone)]
pub(crate) struct Claim {
    pub(crate) terms: Terms,
    pub(crate) keepers: Vec<u64>,
    pub(crate) phase: Phase,
    /// The activations are counted, and this was its.
    pub(crate) fence: Option<u64>,
    /// Whether its claimant has a wait open.
    pub(crate) there: bool,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Phase {
    Waiting { seen: Time, gap: Time, turn: Turn },
    Active { ttl: Time, deadline: Time, graced: bool },
    Over(&'static str),
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Turn {
    InLine,
    Called { until: Time },
    PassedOver,
}

/// Which claim, and the code of a refusal if it is one.
pub(crate) type Answer = Result<usize, &'static str>;

pub(crate) struct Model {
    /// In order of arrival. A claim is known by its place in this list.
    pub(crate) claims: Vec<Claim>,
    queue_max: usize,
    clock: Time,
    fences: u64,
}

/// What may be asked.
impl Model {
    pub(crate) fn new(queue_max: usize) -> Self {
        Self { claims: Vec::new(), queue_max, clock: 0, fences: 0 }
    }

    /// Rules 10 and 13.
    pub(crate) fn register(&mut self, terms: Terms, now: Time) -> Answer {
        self.reach(now);
        let known = self.claims.iter().position(|claim| claim.terms.key == terms.key);
        if let Some(claim) = known {
            if self.claims[claim].terms != terms {
                return Err("key-in-use");
            }
            self.see(claim, now);
            self.happen(now, Some(claim));
            return Ok(claim);
        }
        if terms.names.iter().any(|name| self.queue(name).len() >= self.queue_max) {
            return Err("queue-full");
        }
        let phase = Phase::Waiting { seen: now, gap: 0, turn: Turn::InLine };
        self.claims.push(Claim { terms, keepers: vec![], phase, fence: None, there: false });
        let claim = self.claims.len() - 1;
        self.happen(now, Some(claim));
        Ok(claim)
    }

    pub(crate) fn poll(&mut self, claim: usize, key: u64, now: Time) -> Answer {
        self.reach(now);
        self.owned(claim, key)?;
        self.see(claim, now);
        self.happen(now, Some(claim));
        match self.claims[claim].phase {
            Phase::Waiting { .. } => Err("still-waiting"),
            Phase::Active { .. } => Ok(claim),
            Phase::Over(_) => Err("over"),
        }
    }

    pub(crate) fn leave(&mut self, claim: usize, key: u64, now: Time) -> Answer {
        self.reach(now);
        self.owned(claim, key)?;
        if let Phase::Waiting { seen, turn, .. } = &mut self.claims[claim].phase {
            *seen = now;
            *turn = if *turn == Turn::PassedOver { Turn::InLine } else { *turn };
        }
        self.claims[claim].there = false;
        self.happen(now, None);
        Ok(claim)
    }

    /// Rule 4.
    pub(crate) fn renew(&mut self, claim: usize, key: u64, to: Option<Time>, now: Time) -> Answer {
        self.reach(now);
        self.kept(claim, key)?;
        match &mut self.claims[claim].phase {
            Phase::Active { ttl, deadline, graced } => {
                *ttl = to.unwrap_or(*ttl);
                *deadline = now.saturating_add(*ttl);
                *graced = false;
                Ok(claim)
            }
            Phase::Waiting { .. } | Phase::Over(_) => Err("not-active"),
        }
    }

    pub(crate) fn end(&mut self, claim: usize, key: u64, how: &'static str, now: Time) -> Answer {
        self.reach(now);
        self.owned(claim, key)?;
        self.finish(claim, how, now)
    }

    pub(crate) fn revoke(&mut self, claim: usize, now: Time) -> Answer {
        self.reach(now);
        self.claims.get(claim).ok_or("unknown")?;
        self.finish(claim, "revoked", now)
    }

    pub(crate) fn appoint(&mut self, claim: usize, key: u64, keeper: u64, now: Time) -> Answer {
        self.reach(now);
        self.owned(claim, key)?;
        let Claim { phase, keepers, .. } = &mut self.claims[claim];
        match phase {
            Phase::Over(_) => Err("over"),
            _ if keepers.contains(&keeper) => Ok(claim),
            _ if keepers.len() == KEEPERS_MAX => Err("too-many-keepers"),
            _ => {
                keepers.push(keeper);
                Ok(claim)
            }
        }
    }

    /// Rule 11.
    pub(crate) fn resume(&mut self, now: Time) {
        for claim in &mut self.claims {
            claim.there = false;
            match &mut claim.phase {
                Phase::Active { ttl, deadline, graced } if !*graced => {
                    *deadline = (*deadline).max(now.saturating_add(*ttl));
                    *graced = true;
                }
                Phase::Waiting { seen, turn, .. } => {
                    *seen = now;
                    *turn = if *turn == Turn::PassedOver { *turn } else { Turn::InLine };
                }
                Phase::Active { .. } | Phase::Over(_) => {}
            }
        }
        self.happen(now, None);
    }

    /// Everybody in the queue of a resource, in order.
    pub(crate) fn queue(&self, name: &str) -> Vec<usize> {
        let waits = |&nth: &usize| matches!(self.claims[nth].phase, Phase::Waiting { .. });
        self.on(name).filter(waits).collect()
    }

    pub(crate) fn holders(&self, name: &str) -> Vec<usize> {
        let holds = |&nth: &usize| matches!(self.claims[nth].phase, Phase::Active { .. });
        self.on(name).filter(holds).collect()
    }

    /// Of several queues, the one it stands furthest back in.
    pub(crate) fn position(&self, claim: usize) -> usize {
        let before = |name: &&str| self.queue(name).iter().filter(|&&nth| nth < claim).count();
        1 + self.claims[claim].terms.names.iter().map(before).max().expect("claims name something")
    }
}

/// What happens by itself.
impl Model {
    /// Lets time pass, from moment to moment.
    pub(crate) fn reach(&mut self, now: Time) {
        while let Some(moment) = self.next_moment().filter(|&moment| moment < now) {
            self.clock = moment;
            self.happen(now, None);
        }
        self.clock = now;
        self.happen(now, None);
    }

    /// When something is due next.
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
    fn changes(&mut self, nth: usize, now: Time, asking: Option<usize>) -> bool {
        let claim = &self.claims[nth];
        let there = claim.there || asking == Some(nth);
        match claim.phase {
            // Rule 5: nobody wanted it for too long.
            Phase::Active { deadline, .. } if deadline.saturating_add(LINGER) <= self.clock => {
                self.over(nth, "expired")
            }
            // Rule 6: nobody has seen it for too long.
            Phase::Waiting { seen, .. } if seen + LAPSE <= self.clock && !there => {
                self.over(nth, "expired")
            }
            Phase::Active { .. } | Phase::Over(_) => false,
            Phase::Waiting { turn: Turn::PassedOver, .. } => false,
            Phase::Waiting { gap, turn, .. } => {
                let mut its_turn = true;
                for name in claim.terms.names.clone() {
                    let called = self.ahead(name, nth).iter().all(|&ahead| self.is_called(ahead));
                    let room = self.has_room(name, nth);
                    its_turn &= called && room;
                    // Rule 5: overdue and wanted. But nobody's lease is over in the very answer
                    // that gives it, however short it is.
                    let overdue = self.overdue(name).filter(|&holder| asking != Some(holder));
                    if called && !room && let Some(overdue) = overdue {
                        return self.over(overdue, "expired");
                    }
                }
                let terms = &self.claims[nth].terms;
                let until = self.clock + terms.ttl.max(gap + gap / 2).min(TURN_MAX);
                match turn {
                    Turn::InLine if !its_turn => false,
                    Turn::Called { .. } if !its_turn => self.turn_to(nth, Turn::InLine),
                    _ if there => self.activate(nth, now),
                    Turn::InLine => self.turn_to(nth, Turn::Called { until }),
                    Turn::Called { until } if until <= self.clock => {
                        self.turn_to(nth, Turn::PassedOver)
                    }
                    Turn::Called { .. } | Turn::PassedOver => false,
                }
            }
        }
    }

    /// Rule 1, with those who are called in front of it as if they were there.
    fn has_room(&self, name: &str, claim: usize) -> bool {
        let together = [self.holders(name), self.ahead(name, claim), vec![claim]].concat();
        let smallest = together.iter().map(|&nth| self.claims[nth].terms.limit).min();
        together.len() <= smallest.expect("it is one of them") as usize
    }

    /// The holder whose lease ran out first, if one has.
    fn overdue(&self, name: &str) -> Option<usize> {
        let deadline = |&nth: &usize| match self.claims[nth].phase {
            Phase::Active { deadline, .. } => deadline,
            Phase::Waiting { .. } | Phase::Over(_) => Time::MAX,
        };
        let first = self.holders(name).into_iter().min_by_key(deadline);
        first.filter(|first| deadline(first) <= self.clock)
    }

    /// Rules 4 and 8: the lease runs from the answer.
    fn activate(&mut self, nth: usize, now: Time) -> bool {
        self.fences += 1;
        let claim = &mut self.claims[nth];
        let (ttl, deadline) = (claim.terms.ttl, now.saturating_add(claim.terms.ttl));
        claim.phase = Phase::Active { ttl, deadline, graced: false };
        claim.fence = Some(self.fences);
        claim.there = false;
        true
    }
}

/// Small words.
impl Model {
    fn on<'a>(&'a self, name: &'a str) -> impl Iterator<Item = usize> + 'a {
        (0..self.claims.len()).filter(move |&nth| self.claims[nth].terms.names.contains(&name))
    }

    /// Those who wait in front of a claim, but for those who were passed over.
    fn ahead(&self, name: &str, claim: usize) -> Vec<usize> {
        let counts = |nth: usize| match self.claims[nth].phase {
            Phase::Waiting { turn, .. } => turn != Turn::PassedOver,
            Phase::Active { .. } | Phase::Over(_) => false,
        };
        self.on(name).filter(|&nth| nth < claim && counts(nth)).collect()
    }

    fn is_called(&self, nth: usize) -> bool {
        matches!(self.claims[nth].phase, Phase::Waiting { turn: Turn::Called { .. }, .. })
    }

    fn see(&mut self, nth: usize, now: Time) {
        if let Phase::Waiting { seen, gap, turn } = &mut self.claims[nth].phase {
            *gap = now - *seen;
            *seen = now;
            *turn = if *turn == Turn::PassedOver { Turn::InLine } else { *turn };
        }
    }

    fn turn_to(&mut self, nth: usize, to: Turn) -> bool {
        if let Phase::Waiting { turn, .. } = &mut self.claims[nth].phase {
            *turn = to;
        }
        true
    }

    fn over(&mut self, nth: usize, how: &'static str) -> bool {
        self.claims[nth].phase = Phase::Over(how);
        self.claims[nth].there = false;
        true
    }

    fn finish(&mut self, nth: usize, how: &'static str, now: Time) -> Answer {
        match self.claims[nth].phase {
            Phase::Over(status) if status == how => return Ok(nth),
            Phase::Over(_) => return Err("cannot-end"),
            Phase::Waiting { .. } if how == "released" => return Err("cannot-end"),
            Phase::Waiting { .. } | Phase::Active { .. } => self.over(nth, how),
        };
        self.happen(now, None);
        Ok(nth)
    }

    /// Rule 9.
    fn owned(&self, nth: usize, key: u64) -> Answer {
        self.kept(nth, key)?;
        let is_owner = self.claims[nth].terms.key == key;
        is_owner.then_some(nth).ok_or("keeper-may-only-renew")
    }

    fn kept(&self, nth: usize, key: u64) -> Answer {
        let claim = self.claims.get(nth).ok_or("unknown")?;
        let knows = claim.terms.key == key || claim.keepers.contains(&key);
        knows.then_some(nth).ok_or("unknown")
    }
}
