//! What must be true at every moment. Written from the rules and not from the engine: plain loops
//! over a few claims, no index, no order of looking.

use claims::{Claim, ClaimId, Limit, Name, Phase, Rules, Status, Timestamp, Turn};

use super::step::{Scene, Step};

/// The claims of a scene, seen from outside.
pub(crate) struct Moment<'a> {
    scene: &'a Scene,
    pub(crate) claims: Vec<&'a Claim>,
}

impl<'a> Moment<'a> {
    pub(crate) fn of(scene: &'a Scene) -> Self {
        Self { scene, claims: scene.state.claims_after(None).collect() }
    }

    pub(crate) fn check(&self) {
        for name in &self.scene.names {
            self.check_limits(name);
            self.check_all_or_nothing(name);
        }
        if self.scene.looked {
            for claim in &self.claims {
                self.check_nothing_left_undone(claim);
            }
        }
    }

    /// Rule 1, for the holders and those for whom room is kept.
    fn check_limits(&self, name: &Name) {
        let called = self.on(name).filter(|claim| is_called(claim));
        let together = self.holders(name).chain(called);
        assert!(legal(together), "too many hold {name}: {}", self.scene);
    }

    /// Rule 7: a holder is a holder everywhere, a waiter stands in each queue, one that is over
    /// nowhere; and a queue is in order of arrival.
    fn check_all_or_nothing(&self, name: &Name) {
        let state = &self.scene.state;
        let mut holders: Vec<_> = state.holders(name).map(|claim| claim.id).collect();
        holders.sort();
        let should_hold = self.holders(name).map(|claim| claim.id);
        assert!(holders.into_iter().eq(should_hold), "holders of {name}: {}", self.scene);
        let queue = state.queue(name).map(|claim| claim.id);
        let should_wait = self.on(name).filter(|claim| claim.status() == Status::Waiting);
        assert!(queue.eq(should_wait.map(|claim| claim.id)), "queue of {name}: {}", self.scene);
    }

    /// Rules 3, 5 and 6: whoever can be served has been, if its claimant is there; otherwise it is
    /// called; nobody is called whose turn it is not; no overdue holder is in anybody's way.
    fn check_nothing_left_undone(&self, claim: &Claim) {
        let now = self.scene.now;
        let story = format_args!("{}: {}", claim.id, self.scene);
        // A restart looks only at what somebody waits for.
        if claim.status() == Status::Active && self.scene.steps.last() != Some(&Step::Restart) {
            assert!(now < deadline(claim) + Rules::default().linger, "lingers: {story}");
        }
        let there = self.scene.present[claim.id.0 as usize - 1];
        match turn(claim) {
            None | Some(Turn::PassedOver) => {}
            Some(Turn::InLine) => assert!(!self.is_its_turn(claim), "not called: {story}"),
            Some(Turn::Called { until }) => {
                assert!(self.is_its_turn(claim), "called too early: {story}");
                assert!(now < until && !there, "still only called: {story}");
            }
        }
    }

    /// Rules 2 and 7: whether it could hold everywhere now.
    fn is_its_turn(&self, claim: &Claim) -> bool {
        let mut its_turn = true;
        for name in claim.resources.as_slice() {
            let in_front = self.all_called_before(name, claim.id);
            let beside = self.holders(name).chain(self.ahead(name, claim.id));
            let room =
                legal(beside.chain(self.claims.iter().copied().filter(|c| c.id == claim.id)));
            if in_front && !room {
                let overdue = self.holders(name).any(|holder| deadline(holder) <= self.scene.now);
                assert!(!overdue, "overdue in the way of {}: {}", claim.id, self.scene);
            }
            its_turn &= in_front && room;
        }
        its_turn
    }

    /// Rule 2: whether those who wait in front were all called and have their room kept. One that
    /// was passed over has lost nothing but this.
    pub(crate) fn all_called_before(&self, name: &Name, claim: ClaimId) -> bool {
        self.ahead(name, claim).all(is_called)
    }

    fn on<'b>(&'b self, name: &'b Name) -> impl Iterator<Item = &'a Claim> + 'b {
        let wants = |claim: &&&Claim| claim.resources.as_slice().contains(name);
        self.claims.iter().filter(wants).copied()
    }

    fn holders<'b>(&'b self, name: &'b Name) -> impl Iterator<Item = &'a Claim> + 'b {
        self.on(name).filter(|claim| claim.status() == Status::Active)
    }

    fn ahead<'b>(&'b self, name: &'b Name, claim: ClaimId) -> impl Iterator<Item = &'a Claim> + 'b {
        let counts = |ahead: &&Claim| turn(ahead).is_some_and(|turn| turn != Turn::PassedOver);
        self.on(name).filter(move |ahead| ahead.id < claim).filter(counts)
    }
}

/// Rule 1.
fn legal<'a>(together: impl Iterator<Item = &'a Claim>) -> bool {
    let (mut size, mut smallest) = (0, u32::MAX);
    for claim in together {
        size += 1;
        smallest = smallest.min(Limit::count(claim.limit).unwrap_or(u32::MAX));
    }
    size <= smallest
}

fn is_called(claim: &Claim) -> bool {
    matches!(turn(claim), Some(Turn::Called { .. }))
}

pub(crate) fn turn(claim: &Claim) -> Option<Turn> {
    match &claim.phase {
        Phase::Waiting(turn) => Some(*turn),
        Phase::Active(_) | Phase::Ended(_) => None,
    }
}

pub(crate) fn deadline(claim: &Claim) -> Timestamp {
    match &claim.phase {
        Phase::Active(active) => active.deadline,
        Phase::Waiting(_) | Phase::Ended(_) => panic!("only a holder has a deadline"),
    }
}
