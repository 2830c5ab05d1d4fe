//! `GetReservationDetails`: what is in a reservation at this very moment. Never from a cache: a
//! mutex reads its own owner back, and takes an old answer for a lost race.

use std::collections::HashMap;

use registry::ResourceReport;

use super::answer::{Node, Told};
use super::attributes;
use super::call::Call;
use super::guest::Guest;
use super::names::Id;
use super::refusal::No;
use super::reservation::{described, find};
use super::service::Service;

/// The most services that one answer shows.
const SHOWN_MAX: usize = 10_000;
/// What a claim is called that was not made by such a client.
const NO_SERVICE: &str = "Tenure claim";

pub(super) async fn details(guest: &Guest<'_>, call: &Call) -> Result<Told, No> {
    let id = Id::of(call)?;
    let known = find(guest, &id).await?;
    let (services, attributes) = (id.services(), id.all_attributes());
    let held = guest.under(&services, SHOWN_MAX).await?;
    let beside = guest.under(&attributes, SHOWN_MAX).await?;
    let beside: HashMap<&str, &ResourceReport> = beside
        .iter()
        .filter_map(|report| {
            Some((report.name.as_str().strip_prefix(attributes.as_str())?, report))
        })
        .collect();
    let shown = held.iter().filter_map(|report| {
        let alias = report.name.as_str().strip_prefix(services.as_str())?;
        service(guest, alias, report, beside.get(alias).copied())
    });
    let node = described("ReservationDescription", &id, &known)
        .with(Node::new("Resources"))
        .with(Node::new("Services").with_all(shown));
    Ok(Some(("GetReservationDescriptionResponseInfo", vec![node])))
}

/// A service as the client reads it; nothing if its time is over.
fn service(
    guest: &Guest<'_>,
    alias: &str,
    report: &ResourceReport,
    beside: Option<&ResourceReport>,
) -> Option<Node> {
    let holder = report.holders.first().filter(|holder| guest.is_held(holder))?;
    let known = Service::of(holder);
    let attributes = match beside {
        Some(beside) => attributes::now(holder, beside),
        None => known.as_ref().map(|known| known.attributes.clone()).unwrap_or_default(),
    };
    let attributes = attributes
        .into_iter()
        .map(|(name, value)| Node::new("Attribute").set("Name", name).set("Value", value));
    let model = known.map_or(NO_SERVICE.into(), |known| known.service);
    let node = Node::new("Service").set("ServiceName", model).set("Alias", alias);
    Some(node.with(Node::new("Attributes").with_all(attributes)))
}
