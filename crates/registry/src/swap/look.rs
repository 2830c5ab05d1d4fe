//! Looking: one claim, one resource, all of them.

use std::collections::BTreeSet;

use claims::{Claim, ClaimId, Name, Phase, Standing, State, Tally};

use super::Core;
use super::cabinet::Cabinet;
use super::decide::Act;
use super::slots::Opened;
use crate::error::StoreError;
use crate::store::{Filter, Page, ResourceReport};

/// How much one answer tells at most.
pub(super) const LOOK_MAX: usize = 2_000;

impl<C: Cabinet> Core<C> {
    pub(super) async fn standing(&self, claim: ClaimId) -> Result<Option<Standing>, StoreError> {
        let Some(key) = self.cabinet.find(claim).await? else { return Ok(None) };
        let (opened, stamp) = self.open_now([key].into()).await?;
        Ok(self.state(&opened, stamp).standing(claim, stamp.at))
    }

    pub(super) async fn resource(
        &self,
        name: Name,
        queue: usize,
    ) -> Result<ResourceReport, StoreError> {
        let (opened, stamp) = self.open_now([self.cabinet.drawer(&name)].into()).await?;
        Ok(report(&self.state(&opened, stamp), &name, queue.min(LOOK_MAX)))
    }

    /// Everybody is looked at: these stores have no index but by resource.
    pub(super) async fn claims(
        &self,
        filter: Filter,
        page: Page<ClaimId>,
    ) -> Result<Vec<Claim>, StoreError> {
        let (opened, stamp) = match &filter.resource {
            Some(name) => self.open_now([self.cabinet.drawer(name)].into()).await?,
            None => self.all().await?,
        };
        let claims = opened.into_iter().flat_map(|it| it.claims).map(|record| record.claim);
        let mut found: Vec<Claim> = claims
            .filter(|claim| page.after.is_none_or(|after| claim.id > after))
            .filter(|claim| filter.admits(claim, stamp.at))
            .collect();
        found.sort_by_key(|claim| claim.id);
        Ok(found.into_iter().skip(page.skip).take(page.count).collect())
    }

    pub(super) async fn resources(
        &self,
        page: Page<Name>,
    ) -> Result<Vec<ResourceReport>, StoreError> {
        let (opened, stamp) = self.all().await?;
        let state = self.state(&opened, stamp);
        let names = state.names_after(page.after.as_ref()).skip(page.skip);
        Ok(names.take(page.count.min(LOOK_MAX)).map(|name| report(&state, name, 0)).collect())
    }

    pub(super) async fn tally(&self) -> Result<Tally, StoreError> {
        let (opened, _) = self.all().await?;
        let mut tally = Tally::default();
        for record in opened.iter().flat_map(|it| &it.claims) {
            match &record.claim.phase {
                Phase::Waiting(_) => tally.waiting += 1,
                Phase::Active(_) => tally.active += 1,
                Phase::Ended(_) => tally.ended += 1,
            }
        }
        Ok(tally)
    }

    async fn all(&self) -> Result<(Vec<Opened<C::Version>>, claims::Stamp), StoreError> {
        let (keys, stamp): (BTreeSet<_>, _) = self.look_at_all().await?;
        Ok((self.opened(&keys, stamp), stamp))
    }

    fn state(&self, opened: &[Opened<C::Version>], stamp: claims::Stamp) -> State {
        self.circumstances(stamp).state(opened, 0, &Act::Sweep("".into()))
    }
}

fn report(state: &State, name: &Name, queue: usize) -> ResourceReport {
    ResourceReport {
        name: name.clone(),
        holders: state.holders(name).take(LOOK_MAX).cloned().collect(),
        queue: state.queue(name).take(queue).cloned().collect(),
        waiting: state.queue_len(name),
    }
}
