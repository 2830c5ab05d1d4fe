//! From the wish to the claim, and back: waiting for it, and giving it back.

use std::time::Duration;

use claims::claimant::Patience;
use rustix::process::Signal;
use serde_json::{Value, json};
use tenure::Wish;
use tenure::driver::{Driver, End, Errand, Loss, Miss, Told};
use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until, timeout};

use super::child::Guarded;
use super::code::{self, Stop};
use super::hold::Manner;
use super::moment::Moment;
use super::terms::Terms;
use super::voice::Voice;

/// A server from which nothing is heard for so long at the beginning is not there.
const ANSWER_WITHIN: Duration = Duration::from_secs(5);
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// How long to wait for a server that does not confirm that the claim is given back.
const FAREWELL: Duration = Duration::from_secs(5);

/// A claim that is wanted, then held, then given back.
pub(crate) struct Pursuit {
    pub(crate) driver: Driver,
    pub(crate) errand: Errand,
    pub(super) news: mpsc::UnboundedReceiver<Told>,
    pub(super) wish: Wish,
    pub(super) what: String,
    pub(super) conflict: u8,
    /// Of the command, if it is started already.
    pub(super) guard: Option<Guarded>,
}

impl Pursuit {
    pub(crate) fn begin(terms: &Terms, wish: Wish) -> Result<Self, Stop> {
        let driver =
            Driver::start(terms.settings()?).map_err(|error| super::terms::usage(&error))?;
        let mut wish = wish;
        // What nobody asked to be shown is left out where it cannot be.
        if !driver.capabilities().data && !terms.names_data() {
            wish.data = None;
        }
        let (tell, news) = mpsc::unbounded_channel();
        let errand = driver.pursue(wish.clone(), move |told| drop(tell.send(told.clone())));
        let names: Vec<String> =
            wish.resources.as_slice().iter().map(|name| format!("{name:?}")).collect();
        let what = names.join(" and ");
        Ok(Self {
            driver,
            errand,
            news,
            wish,
            what,
            conflict: terms.conflict_exit_code,
            guard: None,
        })
    }

