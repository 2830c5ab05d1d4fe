//! The store as others see it.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};
use std::time::Duration;

use claims::{Claim, ClaimId, Command, Name, Standing};
use tokio::task::JoinHandle;
use update_if::Backend;

use super::trouble::Trouble;
use super::{Desk, SqlStore};
use crate::error::StoreError;
use crate::store::{Answer, EventPage, Filter, Page, Pending, ResourceReport, Store, Vitals};

impl<DB: Backend> SqlStore<DB> {
    /// Runs what was asked at once, in the order of asking, and stops when nobody waits for it any more.
    fn begin<T: Send + 'static, F: Future<Output = Result<T, Trouble>> + Send + 'static>(
        &self,
        work: impl FnOnce(Arc<Desk<DB>>) -> F,
    ) -> Pending<'_, T> {
        let work = work(self.desk.clone());
        let task = tokio::spawn(async move { work.await.map_err(Trouble::told) });
        Box::pin(Begun(task))
    }
}

/// Work that ends with the one who waits for it.
struct Begun<T>(JoinHandle<Result<T, StoreError>>);

impl<T> Future for Begun<T> {
    type Output = Result<T, StoreError>;
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0).poll(context).map(|done| {
            done.unwrap_or_else(|error| {
                Err(StoreError::Unknown(format!("the work was given up half way: {error}")))
            })
        })
    }
}

impl<T> Drop for Begun<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl<DB: Backend> Store for SqlStore<DB> {
    fn submit(&self, command: Command) -> Pending<'_, Answer> {
        Box::pin(async move { self.desk.ask(command).await.map_err(Trouble::told) })
    }

    fn submit_and_wait(&self, command: Command, patience: Duration) -> Pending<'_, Answer> {
        let ticket = self.desk.tickets.fetch_add(1, Ordering::Relaxed);
        self.begin(move |desk| async move { desk.wait(command, patience, ticket).await })
    }

    fn standing(&self, claim: ClaimId) -> Pending<'_, Option<Standing>> {
        Box::pin(async move { self.desk.standing(claim).await.map_err(Trouble::told) })
    }

    fn claims(&self, filter: Filter, page: Page<ClaimId>) -> Pending<'_, Vec<Claim>> {
        Box::pin(async move { self.desk.claims(&filter, page).await.map_err(Trouble::told) })
    }

    fn resources(&self, page: Page<Name>) -> Pending<'_, Vec<ResourceReport>> {
        Box::pin(async move { self.desk.resources(page).await.map_err(Trouble::told) })
    }

    fn resource(&self, name: Name, queue: usize) -> Pending<'_, ResourceReport> {
        Box::pin(async move { self.desk.resource(name, queue).await.map_err(Trouble::told) })
    }

    fn events(&self, position: u64, count: usize) -> Pending<'_, EventPage> {
        Box::pin(async move { self.desk.events(position, count).await.map_err(Trouble::told) })
    }

    fn wait_for_event(&self, position: u64) -> Pending<'_, ()> {
        Box::pin(async move { self.desk.wait_for_event(position).await.map_err(Trouble::told) })
    }

    fn sweep(&self) -> Pending<'_, Option<Duration>> {
        Box::pin(async move { self.desk.sweep().await.map(Some).map_err(Trouble::told) })
    }

    fn vitals(&self) -> Pending<'_, Vitals> {
        Box::pin(async move { self.desk.vitals().await.map_err(Trouble::told) })
    }
}
