//! What can be seen: one claim, lists of claims, resources. Filters run where the claims are.

use claims::{Claim, ClaimId, Name, Phase, Place, Standing};
use update_if::Backend;

use super::Desk;
use super::keep::{HOLDING, micros, read_claim, status};
use super::load::read_name;
use super::statement::{Row, Statement};
use super::trouble::Trouble;
use crate::store::{Bounds, Filter, Page, ResourceReport};

/// The most that one statement reads.
const AT_ONCE: usize = 1_000;
/// How many holders a standing names.
const HOLDERS_NAMED: i64 = 8;

impl<DB: Backend> Desk<DB> {
    pub(super) async fn standing(&self, id: ClaimId) -> Result<Option<Standing>, Trouble> {
        let mut connection = self.pool.acquire().await.map_err(Trouble::undone::<DB>)?;
        let now = self.now(&mut connection).await?.at;
        let ask = Statement::of(DB::DIALECT, "SELECT body FROM tenure_claims WHERE id = ");
        let rows = ask.int(id.0 as i64).rows::<DB>(&mut connection, 1).await?;
        let Some(row) = rows.first() else { return Ok(None) };
        let claim = read_claim(row.bytes(0)?)?;
        let place = match &claim.phase {
            Phase::Waiting(_) => Some(self.place(&mut connection, &claim).await?),
            Phase::Active(_) | Phase::Ended(_) => None,
        };
        Ok(Some(Standing { claim, place, now }))
    }

    /// A waiter's place, to be shown.
    async fn place(&self, on: &mut DB::Connection, claim: &Claim) -> Result<Place, Trouble> {
        let mut place = Place { position: 1, holders: Vec::new() };
        for name in claim.resources.as_slice() {
            let ask =
                Statement::of(DB::DIALECT, "SELECT COUNT(*) FROM tenure_places WHERE name = ");
            let ask = ask.bytes(name.as_str().as_bytes()).text(" AND kind IN (0, 1, 2) AND id < ");
            let rows = ask.int(claim.id.0 as i64).rows::<DB>(on, 1).await?;
            let before = rows.first().map_or(Ok(0), |row| row.count(0))?;
            place.position = place.position.max(before as usize + 1);
            for holder in self.holders_of(on, name, HOLDERS_NAMED).await? {
                if place.holders.len() < HOLDERS_NAMED as usize
                    && !place.holders.contains(&holder.id)
                {
                    place.holders.push(holder.id);
                }
            }
        }
        Ok(place)
    }

    async fn holders_of(
        &self,
        on: &mut DB::Connection,
        name: &Name,
        count: i64,
    ) -> Result<Vec<Claim>, Trouble> {
        let ask = Statement::of(DB::DIALECT, OF_PLACES).bytes(name.as_str().as_bytes());
        let ask =
            ask.text(&format!(" AND p.kind = {HOLDING} ORDER BY c.due, p.id LIMIT ")).int(count);
        claims_in(&ask.rows::<DB>(on, 1).await?)
    }

    pub(super) async fn claims(
        &self,
        filter: &Filter,
        page: Page<ClaimId>,
    ) -> Result<Vec<Claim>, Trouble> {
        let mut connection = self.pool.acquire().await.map_err(Trouble::undone::<DB>)?;
        let now = self.now(&mut connection).await?.at;
        let (mut found, mut after, mut skip) = (Vec::new(), page.after, page.skip);
        while found.len() < page.count {
            let room =
                if filter.readable.is_some() { AT_ONCE } else { skip + page.count - found.len() };
            let room = room.min(AT_ONCE);
            let ask = Statement::of(DB::DIALECT, "SELECT body FROM tenure_claims WHERE id > ");
            let ask = ask.int(after.map_or(0, |after| after.0 as i64));
            let ask =
                narrowed(ask, filter, micros(now)).text(" ORDER BY id LIMIT ").int(room as i64);
            let piece = claims_in(&ask.rows::<DB>(&mut connection, 1).await?)?;
            let (last, whole) = (piece.last().map(|claim| claim.id), piece.len() == room);
            for claim in piece.into_iter().filter(|claim| filter.admits(claim, now)) {
                match skip {
                    0 if found.len() < page.count => found.push(claim),
                    0 => break,
                    _ => skip -= 1,
                }
            }
            match last {
                Some(last) if whole => after = Some(last),
                _ => break,
            }
        }
        Ok(found)
    }

