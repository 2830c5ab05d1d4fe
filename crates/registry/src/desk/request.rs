//! What the desk is asked.

use claims::{Command, Span};

use super::books::Books;
use super::inbox::Urgency;
use super::recent::Recent;
use super::waits::{Reply, Ticket};
use crate::commits::Commits;

/// A look at the books and at what happened lately.
pub(super) type Look<B> = Box<dyn FnOnce(&B, &Recent, &Commits) + Send>;

/// What the desk is asked.
pub(super) enum Request<B: Books> {
    Submit {
        command: Command,
        reply: Reply,
    },
    SubmitAndWait {
        command: Command,
        patience: Span,
        ticket: Ticket,
        reply: Reply,
    },
    /// Whoever had this ticket is gone.
    Gone(Ticket),
    /// Look at the books, when everything in them is durable.
    Look(Look<B>),
    /// Do what is due, then look.
    Sweep(Look<B>),
    /// A chore has been run.
    Done(B::Done),
    Close,
}

impl<B: Books> Request<B> {
    /// What is to be decided, if something is.
    pub(super) fn command(&self) -> Option<&Command> {
        match self {
            Self::Submit { command, .. } | Self::SubmitAndWait { command, .. } => Some(command),
            Self::Gone(_) | Self::Look(_) | Self::Sweep(_) | Self::Done(_) | Self::Close => None,
        }
    }

    /// A renewal comes long before its deadline. Whoever hung up waits for nothing.
    pub(super) fn urgency(&self) -> Urgency {
        match self {
            Self::Submit { command: Command::Renew(..), .. } | Self::Gone(_) => {
                Urgency::WithCompany
            }
            Self::Submit { .. }
            | Self::SubmitAndWait { .. }
            | Self::Look(_)
            | Self::Sweep(_)
            | Self::Done(_)
            | Self::Close => Urgency::Now,
        }
    }
}
