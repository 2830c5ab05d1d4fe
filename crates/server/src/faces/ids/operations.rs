//! `POST /ids/operations`: request that something is written, archived, restored or deleted.

use claims::Verb;
use claims::datasets::{DatasetId, Item};
use claims::wire::{Fields, Problem};
use hyper::StatusCode;

use super::{read, records};
use crate::answer::{Answer, json};
use crate::asked::Asked;

pub(crate) async fn request(asked: &Asked<'_>, body: &[u8]) -> Result<Answer, Problem> {
    let fields = Fields::parse(asked.media, body, asked.query)?;
    let (operation, note) = (read::operation(&fields)?, read::note(&fields)?);
    let dataset = read::id(&fields, "datasetId")?.map(DatasetId);
    let dataset = dataset.ok_or_else(|| read::blamed("datasetId", "A whole number is required"))?;
    let item = match read::id_or_null(&fields, "datafileId")? {
        None => Item::Dataset(dataset),
        Some(datafile) => Item::Datafile { dataset, datafile },
    };
    let data = read::text_or_null(&fields, "data")?;
    let prepare = read::truth(&fields, "prepare")?;
    drop(fields);
    asked.demand(Verb::Claim, &[item.resource()])?;

    let _alone = asked.server.operations.lock().await;
    let now = records::now(asked).await?;
    let mut kept = records::one(asked, item).await?;
    let record = &mut kept.record;
    if prepare {
        record.prepare();
    }
    let requested = record.request(item, operation, note, now, &asked.server.config.delays);
    requested.map_err(|refusal| read::blamed("operation", &refusal.to_string()))?;
    match data {
        Some(data) => record.data = data,
        None if record.data.is_empty() => record.data = item.resource().as_str().to_owned(),
        None => {}
    }
    kept.save(asked).await?;
    let request = kept.record.state();
    let request = request.map_or("null".to_owned(), |state| format!("\"{state}\""));
    let offline = kept.record.is_maybe_offline();
    let body = format!("{{\"request\":{request},\"maybeOffline\":{offline}}}");
    Ok(json(StatusCode::OK, body))
}
