//! One line an event, for people or in JSON.

use serde_json::{Map, Value};

use super::Watch;
use super::stream::Told;
use crate::out::{Out, plain, seconds};
use crate::show::read;

pub(super) struct Lines<'a> {
    out: &'a mut Out,
    json: bool,
    all: bool,
}

impl<'a> Lines<'a> {
    pub(super) fn new(wish: &Watch, out: &'a mut Out) -> Self {
        Self { out, json: wish.json, all: wish.all }
    }

    pub(super) fn tell(&mut self, told: &Told, resources: Option<&[String]>) -> anyhow::Result<()> {
        let is_noise = matches!(told.event.as_str(), "seen" | "renewed");
        if is_noise && !self.all {
            return Ok(());
        }
        if self.json {
            let mut object: Map<String, Value> = read(&told.json)?;
            object.insert("position".into(), told.position.into());
            if let Some(resources) = resources {
                object.insert("resources".into(), resources.into());
            }
            self.out.line(Value::Object(object))?;
        } else {
            self.out.line(sentence(told, resources.unwrap_or_default()))?;
        }
        self.out.flush()
    }

    pub(super) fn skipped(&mut self, count: u64) -> anyhow::Result<()> {
        match self.json {
            true => self.out.line(format_args!(r#"{{"event":"skipped","skipped":{count}}}"#))?,
            false => self.out.line(format_args!("{count} events are no longer kept: skipped"))?,
        }
        self.out.flush()
    }
}

fn sentence(told: &Told, names: &[String]) -> String {
    let mut text = format!("{}  {:<11}", plain(&told.timestamp), plain(&told.event));
    if let Some(id) = told.claim_id {
        let names: Vec<String> = names.iter().map(|name| plain(name)).collect();
        text += &format!("  claim {id}  {}", names.join(", "));
    }
    if let Some(fence) = told.fence {
        text += &format!("  fence {fence}");
    }
    if told.ttl.is_some() {
        text += &format!("  ttl {}", seconds(told.ttl));
    }
    if told.kept_for.is_some() {
        text += &format!("  its turn is kept for {}", seconds(told.kept_for));
    }
    text.trim_end().to_owned()
}
