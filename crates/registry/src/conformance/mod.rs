//! What every store promises, as tests that any store can run (feature `conformance`).
//!
//! [`conformance!`](crate::conformance) turns each case into a test of its own, so a test report
//! reads as the list of promises. Each case uses names of its own: a store that others use, too,
//! can be examined without harm.
//!
//! ```text
//! registry::conformance!(memory, || Examined::new(Arc::new(registry::memory(Rules::default()))));
//! ```

mod holding;
mod looking;
mod owning;
mod waiting;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use claims::{
    Command, Data, Farewell, KeyHash, Limit, Name, Owner, Registration, Resources, Standing, Ttl,
};

pub use self::{holding::*, looking::*, owning::*, waiting::*};
use crate::store::{Answer, Store};

/// Longer than anything here takes, unless it hangs.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// One test per promise. The second argument makes the store to be examined (an [`Examined`]).
#[macro_export]
macro_rules! conformance {
    ($store:ident, $make:expr) => {
        mod $store {
            #[allow(unused_imports, reason = "what `$make` needs is in scope above")]
            use super::*;
            $crate::conformance!(@list tests $make);
        }
    };
    (@list $then:ident $($what:expr)?) => {
        $crate::conformance! { @$then [
            free_resource_is_granted_at_once,
            exclusive_claim_excludes_all_others,
            shared_claims_hold_together,
            semaphore_admits_as_many_as_its_limit,
            smallest_limit_counts,
            several_resources_are_granted_all_or_none,
            claims_over_several_resources_do_not_deadlock,
            waiters_are_served_in_turn,
            newcomer_does_not_barge,
            every_grant_has_a_greater_fence,
            lease_that_ends_goes_to_the_next,
            renewed_lease_does_not_end,
            contenders_never_overlap,
            open_wait_is_granted_by_the_release,
            impatient_waiter_keeps_its_place,
            waiter_that_hangs_up_is_not_granted,
            revoked_waiter_is_told,
            second_wait_replaces_the_first,
            wrong_key_and_unknown_claim_are_one_answer,
            keeper_may_renew_and_nothing_else,
            registration_sent_again_is_the_same_claim,
            other_registration_under_the_same_key_is_refused,
            ending_twice_is_one_ending,
            waiter_cannot_release,
            administrator_revokes_by_id,
            claims_are_listed_in_order_and_by_page,
            filters_select_claims,
            lease_without_end_is_listed_as_longer_than_any,
            resource_shows_holders_and_queue,
            list_shows_only_what_may_be_read,
            history_is_told_in_order,
            event_wakes_those_who_wait_for_it,
            user_data_comes_back_as_given,
            names_differ_in_case_and_script,
        ] $($what)? }
    };
    (@tests [$($case:ident),* $(,)?] $make:expr) => {
        $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $case() {
                $crate::conformance::$case(&($make)()).await;
            }
        )*
    };
    (@table [$($case:ident),* $(,)?]) => {
        &[$({
            fn run(it: &Examined) -> Examination<'_> {
                Box::pin($case(it))
            }
            (stringify!($case), run)
        }),*]
    };
}

/// A case at work. It panics if the promise is not kept.
pub type Examination<'a> = std::pin::Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

/// A promise: its name, and how it is examined.
pub type Case = (&'static str, for<'a> fn(&'a Examined) -> Examination<'a>);

/// Every promise, for those who examine a store without a test harness.
pub const CASES: &[Case] = crate::conformance!(@list table);

/// A store under examination, with names that nobody else uses.
pub struct Examined {
    pub(crate) store: Arc<dyn Store>,
    prefix: String,
    keys: AtomicU64,
    several: bool,
    pub(crate) clock: bool,
    _house: Box<dyn std::any::Any + Send + Sync>,
}

impl Examined {
    /// Examines a store.
    pub fn new(store: Arc<dyn Store>) -> Self {
        static CASES: AtomicU64 = AtomicU64::new(0);
        let case = CASES.fetch_add(1, Ordering::Relaxed);
        let prefix = format!("conformance/{}/{case}", std::process::id());
        let keys = AtomicU64::new(case << 32 | 1);
        Self { store, prefix, keys, several: true, clock: true, _house: Box::new(()) }
    }

    /// Of a store that keeps one resource per claim and refuses more: then that is a promise, too.
    pub fn one_resource_each(self) -> Self {
        Self { several: false, ..self }
    }

    /// Of a store without a clock: when something happened is told on the timeline of who reads.
    pub fn without_clock(self) -> Self {
        Self { clock: false, ..self }
    }

    /// Keeps whatever the store lives in (a directory, a server) until the examination is over.
    pub fn housed_in(self, house: impl std::any::Any + Send + Sync) -> Self {
        Self { _house: Box::new(house), ..self }
    }

    pub(crate) fn name(&self, name: &str) -> Name {
        Name::new(&format!("{}/{name}", self.prefix)).expect("a name")
    }

    /// A registration for one resource under a new key, with a ttl far beyond the test.
    pub(crate) fn wish(&self, name: &str, limit: Limit) -> Registration {
        let mut key = [0xA5; 16];
        key[..8].copy_from_slice(&self.keys.fetch_add(1, Ordering::Relaxed).to_le_bytes());
        key[8..12].copy_from_slice(&std::process::id().to_le_bytes());
        Registration {
            key: KeyHash(key),
            resources: Resources::one(self.name(name)),
            limit,
            ttl: Ttl::from_secs_f64(600.0).expect("a ttl"),
            data: Data::new("{\"case\":true}").ok(),
        }
    }

    pub(crate) fn exclusive(&self, name: &str) -> Registration {
        self.wish(name, Limit::EXCLUSIVE)
    }

    /// Whether the store does not keep such claims, as it was said to; then it must refuse clearly.
    pub(crate) async fn refuses_several(&self, registration: &Registration) -> bool {
        if self.several {
            return false;
        }
        let answer = self.ask(Command::Register(registration.clone())).await;
        let count = registration.resources.as_slice().len();
        assert_eq!(answer, Err(claims::Refusal::OneResourceOnly { count }));
        true
    }

    pub(crate) async fn ask(&self, command: Command) -> Answer {
        self.store.submit(command).await.expect("the store serves")
    }

    /// Registers, and returns where the claim stands and who owns it.
    pub(crate) async fn register(&self, registration: Registration) -> (Standing, Owner) {
        let key = registration.key;
        let standing = self.ask(Command::Register(registration)).await.expect("it is acceptable");
        let owner = Owner { claim: standing.claim.id, key };
        (standing, owner)
    }

    pub(crate) async fn wait(&self, command: Command, patience: Duration) -> Answer {
        self.store.submit_and_wait(command, patience).await.expect("the store serves")
    }

    pub(crate) async fn release(&self, owner: Owner) {
        self.ask(Command::End(owner, Farewell::Release)).await.expect("it is held");
    }
}

pub(crate) fn seconds(ttl: f64) -> Ttl {
    Ttl::from_secs_f64(ttl).expect("a ttl")
}

pub(crate) fn is_active(standing: &Standing) -> bool {
    standing.claim.status() == claims::Status::Active
}

/// The fence of a holder.
pub(crate) fn fence(standing: &Standing) -> u64 {
    standing.claim.activation().expect("a holder has a fence").fence.0
}
