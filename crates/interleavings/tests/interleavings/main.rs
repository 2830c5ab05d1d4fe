//! See the crate's documentation. `TENURE_SCHEDULES=100000` is the long form.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

mod model;
mod planted;
mod rig;
mod scenarios;

/// A module of the product, as `build.rs` copied it.
macro_rules! product {
    ($($module:ident)*) => { $(
        #[allow(unused, unreachable_pub, reason = "a copy of the product, of which not all is used")]
        #[allow(unexpected_cfgs, reason = "features are those of the product")]
        #[allow(clippy::all, reason = "what is planted is not pretty")]
        mod $module {
            include!(concat!(env!("OUT_DIR"), "/", stringify!($module), ".rs"));
        }
    )* };
}

product! { bell commits crowd desk inbox outbox store view waits }

/// What of the product is one thread's own, as it is.
mod embedded {
    pub(crate) use registry::embedded::{Batch, Chore, ChoreDone, Fatal, Ledger, Medium, Reading};
}

mod error {
    pub(crate) use registry::StoreError;
}
