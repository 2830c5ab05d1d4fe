//! What a program reads of its claim while the driver's thread writes.

use claims::claimant::{Lease, Moment};
use claims::{ClaimId, Fence};

use crate::model::sync::Arc;
use crate::model::thread;
use crate::rig::{always, catches};
use crate::view::View;

fn lease(deadline: u64, confirmed: bool) -> Lease {
    let deadline = Moment::from_micros(deadline);
    Lease { claim: ClaimId(3), fence: Some(Fence(31)), deadline, confirmed }
}

/// The claim is granted, its renewal is not confirmed, and it is lost, while somebody looks.
fn somebody_looks_while_it_changes() {
    let view = Arc::new(View::default());
    let driver = thread::spawn({
        let view = view.clone();
        move || {
            view.show(Some(ClaimId(3)), None);
            view.show(Some(ClaimId(3)), Some(lease(100, true)));
            view.show(Some(ClaimId(3)), Some(lease(100, false)));
            view.show(Some(ClaimId(3)), None);
        }
    });
    for _ in 0..3 {
        if let Some((deadline, _)) = view.lease() {
            assert_eq!(deadline, Moment::from_micros(100));
            assert_eq!(view.fence(), Some(Fence(31)), "a lease without its fence");
            assert_eq!(view.claim(), Some(ClaimId(3)), "a lease without its claim");
        }
    }
    driver.join().unwrap();
    assert_eq!(view.lease(), None, "it is lost");
}

#[test]
fn whoever_sees_a_lease_sees_its_fence() {
    always(somebody_looks_while_it_changes);
    catches("believes before it knows", "without its fence", somebody_looks_while_it_changes);
}
