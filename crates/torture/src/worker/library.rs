//! A worker that uses the library, with or without a keychain.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use tenure::blocking::{Claim, LockManager};
use tenure::keychain::Keychain;
use tenure::{RefreshError, ReleaseError};
use torture::history::{Acquired, Told};

use super::wish::Ending;
use super::{Held, Shift, Wish};
use crate::clock::now;

pub(super) fn work(
    mut shift: Shift,
    server: &str,
    keychain: Option<PathBuf>,
) -> anyhow::Result<()> {
    let mut settings = tenure::LockManager::at(&format!("http://{server}")).ttl(shift.ttl);
    if let Some(program) = keychain {
        settings = settings.keychain(Keychain::new().program(program));
    }
    let manager = LockManager::from(settings.connect()?);
    while !shift.is_over() {
        let wish = shift.wish();
        if let Some((claim, held)) = acquire(&mut shift, &manager, &wish) {
            hold(&mut shift, &wish, &claim, held);
            end(&mut shift, &wish, claim, held);
        }
        shift.pause(20);
    }
    Ok(())
}

fn acquire(shift: &mut Shift, manager: &LockManager, wish: &Wish) -> Option<(Claim, Held)> {
    let placed = Arc::new(AtomicU64::new(0));
    let heard = placed.clone();
    let first = move |_| {
        let _ = heard.compare_exchange(0, now(), Ordering::SeqCst, Ordering::SeqCst);
    };
    let begin = now();
    shift.write_acquire(wish, begin, None, Acquired::Unknown);
    let claiming = manager.claim_all(&wish.resources).timeout(wish.patience).on_wait(first);
    let claiming = match wish.limit {
        None => claiming.shared(),
        Some(1) => claiming,
        Some(count) => claiming.limit(count),
    };
    // An error leaves open whether the server had granted it meanwhile; it is cleared away later.
    let claim = claiming.get().ok();
    let held =
        claim.as_ref().and_then(|claim| Some(Held { claim: claim.id(), fence: claim.fence()? }));
    let outcome =
        held.map_or(Acquired::Unknown, |Held { claim, fence }| Acquired::Granted { claim, fence });
    let placed = Some(placed.load(Ordering::SeqCst)).filter(|at| *at > 0);
    shift.write_acquire(wish, begin, placed, outcome);
    claim.zip(held)
}

fn hold(shift: &mut Shift, wish: &Wish, claim: &Claim, held: Held) {
    let (begin, started) = (now(), Instant::now());
    let mut asked = begin;
    while claim.check().is_ok() {
        shift.write_belief(wish, held, begin, asked);
        shift.touch(wish, held.fence);
        if started.elapsed() > wish.hold {
            break;
        }
        if shift.dice.u32(0..64) == 0 {
            renew(shift, wish, claim, held);
        }
        shift.pause(15);
        asked = now();
    }
}

fn renew(shift: &mut Shift, wish: &Wish, claim: &Claim, held: Held) {
    let begin = now();
    shift.write_renew(wish, begin, held.claim, Told::Unknown);
    let outcome = match claim.refresh(shift.ttl) {
        Ok(()) => Told::Done,
        Err(RefreshError::Refused(_)) => Told::Refused,
        // What is lost here may be alive there: the deadline is earlier than the server's.
        Err(_) => Told::Unknown,
    };
    shift.write_renew(wish, begin, held.claim, outcome);
}

fn end(shift: &mut Shift, wish: &Wish, claim: Claim, held: Held) {
    let begin = now();
    shift.write_release(wish, begin, held.claim, Told::Unknown);
    if wish.ending == Ending::Drop {
        return drop(claim);
    }
    let outcome = match claim.release() {
        Ok(()) => Told::Done,
        Err(ReleaseError::Lost(tenure::Loss::Expired | tenure::Loss::Revoked)) => Told::Refused,
        Err(_) => Told::Unknown,
    };
    shift.write_release(wish, begin, held.claim, outcome);
}
