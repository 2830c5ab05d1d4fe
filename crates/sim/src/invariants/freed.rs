//! **Dead holders are freed within a bound.** A holder that does not renew is gone when its ttl (and
//! once the grace of a restart) is over and somebody is next in line for what it holds; and after its
//! linger in any case (rules 5 and 11). No restart storm keeps the dead alive.

use claims::{Claim, Limit, Phase, Span, State, Timestamp, Turn};

use super::leases::Leases;
use super::{Checked, Violation};

/// The store looks at least this often.
const SLACK: Span = Span::from_secs(2);

#[derive(Debug, Default)]
pub(super) struct Freed {
    /// A full disk prevents endings, too; until then they may be late.
    excused_until: Timestamp,
}

impl Freed {
    pub(super) fn check(
        &mut self,
        mirror: &State,
        leases: &Leases,
        now: Timestamp,
        full: bool,
    ) -> Checked {
        if full {
            self.excused_until = now + SLACK;
        }
        if now < self.excused_until {
            return Ok(());
        }
        for (id, due) in leases.iter() {
            if now < due.at + SLACK {
                continue;
            }
            let late = now.since(due.at).as_micros() as f64 / 1e6;
            let lingers = due.at + mirror.rules().linger + SLACK <= now;
            let wanted = mirror.claim(id).is_some_and(|claim| is_wanted(mirror, claim));
            if lingers || wanted {
                return Err(Violation::of(
                    "dead holders are freed",
                    format!("claim {id} still holds {late:.3} s after its lease was over"),
                ));
            }
        }
        Ok(())
    }
}

/// Whether ending this claim would help the first in line for one of its resources. One who waits
/// for several resources may be held up elsewhere, so only the simple case counts here.
fn is_wanted(mirror: &State, holder: &Claim) -> bool {
    holder.resources.as_slice().iter().any(|name| {
        let first = mirror.queue(name).find(|claim| !is_passed_over(claim));
        first.is_some_and(|waiter| {
            let alone = waiter.limit == Limit::EXCLUSIVE || holder.limit == Limit::EXCLUSIVE;
            alone && waiter.resources.as_slice().len() == 1
        })
    })
}

fn is_passed_over(claim: &Claim) -> bool {
    claim.phase == Phase::Waiting(Turn::PassedOver)
}
