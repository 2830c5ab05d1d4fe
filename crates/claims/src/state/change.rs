//! How a state changes: a claim comes, becomes something else, and is forgotten, and what follows from it with it.

use super::agenda::Agenda;
use super::{Brief, Index, Seat, State, due};
use crate::claim::{Claim, Phase};
use crate::identity::{ClaimId, KeyHash};
use crate::record::{Record, Seen};
use crate::time::Timestamp;

impl State {
    /// Takes a claim in, whatever its phase, and derives what follows from it.
    pub(crate) fn insert(&mut self, Record { mut claim, seen }: Record) {
        self.index.enter(&mut claim);
        self.index.place(&claim);
        self.index.agenda.push(due(&claim, &seen, &self.rules), claim.id);
        let (id, key) = (claim.id, claim.key);
        self.claims.insert(id, claim, Brief { key, seen });
        self.keys.insert(&key, id);
    }

    /// Brings a live claim into its next phase at the moment `now`, and changes what follows from it.
    pub(crate) fn change(
        &mut self,
        id: ClaimId,
        now: Timestamp,
        next: impl FnOnce(&Claim) -> Phase,
    ) {
        let (claim, brief) = self.claims.get_mut(id).expect("events name claims that exist");
        self.cut.iter_mut().for_each(|cut| cut.keep(claim, &brief.seen));
        let after = next(claim);
        if matches!(after, Phase::Ended(_)) {
            // Not due any more, so what is beside it, which may be far away, is not looked at.
            Self::become_next(&mut self.index, claim, after);
            claim.seat = Seat::NONE;
        } else {
            let due_before = due(claim, &brief.seen, &self.rules);
            Self::become_next(&mut self.index, claim, after);
            let due = due(claim, &brief.seen, &self.rules);
            if due < due_before || due_before <= now {
                // Sooner than its entry, or its entry was put off because it was overdue.
                self.index.agenda.push(due, id);
            }
        }
        self.clear_agenda();
    }

    fn become_next(index: &mut Index, claim: &mut Claim, after: Phase) {
        index.displace(claim);
        claim.phase = after;
        index.place(claim);
        index.tidy(claim);
    }

    /// Makes the agenda anew if most of it is superfluous.
    fn clear_agenda(&mut self) {
        if self.index.agenda.is_cluttered(self.index.tally.live()) {
            self.index.agenda = self.due_times();
        }
    }

    /// When each live claim is due.
    pub(super) fn due_times(&self) -> Agenda {
        let is_live = |claim: &Claim| !matches!(claim.phase, Phase::Ended(_));
        let live = self.claims.after(None).filter(|(claim, _)| is_live(claim));
        live.map(|(claim, brief)| (due(claim, &brief.seen, &self.rules), claim.id)).collect()
    }

    /// Changes every live claim in the same way, all at once.
    pub(crate) fn change_live(&mut self, change: impl Fn(&mut Claim, &mut Seen)) {
        for (claim, brief) in self.claims.values_mut() {
            if matches!(claim.phase, Phase::Ended(_)) {
                continue;
            }
            self.cut.iter_mut().for_each(|cut| cut.keep(claim, &brief.seen));
            self.index.displace(claim);
            change(claim, &mut brief.seen);
            self.index.place(claim);
        }
        self.index.agenda = self.due_times();
    }

    /// Gives a live claim one more keeper.
    pub(crate) fn add_keeper(&mut self, id: ClaimId, keeper: KeyHash) {
        let (claim, brief) = self.claims.get_mut(id).expect("events name claims that exist");
        self.cut.iter_mut().for_each(|cut| cut.keep(claim, &brief.seen));
        claim.extras.get_or_insert_default().keepers.push(keeper);
    }

    /// Forgets the claim that ended first.
    pub(crate) fn forget_oldest(&mut self) {
        let (_, id) = self.index.ended.pop_first().expect("only ended claims are forgotten");
        self.index.tally.ended -= 1;
        let claim = self.claims.remove(id).expect("ended claims are claims");
        self.cut.iter_mut().for_each(|cut| cut.keep(&claim, &Seen::default()));
        self.keys.remove(&claim.key, id);
    }
}
