//! How long before the deadline a command is stopped, so that nothing of it is left when it comes.

use std::time::Duration;

use super::moment::Moment;

/// What a command gets to end in order, if nobody says and the lease allows it.
const GRACE: Duration = Duration::from_secs(5);
/// What killing takes at most, on a machine that is very busy.
const RESERVE: Duration = Duration::from_secs(1);
/// Somebody else may hold already.
const SOON: Duration = Duration::from_secs(1);

/// The last part of a lease: first the grace, then the reserve for killing, then the deadline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Lead {
    pub(super) grace: Duration,
    pub(super) reserve: Duration,
}

impl Lead {
    /// For leases of this length. Renewals begin after a third of it, and must have time to succeed.
    pub(super) fn of(ttl: Duration, grace: Option<Duration>) -> Result<Self, String> {
        let most = ttl / 4;
        if let Some(grace) = grace.filter(|grace| *grace > most) {
            return Err(format!(
                "a grace of {grace:?} is more than a quarter of the ttl of {ttl:?}: give a longer --ttl"
            ));
        }
        Ok(Self { grace: grace.unwrap_or(GRACE.min(most)), reserve: RESERVE.min(ttl / 10) })
    }

    pub(super) fn of_micros(grace: u64, reserve: u64) -> Self {
        Self { grace: Duration::from_micros(grace), reserve: Duration::from_micros(reserve) }
    }

    /// When the command is asked to end.
    pub(super) fn term_at(self, deadline: Moment) -> Moment {
        deadline.before(self.grace + self.reserve)
    }

    /// When it is killed.
    pub(super) fn kill_at(self, deadline: Moment) -> Moment {
        deadline.before(self.reserve)
    }

    /// When it is killed if it has to end at once.
    pub(super) fn kill_soon(self, deadline: Moment) -> Moment {
        Moment::now().after(self.grace.min(SOON)).min(self.kill_at(deadline))
    }

    /// When what the command left behind is killed.
    pub(super) fn kill_rest(self, deadline: Moment) -> Moment {
        Moment::now().after(self.grace).min(self.kill_at(deadline))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grace_and_reserve_leave_the_lease_most_of_its_time() {
        for secs in [0.1, 1.0, 5.0, 60.0, 86_400.0] {
            let ttl = Duration::from_secs_f64(secs);
            let lead = Lead::of(ttl, None).unwrap();
            assert!(lead.grace + lead.reserve <= ttl.mul_f64(0.36), "{ttl:?}: {lead:?}");
            let deadline = Moment(10_u64.pow(12));
            assert!(lead.term_at(deadline) < lead.kill_at(deadline));
            assert!(lead.kill_at(deadline) < deadline);
        }
        assert!(Lead::of(Duration::from_secs(60), Some(Duration::from_secs(16))).is_err());
        let lead = Lead::of(Duration::from_secs(60), Some(Duration::ZERO)).unwrap();
        assert_eq!(lead.grace, Duration::ZERO);
    }
}
