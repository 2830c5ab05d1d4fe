//! What a row of the table says.

use super::state::State;

/// One row: in this state, on this, go there and do that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// The state it is in.
    pub from: State,
    /// What happens.
    pub on: Condition,
    /// The state it comes to.
    pub to: State,
    /// What it does on the way, in this order.
    pub actions: &'static [Action],
    /// Who says so.
    pub origin: Origin,
}

/// Where a row comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The specification of the original client.
    Specified,
    /// Tenure: see the head of the module.
    Added,
}

/// What can happen to a claimant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Condition {
    /// The program wants it.
    Begin,
    /// A registration is answered: yours.
    Answer201,
    /// A registration is answered: not yet.
    Answer202,
    /// Yes, and how things are now.
    Answer200,
    /// Yes.
    Answer204,
    /// There is nothing there.
    Answer404,
    /// Not yet.
    Answer409,
    /// No.
    Answer4xx,
    /// Not now, or no answer at all.
    Answer5xx,
    /// It is time to ask for its turn.
    ActivateTimer,
    /// It is time to renew.
    RenewTimer,
    /// It is time to try again.
    RetryTimer,
    /// It took too long.
    TimeoutTimer,
    /// The lease is over, as far as it can know.
    DeadlineTimer,
    /// The program does not want it any more.
    Release,
    /// The program wants its lease renewed now.
    Refresh,
    /// The program is being stopped.
    Signal,
}

impl Condition {
    /// All of them.
    pub const ALL: [Self; 17] = [
        Self::Begin,
        Self::Answer201,
        Self::Answer202,
        Self::Answer200,
        Self::Answer204,
        Self::Answer404,
        Self::Answer409,
        Self::Answer4xx,
        Self::Answer5xx,
        Self::ActivateTimer,
        Self::RenewTimer,
        Self::RetryTimer,
        Self::TimeoutTimer,
        Self::DeadlineTimer,
        Self::Release,
        Self::Refresh,
        Self::Signal,
    ];

    /// What counts if a state has no row for this: a special no is a no, one yes is as good as the
    /// other, and a yes that makes no sense is as good as no answer.
    pub(super) fn or_else(self) -> &'static [Self] {
        match self {
            Self::Answer404 | Self::Answer409 => &[Self::Answer4xx],
            Self::Answer200 => &[Self::Answer204, Self::Answer5xx],
            Self::Answer204 => &[Self::Answer200, Self::Answer5xx],
            Self::Answer201 | Self::Answer202 => &[Self::Answer5xx],
            Self::Begin
            | Self::Answer4xx
            | Self::Answer5xx
            | Self::ActivateTimer
            | Self::RenewTimer
            | Self::RetryTimer
            | Self::TimeoutTimer
            | Self::DeadlineTimer
            | Self::Release
            | Self::Refresh
            | Self::Signal => &[],
        }
    }
}

/// What a claimant does on its way from one state to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Action {
    /// Send `POST`.
    SendPost,
    /// Send `PATCH status=active`.
    SendActive,
    /// Send `PATCH ttl=…`.
    SendTtl,
    /// Stop believing, and send `PATCH status=released`.
    SendReleased,
    /// Stop believing, and send `PATCH status=withdrawn`.
    SendWithdrawn,
    /// Stop believing, and send `PATCH status=aborted`.
    SendAborted,
    /// From now on it may take as long as its terms say; on the way out, as long as a farewell may.
    CreateTimeoutTimer,
    /// It has as long as it takes (a holder only once it believes).
    DeleteTimeoutTimer,
    /// Ask for its turn later (at once, if the server holds such requests).
    CreateActivateTimer,
    /// Do not ask for its turn.
    DeleteActivateTimer,
    /// Renew later, while several tries fit before the deadline.
    CreateRenewTimer,
    /// Do not renew.
    DeleteRenewTimer,
    /// Try again later.
    CreateRetryTimer,
    /// Do not try again.
    DeleteRetryTimer,
    /// Nobody waits for the answer to the request under way any more.
    AbandonRequest,
    /// Tell the program that it is in the queue, and where.
    NotifyWaiting,
    /// Tell the program that it holds, as soon as there is a lease to believe in.
    NotifyAcquired,
    /// Tell the program that its lease goes on.
    NotifyRenewed,
    /// Tell the program that a renewal is not confirmed.
    NotifyUnknown,
    /// Tell the program that the lease is over.
    NotifyLost,
    /// Tell the program that it took too long.
    NotifyTimedOut,
    /// Tell the program that it is being stopped, if it still waits or believes.
    NotifyStopped,
    /// Tell the program that the claim is given back.
    NotifyReleased,
    /// Tell the program what the server refused.
    TerminateClient,
}