    /// Waits until it is held, and makes ready meanwhile what is wanted then.
    pub(crate) async fn granted(
        &mut self,
        manner: &Manner<'_>,
        signals: &mut mpsc::UnboundedReceiver<Signal>,
        voice: &mut Voice,
    ) -> Result<(), Stop> {
        let mut position = None;
        let mut waits = false;
        let mut silent_at = Some(Instant::now() + ANSWER_WITHIN);
        let mut ticks = interval(LOOK_EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let stop = loop {
            tokio::select! {
                biased;
                Some(signal) = signals.recv() => {
                    break Stop { code: code::of_signal(signal.as_raw()), said: None };
                }
                told = self.news.recv() => match told {
                    Some(Told::Acquired { fence }) => {
                        voice.clear();
                        let claim = self.errand.claim().map(|claim| claim.0);
                        let fence = fence.map(|fence| fence.0);
                        voice.event("granted", json!({ "claim": claim, "fence": fence }));
                        return Ok(());
                    }
                    Some(Told::Waiting { position: now }) => {
                        silent_at = None;
                        waits = true;
                        position = now.or(position);
                        if self.guard.is_none() && !self.only_tries() {
                            self.guard = Some(self.make_ready(manner)?);
                        }
                    }
                    Some(Told::Missed(miss)) => break self.missed(miss),
                    Some(Told::Ended(_)) | None => break self.missed(Miss::GivenUp),
                    Some(Told::Refreshing | Told::Renewed | Told::Unknown { .. } | Told::Lost(_)) => {}
                },
                _ = ticks.tick(), if waits && voice.shows_waiting() => {
                    let seen = self.look().await;
                    position = self.place_in(&seen).or(position);
                    let holders = seen["holders"].as_array().map_or(&[][..], Vec::as_slice);
                    voice.waiting(&self.what, position, holders);
                }
                () = sleep_until(silent_at.unwrap_or_else(Instant::now)), if silent_at.is_some() => {
                    silent_at = None;
                    if let Some(said) = self.silence().await {
                        break Stop::because(code::UNAVAILABLE, said);
                    }
                }
            }
        };
        voice.clear();
        Err(stop)
    }

    /// Who only tries is sent away by the next word.
    fn only_tries(&self) -> bool {
        matches!(self.wish.patience, Patience::Try(_))
    }

    /// Who is in the way. Only to be shown: if nobody answers, nothing is.
    async fn look(&self) -> Value {
        let first = &self.wish.resources.as_slice()[0];
        let seen = timeout(LOOK_EVERY, self.driver.look_at(first)).await;
        let seen = seen.ok().and_then(Result::ok);
        seen.and_then(|json| serde_json::from_str(&json).ok()).unwrap_or_default()
    }

    fn place_in(&self, seen: &Value) -> Option<u64> {
        let me = self.errand.claim()?.0;
        let queue = seen["queue"].as_array()?;
        queue.iter().position(|claim| claim["id"] == me).map(|place| place as u64 + 1)
    }

    /// Why nothing was heard; none if the server is there after all.
    async fn silence(&self) -> Option<String> {
        let first = &self.wish.resources.as_slice()[0];
        let place = self.driver.place();
        match timeout(ANSWER_WITHIN, self.driver.look_at(first)).await {
            Ok(Ok(_)) => None,
            Ok(Err(problem)) if place.to_string().starts_with("http") => Some(format!(
                "{} could not be claimed: {problem}; start a server with `tenure serve`, or say where \
                 it is with --at",
                self.what
            )),
            Ok(Err(problem)) => Some(format!("{} could not be claimed: {problem}", self.what)),
            Err(_) => Some(format!("{} could not be claimed: {place} does not answer", self.what)),
        }
    }

    fn missed(&self, miss: Miss) -> Stop {
        let what = &self.what;
        match miss {
            Miss::Busy { .. } | Miss::TimedOut { problem: None } => {
                Stop { code: self.conflict, said: None }
            }
            Miss::TimedOut { problem: Some(problem) }
            | Miss::Refused(problem)
            | Miss::Unable(problem) => {
                Stop::because(code::UNAVAILABLE, format!("{what} could not be claimed: {problem}"))
            }
            Miss::NeverSure => Stop::because(
                code::UNAVAILABLE,
                format!(
                    "{what} was granted, but its ttl is over before an answer comes: give a longer --ttl"
                ),
            ),
            Miss::GivenUp | _ => Stop::because(code::UNAVAILABLE, format!("{what} was given up")),
        }
    }

    /// Until when the claim is certain.
    pub(crate) fn deadline(&self) -> Moment {
        Moment::now().after(self.errand.valid_for())
    }

    /// Gives it back. An error if it was not ours any more.
    pub(crate) async fn give_back(mut self, voice: &mut Voice) -> Result<(), Stop> {
        self.errand.release();
        let ended = async {
            let mut loss = None;
            while let Some(told) = self.news.recv().await {
                match told {
                    Told::Lost(lost) if lost != Loss::GivenUp => loss = Some(lost.to_string()),
                    Told::Ended(End::Refused(problem)) => return Err(problem.to_string()),
                    Told::Ended(end) => return loss.map_or(Ok(Some(end)), Err),
                    Told::Waiting { .. }
                    | Told::Acquired { .. }
                    | Told::Refreshing
                    | Told::Renewed
                    | Told::Unknown { .. }
                    | Told::Lost(_)
                    | Told::Missed(_) => {}
                }
            }
            Ok(None)
        };
        let ended = timeout(FAREWELL, ended).await;
        let ended = match ended {
            Ok(Ok(Some(End::Confirmed | End::Never))) => {
                voice.event("released", json!({}));
                Ok(())
            }
            Ok(Err(problem)) => Err(Stop::because(
                code::LOST,
                format!("{} was lost before the command ended: {problem}", self.what),
            )),
            _ => {
                let what = &self.what;
                voice.say(&format!("{what} is given back, but the server has not confirmed it: at the latest it is free when its ttl is over"));
                Ok(())
            }
        };
        self.leave();
        ended
    }

    /// Ends what is under way, quickly.
    pub(crate) fn leave(self) {
        self.errand.release();
        self.driver.close(Duration::from_secs(1));
    }
}
