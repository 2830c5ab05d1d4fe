//! Who holds a resource: nearly always one claim, sometimes a crowd.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};

use crate::identity::ClaimId;
use crate::terms::Limit;
use crate::time::Timestamp;

/// The holders of one resource. A single one is kept in place, without an allocation.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) enum Holders {
    #[default]
    None,
    One(Holder),
    Several(Box<Crowd>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Holder {
    pub(crate) claim: ClaimId,
    pub(crate) limit: Limit,
    pub(crate) deadline: Timestamp,
}

/// Two or more holders. Ordered by deadline, so that the overdue are found without a search.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Crowd {
    by_deadline: BTreeSet<(Timestamp, ClaimId)>,
    limits: BTreeMap<Limit, usize>,
}

impl Holders {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::None => 0,
            Self::One(_) => 1,
            Self::Several(crowd) => crowd.by_deadline.len(),
        }
    }

    /// The smallest limit among them: the one that counts (rule 1).
    pub(crate) fn limit(&self) -> Limit {
        match self {
            Self::None => Limit::SHARED,
            Self::One(holder) => holder.limit,
            Self::Several(crowd) => {
                *crowd.limits.first_key_value().expect("a crowd has two or more holders").0
            }
        }
    }

    /// The holder whose lease ends first, and when, if that is at or before `moment`.
    pub(crate) fn overdue(&self, moment: Timestamp) -> Option<(Timestamp, ClaimId)> {
        let (deadline, claim) = match self {
            Self::None => return None,
            Self::One(holder) => (holder.deadline, holder.claim),
            Self::Several(crowd) => {
                *crowd.by_deadline.first().expect("a crowd has two or more holders")
            }
        };
        (deadline <= moment).then_some((deadline, claim))
    }

    /// The holders in order of their deadlines.
    pub(crate) fn iter(&self) -> impl Iterator<Item = ClaimId> + '_ {
        let (one, crowd) = match self {
            Self::None => (None, None),
            Self::One(holder) => (Some(holder.claim), None),
            Self::Several(crowd) => (None, Some(&crowd.by_deadline)),
        };
        one.into_iter().chain(crowd.into_iter().flatten().map(|&(_, claim)| claim))
    }

    pub(crate) fn add(&mut self, holder: Holder) {
        match self {
            Self::None => *self = Self::One(holder),
            Self::One(first) => {
                let mut crowd = Crowd::default();
                crowd.add(*first);
                crowd.add(holder);
                *self = Self::Several(Box::new(crowd));
            }
            Self::Several(crowd) => crowd.add(holder),
        }
    }

    pub(crate) fn remove(&mut self, holder: Holder) {
        match self {
            Self::None => unreachable!("only a holder can stop holding"),
            Self::One(one) => {
                assert_eq!(one.claim, holder.claim, "only a holder can stop holding");
                *self = Self::None;
            }
            Self::Several(crowd) => {
                crowd.remove(holder);
                if let Some(last) = crowd.last_one() {
                    *self = Self::One(last);
                }
            }
        }
    }
}

impl Crowd {
    fn add(&mut self, holder: Holder) {
        self.by_deadline.insert((holder.deadline, holder.claim));
        *self.limits.entry(holder.limit).or_default() += 1;
    }

    fn remove(&mut self, holder: Holder) {
        let held = self.by_deadline.remove(&(holder.deadline, holder.claim));
        assert!(held, "only a holder can stop holding");
        let count = self.limits.get_mut(&holder.limit).expect("every holder's limit is counted");
        *count -= 1;
        if *count == 0 {
            self.limits.remove(&holder.limit);
        }
    }

    fn last_one(&self) -> Option<Holder> {
        if self.by_deadline.len() != 1 {
            return None;
        }
        let &(deadline, claim) = self.by_deadline.first()?;
        let (&limit, _) = self.limits.first_key_value()?;
        Some(Holder { claim, limit, deadline })
    }
}
