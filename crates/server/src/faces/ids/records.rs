//! What is known of operations, kept in claims: the newest claim of an item has its record. A change
//! is a new claim, and only then the end of the one before, so nothing is lost in between.

use claims::datasets::{Item, OPERATION_PREFIX, Record};
use claims::wire::Problem;
use claims::{
    Command, Data, Farewell, Limit, Name, Owner, Registration, Resources, Stamp, Status, Ttl,
};
use registry::{Page, ResourceReport};

use crate::access;
use crate::asked::Asked;
use crate::keys::hash_of;
use crate::server::unavailable;
use crate::v1::submit;

/// An item, what is known of it, and the claims that keep it.
pub(super) struct Kept {
    pub(super) item: Item,
    pub(super) record: Record,
    before: Record,
    owners: Vec<Owner>,
}

/// All items whose name comes after `after` and begins with it.
pub(super) async fn all(asked: &Asked<'_>, prefix: &str) -> Result<Vec<Kept>, Problem> {
    let mut found = Vec::new();
    each_resource(asked, prefix, |report| {
        if let Some(item) = Item::of_resource(report.name.as_str()) {
            found.push(Kept::of(item, report));
        }
    })
    .await?;
    Ok(found)
}

/// All of a dataset: its own and those of its files.
pub(super) async fn of_dataset(asked: &Asked<'_>, dataset: Item) -> Result<Vec<Kept>, Problem> {
    let mut found = all(asked, &format!("{}/", dataset.resource())).await?;
    found.push(one(asked, dataset).await?);
    Ok(found)
}

pub(super) async fn one(asked: &Asked<'_>, item: Item) -> Result<Kept, Problem> {
    let report = asked.server.store.resource(item.resource(), 0).await.map_err(unavailable)?;
    Ok(Kept::of(item, &report))
}

/// Everything that is held or wanted and whose name begins with a prefix, a page at a time.
pub(super) async fn each_resource(
    asked: &Asked<'_>,
    prefix: &str,
    mut see: impl FnMut(&ResourceReport),
) -> Result<(), Problem> {
    let mut after = Name::new(prefix).map_err(|refusal| Problem::refused(&refusal))?;
    let count = asked.server.config.list_max;
    loop {
        let page = asked.server.store.resources(Page::after(after, count));
        let page = page.await.map_err(unavailable)?;
        let within = page.iter().take_while(|report| report.name.as_str().starts_with(prefix));
        let seen = within.inspect(|report| see(report)).count();
        match page.last() {
            Some(last) if seen == page.len() => after = last.name.clone(),
            _ => return Ok(()),
        }
    }
}

/// The present moment, on the store's timeline and on the wall.
pub(super) async fn now(asked: &Asked<'_>) -> Result<Stamp, Problem> {
    let at = asked.server.store.vitals().await.map_err(unavailable)?.now;
    Ok(Stamp { at, wall: access::now() })
}

/// Names under which all records are, for grants.
pub(super) fn everything() -> Name {
    Name::new(OPERATION_PREFIX).expect("the prefix is a good name")
}

impl Kept {
    fn of(item: Item, report: &ResourceReport) -> Self {
        // Whoever may claim the name may put something else there: that is not a record.
        let records = report.holders.iter().filter_map(|claim| {
            let record = Record::parse(claim.data()?.as_str())?;
            Some((claim.id, Owner { claim: claim.id, key: claim.key }, record))
        });
        let mut records: Vec<_> = records.collect();
        records.sort_unstable_by_key(|(id, ..)| *id);
        let owners = records.iter().map(|(_, owner, _)| *owner).collect();
        let record = records.pop().map(|(.., record)| record).unwrap_or_default();
        Self { item, before: record.clone(), record, owners }
    }

    /// Keeps what has changed. Nothing is answered before that.
    pub(super) async fn save(&mut self, asked: &Asked<'_>) -> Result<(), Problem> {
        if self.record == self.before {
            return Ok(());
        }
        let kept = match self.record.is_nothing() {
            true => None,
            false => Some(self.register(asked).await?),
        };
        for owner in std::mem::replace(&mut self.owners, kept.into_iter().collect()) {
            submit(asked, Command::End(owner, Farewell::Release), None).await?;
        }
        self.before = self.record.clone();
        Ok(())
    }

    async fn register(&self, asked: &Asked<'_>) -> Result<Owner, Problem> {
        let key = hash_of(&asked.server.keys.new_key());
        let refused = |refusal| Problem::refused(&refusal);
        let registration = Registration {
            key,
            resources: Resources::one(self.item.resource()),
            limit: Limit::SHARED,
            ttl: Ttl::UNLIMITED,
            data: Some(Data::new(&self.record.to_json()).map_err(refused)?),
        };
        let standing = submit(asked, Command::Register(registration), None).await?;
        let owner = Owner { claim: standing.claim.id, key };
        if standing.claim.status() == Status::Active {
            return Ok(owner);
        }
        submit(asked, Command::End(owner, Farewell::Abort), None).await?;
        let name = self.item.resource();
        Err(Problem::unavailable(format!(
            "somebody has claimed {name} for something else: `tenure why {name}` says who"
        )))
    }
}
