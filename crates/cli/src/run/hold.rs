//! While the claim is held: the command runs, and ends before the claim does.

use std::ffi::OsString;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::json;
use tenure::driver::{Loss, Told};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

use super::child::Guarded;
use super::code::{self, Stop};
use super::guard::tell_of;
use super::lead::Lead;
use super::moment::Moment;
use super::order::{Held, Order};
use super::pursuit::Pursuit;
use super::voice::Voice;
use super::{signals, tree};

/// A guard that was told to stop and has not by then is stopped itself, with all it guards.
const GUARD_WITHIN: Duration = Duration::from_secs(2);

/// How a command is held.
pub(crate) struct Manner<'a> {
    pub(crate) command: &'a [OsString],
    pub(crate) lead: Lead,
    /// Whether what it leaves running may go on.
    pub(crate) leaves: bool,
}

impl Pursuit {
    /// Runs the command until it ends or the claim does; its exit code.
    pub(crate) async fn hold(
        &mut self,
        manner: &Manner<'_>,
        signals: &mut mpsc::UnboundedReceiver<Signal>,
        voice: &mut Voice,
    ) -> Result<u8, Stop> {
        let mut guarded = match self.guard.take() {
            Some(ready) => ready,
            None => self.make_ready(manner)?,
        };
        let (claim, fence) = (self.errand.claim(), self.errand.fence());
        let held = Held { claim: claim.map(|it| it.0), fence: fence.map(|it| it.0) };
        guarded.begin(held, self.deadline());
        voice.event("started", json!({}));
        let mut trouble = None;
        let mut give_up: Option<Instant> = None;
        let status = loop {
            tokio::select! {
                status = guarded.ended() => break status,
                Some(told) = self.news.recv() => match told {
                    Told::Renewed => {
                        guarded.tell(Order::Until(self.deadline()));
                        voice.event("renewed", json!({ "valid_for": self.errand.valid_for().as_secs_f64() }));
                        trouble = None;
                    }
                    Told::Unknown { problem } => {
                        voice.event("unknown", json!({ "problem": problem.to_string() }));
                        trouble = Some(problem.to_string());
                    }
                    Told::Lost(loss) => {
                        guarded.tell(Order::Stop);
                        voice.event("lost", json!({ "cause": loss.to_string() }));
                        // Past our own deadline nothing may be left; who took it away knew that we run.
                        let late = matches!(loss, Loss::Unconfirmed(_));
                        let within = if late { Duration::ZERO } else { GUARD_WITHIN };
                        give_up = Some(Instant::now() + within);
                        trouble = Some(loss.to_string());
                    }
                    Told::Waiting { .. } | Told::Acquired { .. } | Told::Refreshing
                    | Told::Missed(_) | Told::Ended(_) => {}
                },
                Some(signal) = signals.recv() => {
                    if !signals::reaches_all(signal) {
                        guarded.tell(Order::Pass(signal));
                    }
                }
                () = sleep_until(give_up.unwrap_or_else(Instant::now)), if give_up.is_some() => {
                    give_up = None;
                    tell_of(&tree::stop(Moment::now()).await);
                }
            }
        };
        if let Some(code) = status.exit_status().and_then(|code| u8::try_from(code).ok()) {
            if !manner.leaves {
                tell_of(&tree::stop(manner.lead.kill_rest(self.deadline())).await);
            }
            voice.event("ended", json!({ "code": code }));
            return Ok(code);
        }
        // The guard is gone, and with it our certainty: whatever is left ends now.
        tell_of(&tree::stop(Moment::now()).await);
        match status.terminating_signal() {
            Some(number) if number != Signal::KILL.as_raw() => {
                Err(Stop { code: code::of_signal(number), said: None })
            }
            _ => {
                let why = trouble.unwrap_or_else(|| "its lease was not renewed in time".into());
                let what = &self.what;
                Err(Stop::because(
                    code::LOST,
                    format!("{what} is lost, and the command stopped: {why}"),
                ))
            }
        }
    }

    /// A guard that waits for the word to begin.
    pub(super) fn make_ready(&self, manner: &Manner<'_>) -> Result<Guarded, Stop> {
        // Names have no control characters, so lines keep them apart.
        let names: Vec<&str> =
            self.wish.resources.as_slice().iter().map(|name| name.as_str()).collect();
        Guarded::ready(manner, &names.join("\n"))
            .map_err(|error| Stop::system("the command cannot be started", error))
    }
}
