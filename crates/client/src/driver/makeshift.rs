//! The driver's thread at a place without a lock service: each errand is a task of its own.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use claims::claimant::{Class, Input, Lease, Moment, Patience};
use claims::{ClaimId, Fence, Limit, Name};
use makeshift::{Claimed, Ended, Makeshift, NotClaimed};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::telling::{End, Loss, Miss, Problem, Told};
use super::view::View;
use super::{Order, Teller};
use crate::clock;
use crate::exchange::Silence;
use crate::wish::{Wish, duration};

/// How often it is looked whether the lease goes on.
const LOOK_EVERY: Duration = Duration::from_millis(200);

pub(super) async fn run(place: Makeshift, mut orders: mpsc::UnboundedReceiver<Order>) {
    let mut errands: HashMap<u64, mpsc::UnboundedSender<Input>> = HashMap::new();
    let mut tasks = JoinSet::new();
    let mut closes_by = None;
    while closes_by.is_none() || !tasks.is_empty() {
        let left = closes_by.map_or(Duration::MAX, clock::until);
        tokio::select! {
            order = orders.recv(), if closes_by.is_none() => match order {
                Some(Order::Pursue { errand, wish, view, tell }) => {
                    let (input, inbox) = mpsc::unbounded_channel();
                    errands.insert(errand, input);
                    tasks.spawn(Pursuit { view, tell, inbox }.run(place.clone(), wish));
                }
                Some(Order::Tell { errand, input }) => tell(errands.get(&errand), input),
                Some(Order::AbortAll) => errands.values().for_each(|errand| tell(Some(errand), Input::Signal)),
                Some(Order::Ask { then, .. }) => {
                    let why = format!("{} has no lock server, so nobody can be asked", place.shown());
                    let _ = then.send(Err(Silence { class: Class::NotSent, why }));
                }
                Some(Order::Close { by }) => {
                    closes_by = Some(by);
                    errands.values().for_each(|errand| tell(Some(errand), Input::Release));
                }
                None => closes_by = Some(clock::now()),
            },
            Some(_) = tasks.join_next() => errands.retain(|_, errand| !errand.is_closed()),
            () = tokio::time::sleep(left) => break,
        }
    }
}

fn tell(errand: Option<&mpsc::UnboundedSender<Input>>, input: Input) {
    if let Some(errand) = errand {
        // A task that is over has told so.
        let _ = errand.send(input);
    }
}

struct Pursuit {
    view: Arc<View>,
    tell: Teller,
    inbox: mpsc::UnboundedReceiver<Input>,
}

impl Pursuit {
    async fn run(mut self, place: Makeshift, wish: Box<Wish>) {
        let resource = match only_resource(&place, &wish) {
            Ok(resource) => resource.as_str().to_owned(),
            Err(problem) => return self.missed(Miss::Unable(problem)),
        };
        // There is no queue, and nobody says more until it is decided.
        (self.tell)(&Told::Waiting { position: None });
        let asked = asked(&wish);
        let given_up = AtomicBool::new(false);
        let mut claiming =
            Box::pin(place.claim_unless(&resource, &asked, || given_up.load(Ordering::Relaxed)));
        let claimed = tokio::select! {
            claimed = &mut claiming => claimed,
            () = enough(&mut self.inbox) => {
                given_up.store(true, Ordering::Relaxed);
                self.missed(Miss::GivenUp);
                // What is under way is brought to its end: dropped half way, it may stay.
                if let Ok(claimed) = claiming.await {
                    claimed.release().await;
                }
                return;
            }
        };
        match claimed {
            Ok(claimed) => self.hold(claimed).await,
            Err(refusal) => self.missed(miss(refusal, wish.patience)),
        }
    }

