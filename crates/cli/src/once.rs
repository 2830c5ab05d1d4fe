//! `tenure once`: run it only if nobody has.
//!
//! Two claims do it. Whoever runs the command holds `once/KEY`; the others wait for that. After a
//! success, and before it lets them go, it leaves a claim on `once/KEY/done` that nobody renews: for as
//! long as its ttl it says "done" to everybody who gets `once/KEY`. A live claim is never forgotten to
//! make room, as finished ones may be, and it is on the server's disk like any other.

use std::ffi::OsString;
use std::time::Duration;

use claims::{Data, Name, Resources};
use clap::Args;
use serde_json::{Value, json};
use tenure::Wish;
use tokio::time::{sleep, timeout};

use crate::run::code::{self, Stop};
use crate::run::hold::Manner;
use crate::run::pursuit::Pursuit;
use crate::run::signals;
use crate::run::terms::{self, Terms, usage};
use crate::run::voice::Voice;

/// How long one answer may take, and the pause before it is asked again.
const ANSWER_WITHIN: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(100);

/// What `once` can be told.
#[derive(Args)]
pub(crate) struct Once {
    /// How long a success is remembered
    #[arg(long, value_name = "SPAN", default_value = "24h", value_parser = crate::span::span)]
    remember: Duration,
    #[command(flatten)]
    terms: Terms,
    /// What is to be done once: a name that everybody who would do it gives
    key: String,
    /// What to run
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// Runs the command if nobody has, and returns the exit code.
pub(crate) async fn run(asked: Once) -> u8 {
    let mut voice = Voice::new(asked.terms.json);
    let done = once(&asked, &mut voice).await;
    crate::run::end(done, &mut voice)
}

async fn once(asked: &Once, voice: &mut Voice) -> Result<u8, Stop> {
    let Once { terms, key, command, .. } = asked;
    let wish = terms.wish(&[format!("once/{key}")], command)?;
    let success = success(asked, &wish)?;
    let manner = Manner { command, lead: terms.lead()?, leaves: terms.leaves() };
    let signals = signals::catch();
    let mut signals = signals.map_err(|error| Stop::system("signals cannot be caught", error))?;
    let mut pursuit = Pursuit::begin(terms, wish)?;
    let held = async {
        pursuit.granted(&manner, &mut signals, voice).await?;
        if let Some(claim) = done(&pursuit, &success).await? {
            voice.event("done_before", json!({ "claim": claim }));
            return Ok(0);
        }
        let code = pursuit.hold(&manner, &mut signals, voice).await?;
        if code == 0 {
            remember(&pursuit, &success).await?;
        }
        Ok(code)
    };
    match held.await {
        Ok(code) => pursuit.give_back(voice).await.map(|()| code),
        Err(stop) => {
            pursuit.leave();
            Err(stop)
        }
    }
}

/// The claim that says "done".
fn success(asked: &Once, wish: &Wish) -> Result<Wish, Stop> {
    let name = Name::new(&format!("once/{}/done", asked.key)).map_err(|error| usage(&error))?;
    let mut success = Wish::new(Resources::one(name), terms::ttl(asked.remember)?);
    let by: Value = wish
        .data
        .as_ref()
        .map_or(Value::Null, |data| serde_json::from_str(data.as_str()).unwrap_or_default());
    let data = Data::new(&json!({ "once": "done", "by": by }).to_string());
    success.data = Some(data.map_err(|error| usage(&error))?);
    Ok(success)
}

/// The claim that says that somebody has done it. Asked while `once/KEY` is held, so nobody is doing it
/// now. Who cannot know must not run.
async fn done(pursuit: &Pursuit, success: &Wish) -> Result<Option<u64>, Stop> {
    let name = &success.resources.as_slice()[0];
    let mut problem = "no answer came".to_owned();
    while !pursuit.errand.valid_for().is_zero() {
        match timeout(ANSWER_WITHIN, pursuit.driver.look_at(name)).await {
            Ok(Ok(json)) => match serde_json::from_str::<Value>(&json) {
                Ok(seen) => return Ok(holder(&seen)),
                Err(error) => problem = error.to_string(),
            },
            Ok(Err(error)) => problem = error.to_string(),
            Err(_) => {}
        }
        sleep(PAUSE).await;
    }
    Err(Stop::because(
        code::UNAVAILABLE,
        format!("nobody can say whether it has been done, so it is not run: {problem}"),
    ))
}

/// Who holds it and is not overdue.
fn holder(seen: &Value) -> Option<u64> {
    let mut holders = seen["holders"].as_array()?.iter();
    let holder = holders.find(|holder| holder["ttl"].as_f64().is_some_and(|ttl| ttl > 0.0))?;
    holder["id"].as_u64()
}

/// Says "done" to everybody who comes later. Tried until the lease is over: after that, somebody else
/// may be running it again.
async fn remember(pursuit: &Pursuit, success: &Wish) -> Result<(), Stop> {
    let mut problem = "no answer came".to_owned();
    while !pursuit.errand.valid_for().is_zero() {
        match timeout(ANSWER_WITHIN, pursuit.driver.leave(success)).await {
            Ok(Ok(())) => return Ok(()),
            Ok(Err(error)) => problem = error.to_string(),
            Err(_) => {}
        }
        sleep(PAUSE).await;
    }
    Err(Stop::because(
        code::LOST,
        format!(
            "the command succeeded, but that could not be recorded, so it may run again: {problem}"
        ),
    ))
}
