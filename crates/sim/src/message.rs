//! What clients and the server say to each other.

use std::rc::Rc;

use claims::{
    ClaimId, Farewell, Fence, KeyHash, Owner, Phase, Refusal, Registration, Span, Standing, Status,
    Ttl,
};

/// Which client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ClientId(pub(crate) usize);

/// Which request, never given twice: a retry is another request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct RequestId(pub(crate) u64);

/// What a client wants once, however often it must ask for it.
#[derive(Debug)]
pub(crate) struct Wish {
    /// Different for each wish of the run, whatever its key.
    pub(crate) number: u64,
    pub(crate) registration: Registration,
    pub(crate) resources: Vec<usize>,
}

/// A request on its way.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) id: RequestId,
    pub(crate) client: ClientId,
    pub(crate) ask: Ask,
}

/// What is asked.
#[derive(Debug, Clone)]
pub(crate) enum Ask {
    /// Register, and leave a wait open for this long if it is not its turn.
    Register(Rc<Wish>, Option<Span>),
    /// Activate, and leave a wait open for this long if it is not its turn.
    Activate(Owner, Option<Span>),
    Renew(Owner, Option<Ttl>),
    End(Owner, Farewell),
    Appoint(Owner, KeyHash),
    /// An administrator's, not a client's.
    Revoke(ClaimId),
}

impl Ask {
    pub(crate) fn verb(&self) -> Verb {
        match self {
            Self::Register(..) => Verb::Register,
            Self::Activate(..) => Verb::Activate,
            Self::Renew(..) => Verb::Renew,
            Self::End(_, Farewell::Release) => Verb::Release,
            Self::End(_, Farewell::Abort) => Verb::Abort,
            Self::End(_, Farewell::Withdraw) => Verb::Withdraw,
            Self::Appoint(..) => Verb::Appoint,
            Self::Revoke(_) => Verb::Revoke,
        }
    }

    /// How long it may wait for its turn at the server.
    pub(crate) fn wait(&self) -> Option<Span> {
        match self {
            Self::Register(_, wait) | Self::Activate(_, wait) => *wait,
            Self::Renew(..) | Self::End(..) | Self::Appoint(..) | Self::Revoke(_) => None,
        }
    }

    /// Nobody will be there when it is its turn.
    pub(crate) fn stop_waiting(&mut self) {
        match self {
            Self::Register(_, wait) | Self::Activate(_, wait) => *wait = None,
            Self::Renew(..) | Self::End(..) | Self::Appoint(..) | Self::Revoke(_) => {}
        }
    }

    /// The claim it names. A registration does not know its claim yet.
    pub(crate) fn claim(&self) -> Option<ClaimId> {
        match self {
            Self::Register(..) => None,
            Self::Activate(owner, _)
            | Self::Renew(owner, _)
            | Self::End(owner, _)
            | Self::Appoint(owner, _) => Some(owner.claim),
            Self::Revoke(claim) => Some(*claim),
        }
    }
}

/// What is asked, in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Verb {
    Register,
    Activate,
    Renew,
    Release,
    Abort,
    Withdraw,
    Appoint,
    Revoke,
}

/// An answer on its way.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Answer {
    pub(crate) request: RequestId,
    pub(crate) says: Says,
}

/// What an answer says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Says {
    Waiting(ClaimId),
    Active(ClaimId, Fence),
    /// The status it ended with.
    Ended(ClaimId, Status),
    /// The claim is over, or forgotten.
    Over,
    /// Not now, for a reason that may go away.
    NotNow,
    /// The key belongs to other terms. No client here ever sends such a request.
    KeyInUse,
}

impl Says {
    pub(crate) fn of(standing: &Standing) -> Self {
        let claim = &standing.claim;
        match &claim.phase {
            Phase::Waiting(_) => Self::Waiting(claim.id),
            Phase::Active(active) => Self::Active(claim.id, active.activation.fence),
            Phase::Ended(_) => Self::Ended(claim.id, claim.status()),
        }
    }

    /// The claim it is about, if it says so.
    pub(crate) fn claim(self) -> Option<ClaimId> {
        match self {
            Self::Waiting(claim) | Self::Active(claim, _) | Self::Ended(claim, _) => Some(claim),
            Self::Over | Self::NotNow | Self::KeyInUse => None,
        }
    }

    pub(crate) fn refused(refusal: &Refusal) -> Self {
        if let Refusal::StillWaiting { claim, .. } = refusal {
            return Self::Waiting(*claim);
        }
        if let Refusal::NotActive { claim, status }
        | Refusal::Over { claim, status }
        | Refusal::CannotEnd { claim, status, .. } = refusal
        {
            return match *status == Status::Waiting {
                true => Self::Waiting(*claim),
                false => Self::Ended(*claim, *status),
            };
        }
        match refusal.code() {
            "queue-full" | "too-many-keepers" => Self::NotNow,
            "key-in-use" => Self::KeyInUse,
            "unknown" => Self::Over,
            code => unreachable!("no client here asks for what is refused as {code}"),
        }
    }
}
