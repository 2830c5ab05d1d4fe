//! A store that is not available.

use std::time::Duration;

use claims::{Claim, ClaimId, Command, Name, Standing};
use registry::{
    Answer, EventPage, Filter, Page, Pending, ResourceReport, Store, StoreError, Vitals,
};

/// A store that is not available.
pub(crate) struct Down;

fn down<'a, T>() -> Pending<'a, T> {
    Box::pin(async { Err(StoreError::Unavailable("the disk is on holiday".into())) })
}

impl Store for Down {
    fn submit(&self, _: Command) -> Pending<'_, Answer> {
        down()
    }
    fn submit_and_wait(&self, _: Command, _: Duration) -> Pending<'_, Answer> {
        down()
    }
    fn standing(&self, _: ClaimId) -> Pending<'_, Option<Standing>> {
        down()
    }
    fn claims(&self, _: Filter, _: Page<ClaimId>) -> Pending<'_, Vec<Claim>> {
        down()
    }
    fn resources(&self, _: Page<Name>) -> Pending<'_, Vec<ResourceReport>> {
        down()
    }
    fn resource(&self, _: Name, _: usize) -> Pending<'_, ResourceReport> {
        down()
    }
    fn events(&self, _: u64, _: usize) -> Pending<'_, EventPage> {
        down()
    }
    fn wait_for_event(&self, _: u64) -> Pending<'_, ()> {
        down()
    }
    fn sweep(&self) -> Pending<'_, Option<Duration>> {
        down()
    }
    fn vitals(&self) -> Pending<'_, Vitals> {
        down()
    }
}