    async fn hold(mut self, claimed: Claimed) {
        let fence = claimed.fence().map(Fence);
        let mut deadline = self.show(&claimed);
        (self.tell)(&Told::Acquired { fence });
        let lost = loop {
            tokio::select! {
                loss = claimed.lost() => break Some(loss),
                input = self.inbox.recv() => match input {
                    // It is refreshed by itself, in time.
                    Some(Input::Refresh(None)) => {
                        (self.tell)(&Told::Refreshing);
                        (self.tell)(&Told::Renewed);
                    }
                    Some(Input::Refresh(Some(_))) => {
                        (self.tell)(&Told::Refreshing);
                        let problem = Problem::new("the length of a lease cannot be changed here");
                        (self.tell)(&Told::Unknown { problem });
                    }
                    Some(Input::Begin | Input::Answered(..) | Input::Wake) => {}
                    Some(Input::Release | Input::Signal) | None => break None,
                },
                () = tokio::time::sleep(LOOK_EVERY) => {
                    let now = self.show(&claimed);
                    if now > deadline {
                        (self.tell)(&Told::Renewed);
                    }
                    deadline = now;
                }
            }
        };
        self.view.show(None, None);
        let end = match (lost, claimed.release().await) {
            (None, Ended::Released) => End::Confirmed,
            (None, Ended::Unreleased) => End::Unknown(None),
            (Some(loss), _) | (None, Ended::Lost(loss)) => {
                let problem = Problem::new(loss);
                (self.tell)(&Told::Lost(Loss::Taken(problem.clone())));
                End::Refused(problem)
            }
        };
        (self.tell)(&Told::Ended(end));
    }

    /// Shows what is believed, and says until when.
    fn show(&self, claimed: &Claimed) -> Moment {
        let deadline = Moment::from_micros(claimed.deadline().as_micros());
        let lease = Lease {
            claim: ClaimId(0),
            fence: claimed.fence().map(Fence),
            deadline,
            confirmed: true,
        };
        self.view.show(None, Some(lease));
        deadline
    }

    fn missed(&mut self, miss: Miss) {
        (self.tell)(&Told::Missed(miss));
        (self.tell)(&Told::Ended(End::Never));
    }
}

/// Waits until the program does not want it any more.
async fn enough(inbox: &mut mpsc::UnboundedReceiver<Input>) {
    while !matches!(inbox.recv().await, Some(Input::Release | Input::Signal) | None) {}
}

fn asked(wish: &Wish) -> makeshift::Wish {
    let patience = match wish.patience {
        Patience::Forever => None,
        Patience::For(span) => Some(clock::duration(span)),
        Patience::Try(_) => Some(Duration::ZERO),
    };
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let owner = format!("{host} process {}", std::process::id());
    makeshift::Wish { owner, ttl: duration(wish.ttl), patience }
}

/// What is wanted, if it can be had in such a place at all.
fn only_resource<'a>(place: &Makeshift, wish: &'a Wish) -> Result<&'a Name, Problem> {
    let unable = |what: &str| Err(Problem::new(format!("{} cannot {what}", place.shown())));
    if wish.limit != Limit::EXCLUSIVE {
        return unable("let several hold together");
    }
    if wish.data.is_some() {
        return unable("keep data for others to see");
    }
    if wish.adopts {
        return unable("hand a claim over by its key");
    }
    match wish.resources.as_slice() {
        [resource] => Ok(resource),
        _ => unable("claim several resources at once"),
    }
}

fn miss(refusal: NotClaimed, patience: Patience) -> Miss {
    match (refusal, patience) {
        (NotClaimed::Held(_), Patience::Try(_)) => Miss::Busy { position: None },
        (NotClaimed::Held(_), Patience::For(_)) => Miss::TimedOut { problem: None },
        (NotClaimed::Held(why), Patience::Forever) => Miss::Refused(Problem::new(why)),
        (NotClaimed::BadTerms(why), _) => Miss::Unable(Problem::new(why)),
        (NotClaimed::GivenUp, _) => Miss::GivenUp,
        (NotClaimed::Fault(fault), _) => Miss::Refused(Problem::new(fault.to_string())),
    }
}
