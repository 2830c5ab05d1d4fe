//! Waiting with a claimant: looking whether its turn has come, and asking on its behalf.
//!
//! A database does not know who is waiting. When a resource frees up, the next waiter is called (rule
//! 6), and the process that waits for it activates it. So a waiter is only ever granted anything by its
//! own process, in answer to its claimant (rule 3).

use std::time::Duration;

use claims::{ClaimId, Command, Owner, Phase, Refusal, Standing};
use tokio::time::{Instant, timeout};
use update_if::{Backend, Value};

use super::Desk;
use super::decide::Act;
use super::keep::{CALLED, HOLDING, IN_LINE, PASSED_OVER};
use super::statement::Statement;
use super::trouble::Trouble;
use super::waits::Place;
use crate::store::Answer;

/// A waiter asks at least this often, so that its store knows that it is there.
const SEEN_EVERY: Duration = Duration::from_secs(20);

impl<DB: Backend> Desk<DB> {
    /// Runs a command and, if the claim has to wait, waits with it.
    pub(super) async fn wait(
        &self,
        command: Command,
        patience: Duration,
        ticket: u64,
    ) -> Result<Answer, Trouble> {
        let registered = matches!(command, Command::Register(_));
        let until = Instant::now().checked_add(patience);
        let until = until.unwrap_or_else(|| Instant::now() + Duration::from_secs(1 << 30));
        let Some(owner) = owner_of(&command) else {
            return self.ask(command).await;
        };
        let answer = self.ask(command).await?;
        let Some(claim) = waits(&answer) else {
            return Ok(answer);
        };
        let owner = Owner { claim, ..owner };
        let ends = match self.waits.enter(claim, ticket) {
            Some(place) => self.granted(owner, until, &place).await?,
            None => None,
        };
        match ends {
            Some(answer) => Ok(answer),
            None => self.still_waiting(owner, registered).await,
        }
    }

    pub(super) async fn ask(&self, command: Command) -> Result<Answer, Trouble> {
        let decided = self.decide(Act::Run(command)).await?;
        decided.answer.ok_or_else(|| Trouble::Refused("a command was not answered".to_owned()))
    }

    /// Waits until the claim is granted or ends. Nothing if patience ended, or a later wait took over.
    async fn granted(
        &self,
        owner: Owner,
        until: Instant,
        place: &Place<'_>,
    ) -> Result<Option<Answer>, Trouble> {
        let mut pause = self.bell.look_after;
        let mut seen = Instant::now();
        loop {
            let nap = pause.min(until.saturating_duration_since(Instant::now()));
            // Woken or not, it looks.
            let _ = timeout(nap, place.woken()).await;
            if place.is_taken() || Instant::now() >= until {
                return Ok(None);
            }
            let sight = self.sight(owner.claim).await?;
            if sight.asks() || seen.elapsed() >= SEEN_EVERY {
                let answer = self.ask(Command::Activate(owner)).await?;
                if waits(&answer).is_none() {
                    return Ok(Some(answer));
                }
                (seen, pause) = (Instant::now(), self.bell.look_after);
            } else {
                pause = (pause * 2).min(self.bell.look_at_least).min(sight.due_in);
            }
        }
    }

    /// The answer that a wait without success has. It was there until now.
    async fn still_waiting(&self, owner: Owner, registered: bool) -> Result<Answer, Trouble> {
        let answer = self.ask(Command::Leave(owner)).await?;
        let Ok(standing) = answer else { return Ok(answer) };
        let claim = owner.claim;
        Ok(match (&standing.claim.phase, &standing.place) {
            (Phase::Ended(_), _) => Err(Refusal::Over { claim, status: standing.claim.status() }),
            (_, Some(place)) if !registered => Err(Refusal::StillWaiting {
                claim,
                position: place.position,
                holders: place.holders.clone(),
            }),
            _ => Ok(standing),
        })
    }

    /// How it looks for a waiter, without changing anything.
    async fn sight(&self, claim: ClaimId) -> Result<Sight, Trouble> {
        let mut connection = self.pool.acquire().await.map_err(Trouble::undone::<DB>)?;
        let names = self.known.lock().expect("a lookup does not panic").get(&claim).cloned();
        let names = names.map(|names| names.as_slice().to_vec()).unwrap_or_default();
        let bytes = |name: &claims::Name| Value::Bytes(name.as_str().as_bytes().to_vec());
        let ask = Statement::of(DB::DIALECT, "SELECT ").clock(DB::DIALECT, &self.machine);
        let mut ask = ask.text(", lost, c.kind, ");
        ask = match names.is_empty() {
            true => ask.text("0"),
            // The first lease or turn that ends in front of it.
            false => ask
                .text(
                    "(SELECT MIN(o.due) FROM tenure_places p JOIN tenure_claims o ON o.id = p.id ",
                )
                .text(&format!("WHERE p.kind IN ({CALLED}, {HOLDING}) AND p.name IN ("))
                .values(names.iter().map(bytes))
                .text("))"),
        };
        ask = ask.text(" FROM tenure_store, tenure_claims c WHERE c.id = ").int(claim.0 as i64);
        let rows = ask.rows::<DB>(&mut connection, 5).await?;
        let Some(row) = rows.first() else {
            return Ok(Sight { kind: None, due_in: Duration::ZERO });
        };
        let left = row.int_or(4, i64::MAX)?.saturating_sub(row.int(0)? - row.int(2)?);
        let due_in = Duration::from_micros(left.max(0) as u64);
        Ok(Sight { kind: Some(row.int(3)?), due_in })
    }
}

/// What a waiter sees.
struct Sight {
    kind: Option<i64>,
    /// When the first lease or turn in front of it ends.
    due_in: Duration,
}

impl Sight {
    /// Whether it may be its turn, or it is over.
    fn asks(&self) -> bool {
        let waits = self.kind.is_some_and(|kind| kind == IN_LINE || kind == PASSED_OVER);
        !waits || self.due_in.is_zero()
    }
}

/// The claim that has to wait, if it has to.
fn waits(answer: &Answer) -> Option<ClaimId> {
    match answer {
        Ok(Standing { claim, place: Some(_), .. }) => Some(claim.id),
        Err(Refusal::StillWaiting { claim, .. }) => Some(*claim),
        _ => None,
    }
}

/// Who may wait. The number of a new claim is not known yet.
fn owner_of(command: &Command) -> Option<Owner> {
    match command {
        Command::Register(registration) => Some(Owner { claim: ClaimId(0), key: registration.key }),
        Command::Activate(owner) => Some(*owner),
        Command::Leave(_)
        | Command::Renew(..)
        | Command::End(..)
        | Command::Appoint(..)
        | Command::Revoke(_) => None,
    }
}