    pub(super) async fn resource(
        &self,
        name: Name,
        queue: usize,
    ) -> Result<ResourceReport, Trouble> {
        let mut connection = self.pool.acquire().await.map_err(Trouble::undone::<DB>)?;
        let holders = self.holders_of(&mut connection, &name, AT_ONCE as i64).await?;
        let ask = Statement::of(DB::DIALECT, OF_PLACES).bytes(name.as_str().as_bytes());
        let ask = ask.text(" AND p.kind IN (0, 1, 2) ORDER BY p.id LIMIT ");
        let queue = ask.int(queue.min(AT_ONCE) as i64).rows::<DB>(&mut connection, 1).await?;
        let ask = Statement::of(DB::DIALECT, "SELECT waiting FROM tenure_resources WHERE name = ");
        let rows = ask.bytes(name.as_str().as_bytes()).rows::<DB>(&mut connection, 1).await?;
        let waiting = rows.first().map_or(Ok(0), |row| row.count(0))? as usize;
        Ok(ResourceReport { name, holders, queue: claims_in(&queue)?, waiting })
    }

    pub(super) async fn resources(&self, page: Page<Name>) -> Result<Vec<ResourceReport>, Trouble> {
        let mut connection = self.pool.acquire().await.map_err(Trouble::undone::<DB>)?;
        let ask = Statement::of(
            DB::DIALECT,
            "SELECT name, waiting FROM tenure_resources r WHERE EXISTS (SELECT 1 FROM tenure_places p \
             WHERE p.name = r.name AND p.kind IN (0, 1, 2, 3)) AND name > ",
        );
        let after = page.after.as_ref().map_or(&[][..], |name| name.as_str().as_bytes());
        let ask =
            ask.bytes(after).text(" ORDER BY name LIMIT ").int(page.count.min(AT_ONCE) as i64);
        let ask = ask.text(" OFFSET ").int(page.skip as i64);
        let mut reports = Vec::new();
        for row in ask.rows::<DB>(&mut connection, 2).await? {
            let (name, waiting) = (read_name(row.bytes(0)?)?, row.count(1)? as usize);
            let holders = self.holders_of(&mut connection, &name, AT_ONCE as i64).await?;
            reports.push(ResourceReport { name, holders, queue: Vec::new(), waiting });
        }
        Ok(reports)
    }
}

const OF_PLACES: &str =
    "SELECT c.body FROM tenure_places p JOIN tenure_claims c ON c.id = p.id WHERE p.name = ";

fn claims_in(rows: &[Row]) -> Result<Vec<Claim>, Trouble> {
    rows.iter().map(|row| read_claim(row.bytes(0)?)).collect()
}

/// The conditions of a filter, in SQL. Who may read what is not among them.
fn narrowed(mut ask: Statement, filter: &Filter, now: i64) -> Statement {
    if let Some(name) = &filter.resource {
        ask = ask.text(" AND id IN (SELECT p.id FROM tenure_places p WHERE p.name = ");
        ask = ask.bytes(name.as_str().as_bytes()).text(")");
    }
    if let Some(wanted) = filter.status {
        ask = ask.text(" AND status = ").int(status(wanted));
    }
    if filter.ttl.is_some() {
        // An unlimited lease has no end: it is as long as any.
        let left = format!("COALESCE(due, {}) - ", i64::MAX);
        ask = ask.text(&format!(" AND kind = {HOLDING}"));
        ask = within(ask, filter.ttl, |value| value, |ask| ask.text(&left).int(now));
    }
    if filter.active_for.is_some() {
        ask = ask.text(" AND active_at IS NOT NULL");
        let span = |ask: Statement| ask.text("COALESCE(ended_at, ").int(now).text(") - active_at");
        ask = within(ask, filter.active_for, as_micros, span);
    }
    let span =
        |ask: Statement| ask.text("COALESCE(active_at, ended_at, ").int(now).text(") - created_at");
    ask = within(ask, filter.waited_for, as_micros, span);
    let whole = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
    within(ask, filter.created, whole, |ask| ask.text("created_wall"))
}

fn as_micros(span: claims::Span) -> i64 {
    i64::try_from(span.as_micros()).unwrap_or(i64::MAX)
}

fn within<T: Copy>(
    mut ask: Statement,
    bounds: Bounds<T>,
    number: impl Fn(T) -> i64,
    what: impl Fn(Statement) -> Statement,
) -> Statement {
    if let Some(min) = bounds.min {
        ask = what(ask.text(" AND ")).text(" >= ").int(number(min));
    }
    if let Some(max) = bounds.max {
        ask = what(ask.text(" AND ")).text(" <= ").int(number(max));
    }
    ask
}
