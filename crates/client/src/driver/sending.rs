//! What the driver sends: one request, or many renewals in one.

use claims::claimant::{Request, Verb};
use hyper::Method;

use super::answer::Heard;
use super::asking::Ready;
use super::renewals::{MANY, Outcome, Renewal, renew_many};
use super::running::{Event, Running};
use crate::clock;
use crate::wish::seconds;

impl Running {
    pub(super) fn send(&mut self, errand: u64, mut request: Request) {
        let Some(pursued) = self.pursued.get_mut(&errand) else { return };
        if let (Verb::Renew(ttl), Some(claim)) = (request.verb, request.claim) {
            self.gathered.push(Renewal {
                errand,
                number: request.number,
                claim: claim.0,
                key: pursued.wish.key.reveal().to_owned(),
                ttl: seconds(ttl),
            });
            // A short lease is not kept back for long.
            let gather = clock::span(self.settings.gather);
            let gather = gather.min(claims::Span::from_micros(request.patience.as_micros() / 8));
            let until = clock::now() + gather;
            self.gather_until = Some(self.gather_until.map_or(until, |set| set.min(until)));
            return;
        }
        // A server holds only so many; the others are answered at once, and poll.
        if self.waits >= self.settings.waits_max {
            request.wait = None;
        }
        let ready = Ready::of(&request, &pursued.wish);
        self.fly(errand, request.number, request.wait.is_some(), ready);
    }

    /// Sends one request. Those that the server may hold do not count as under way.
    fn fly(&mut self, errand: u64, number: u32, holds: bool, ready: Ready) {
        let Some(pursued) = self.pursued.get_mut(&errand) else { return };
        let (exchange, events) = (self.exchange.clone(), self.events.clone());
        let requests = self.requests.clone();
        let flight = tokio::spawn(async move {
            let _permit = match holds {
                true => None,
                false => requests.acquire_owned().await.ok(),
            };
            let heard = Box::new(Heard::of(ready.send(&exchange).await));
            let _ = events.send(Event::Answered { errand, number, heard });
        });
        self.waits += usize::from(holds);
        pursued.flights.push((number, flight.abort_handle(), holds));
    }

    pub(super) fn renew_gathered(&mut self) {
        self.gather_until = None;
        let gathered = std::mem::take(&mut self.gathered);
        if gathered.len() == 1 || !self.renews_many {
            for renewal in gathered {
                self.renew_alone(&renewal);
            }
            return;
        }
        for renewals in gathered.chunks(MANY) {
            let renewals = renewals.to_vec();
            let (exchange, events) = (self.exchange.clone(), self.events.clone());
            tokio::spawn(async move {
                let heard: Vec<Heard> = match renew_many(&exchange, &renewals).await {
                    Outcome::Each(heard) => heard,
                    Outcome::All(silence) => {
                        renewals.iter().map(|_| Heard::silence(&silence)).collect()
                    }
                    Outcome::NotOffered { ever } => {
                        let _ = events.send(Event::NotMany { renewals, ever });
                        return;
                    }
                };
                for (Renewal { errand, number, .. }, heard) in renewals.into_iter().zip(heard) {
                    let heard = Box::new(heard);
                    let _ = events.send(Event::Answered { errand, number, heard });
                }
            });
        }
    }

    pub(super) fn renew_alone(&mut self, renewal: &Renewal) {
        let path = format!("/v1/claims/{}.{}/", renewal.claim, renewal.key);
        let json = format!("{{\"ttl\":{:?}}}", renewal.ttl);
        let ready = Ready { method: Method::PATCH, path, json };
        self.fly(renewal.errand, renewal.number, false, ready);
    }
}
