//! Who is asking the store for what at this moment.
//!
//! A name is left before the command goes to the store, and taken away after its events were told:
//! the follower takes the list of those who are done *before* it reads the history to its end. The
//! store answers in order, so whatever they caused is in what is read then, also when their client
//! hung up in the middle.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};

use claims::{ClaimId, Command, Ending, Event, KeyHash, Verb};

use super::Origin;

/// What is asked, and of which claim; of a new one only the key is known yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Act {
    Register(KeyHash),
    /// Also leaving: whoever leaves caused no more than it asked for.
    Activate(ClaimId),
    Renew(ClaimId),
    End(ClaimId),
    Appoint(ClaimId),
    Revoke(ClaimId),
}

impl Act {
    pub(crate) fn of(command: &Command) -> Self {
        match command {
            Command::Register(registration) => Self::Register(registration.key),
            Command::Activate(owner) | Command::Leave(owner) => Self::Activate(owner.claim),
            Command::Renew(owner, _) => Self::Renew(owner.claim),
            Command::End(owner, _) => Self::End(owner.claim),
            Command::Appoint(owner, _) => Self::Appoint(owner.claim),
            Command::Revoke(claim) => Self::Revoke(*claim),
        }
    }

    fn subject(self) -> Subject {
        match self {
            Self::Register(key) => Subject::Key(key.0),
            Self::Activate(claim)
            | Self::Renew(claim)
            | Self::End(claim)
            | Self::Appoint(claim)
            | Self::Revoke(claim) => Subject::Claim(claim),
        }
    }

    pub(crate) fn verb(self) -> Verb {
        match self {
            Self::Revoke(_) => Verb::Revoke,
            Self::Register(_)
            | Self::Activate(_)
            | Self::Renew(_)
            | Self::End(_)
            | Self::Appoint(_) => Verb::Claim,
        }
    }

    /// Whether this can be the cause of an event about its claim.
    fn causes(self, event: &Event) -> bool {
        match event {
            Event::Registered { .. } => matches!(self, Self::Register(_)),
            Event::Activated { .. } => matches!(self, Self::Register(_) | Self::Activate(_)),
            Event::Renewed { .. } => matches!(self, Self::Renew(_)),
            Event::Appointed { .. } => matches!(self, Self::Appoint(_)),
            Event::Ended { ending, .. } => match ending {
                Ending::Released | Ending::Aborted | Ending::Withdrawn => {
                    matches!(self, Self::End(_))
                }
                Ending::Revoked => matches!(self, Self::Revoke(_)),
                Ending::Expired => false,
            },
            Event::Seen { .. }
            | Event::Called { .. }
            | Event::CalledOff { .. }
            | Event::PassedOver { .. }
            | Event::Forgotten { .. }
            | Event::Resumed
            | Event::EpochBegan { .. } => false,
        }
    }
}

/// Somebody who asks.
#[derive(Debug, Clone)]
pub(super) struct Asker {
    pub(super) token: Option<Arc<str>>,
    pub(super) origin: Origin,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Subject {
    Key([u8; 16]),
    Claim(ClaimId),
}

/// Who is asking.
#[derive(Debug, Default)]
pub(super) struct Askers(Mutex<Present>);

#[derive(Debug, Default)]
struct Present {
    asking: HashMap<Subject, Vec<(u64, Act, Asker)>>,
    done: Vec<(Subject, u64)>,
    next: u64,
}

/// A name that was left; dropping it is being done.
#[derive(Debug)]
pub(crate) struct Asking<'a> {
    askers: &'a Askers,
    subject: Subject,
    nth: u64,
}

impl Askers {
    pub(super) fn enter(&self, act: Act, asker: Asker) -> Asking<'_> {
        let mut present = self.present();
        let nth = present.next;
        present.next += 1;
        let subject = act.subject();
        present.asking.entry(subject).or_default().push((nth, act, asker));
        Asking { askers: self, subject, nth }
    }

    /// Who caused an event about a claim with this key.
    pub(super) fn cause(&self, event: &Event, key: KeyHash) -> Option<(Act, Asker)> {
        let present = self.present();
        let subjects = [event.claim().map(Subject::Claim), Some(Subject::Key(key.0))];
        let asking = subjects.into_iter().flatten().filter_map(|it| present.asking.get(&it));
        let mut asking = asking.flatten();
        asking.find(|(_, act, _)| act.causes(event)).map(|(_, act, asker)| (*act, asker.clone()))
    }

    /// Those who are done by now.
    pub(super) fn take_done(&self) -> Done {
        Done(std::mem::take(&mut self.present().done))
    }

    /// What they caused was told.
    pub(super) fn forget(&self, done: Done) {
        let mut present = self.present();
        for (subject, nth) in done.0 {
            if let Some(list) = present.asking.get_mut(&subject) {
                list.retain(|(it, ..)| *it != nth);
                if list.is_empty() {
                    present.asking.remove(&subject);
                }
            }
        }
    }

    fn present(&self) -> MutexGuard<'_, Present> {
        self.0.lock().expect("a list does not panic")
    }
}

/// Some who are done.
pub(super) struct Done(Vec<(Subject, u64)>);

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        self.askers.present().done.push((self.subject, self.nth));
    }
}
