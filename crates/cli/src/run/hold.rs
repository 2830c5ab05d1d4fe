//! While the claim is held: the command runs, and ends before the claim does.

use std::ffi::OsString;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::json;
use tenure::driver::{Loss, Told};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

use super::child::{Environment, Guarded};
use super::code::{self, Stop};
use super::guard::tell_of;
use super::lead::Lead;
use super::moment::Moment;
use super::order::Order;
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
        let (environment, until) = (self.environment(), self.deadline());
        let guarded = Guarded::start(manner.command, environment, manner.lead, until);
        let mut guarded =
            guarded.map_err(|error| Stop::system("the command cannot be started", error))?;
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

    fn environment(&self) -> Environment {
        let names: Vec<&str> =
            self.wish.resources.as_slice().iter().map(|name| name.as_str()).collect();
        let text = |number: Option<u64>| number.map_or(String::new(), |number| number.to_string());
        vec![
            ("TENURE_FENCE", text(self.errand.fence().map(|fence| fence.0))),
            ("TENURE_CLAIM", text(self.errand.claim().map(|claim| claim.0))),
            // Names have no control characters, so lines keep them apart.
            ("TENURE_RESOURCE", names.join("\n")),
        ]
    }
}
