//! The table: every state, what may happen in it, and what follows.

use super::row::Action::{self, *};
use super::row::Condition::{self, *};
use super::row::{Origin, Row};
use super::state::State::{self, *};

/// In this state, on this, go there and do that. What is not listed changes nothing.
///
/// Read it by source, in the order of a claimant's life; the rows of the specification come first in
/// each block, those that were added after them.
#[rustfmt::skip]
pub const TABLE: &[Row] = &[
    row(New, Begin, Registering, &[SendPost, CreateTimeoutTimer]),
    add(New, Release, Done, &[NotifyStopped]),
    add(New, Signal, Done, &[NotifyStopped]),

    row(Registering, Answer201, Active, &[CreateRenewTimer, DeleteTimeoutTimer, NotifyAcquired]),
    row(Registering, Answer202, Waiting, &[CreateActivateTimer, NotifyWaiting]),
    row(Registering, Answer404, RetryingRegister, &[CreateRetryTimer]),
    row(Registering, Answer4xx, Fail, &[DeleteTimeoutTimer, TerminateClient]),
    row(Registering, Answer5xx, RetryingRegister, &[CreateRetryTimer]),
    row(Registering, TimeoutTimer, Done, &[NotifyTimedOut]),
    row(Registering, Signal, Done, &[DeleteTimeoutTimer, NotifyStopped]),
    // Sent again under a key whose claim is over by now.
    add(Registering, Answer200, Fail, &[DeleteTimeoutTimer, TerminateClient]),
    add(Registering, Release, Done, &[DeleteTimeoutTimer, NotifyStopped]),

    row(RetryingRegister, RetryTimer, Registering, &[SendPost]),
    row(RetryingRegister, TimeoutTimer, Done, &[DeleteRetryTimer, NotifyTimedOut]),
    row(RetryingRegister, Signal, Done, &[DeleteRetryTimer, DeleteTimeoutTimer, NotifyStopped]),
    add(RetryingRegister, Release, Done, &[DeleteRetryTimer, DeleteTimeoutTimer, NotifyStopped]),

    row(Waiting, ActivateTimer, Activating, &[SendActive]),
    row(Waiting, TimeoutTimer, Withdrawing, &[DeleteActivateTimer, NotifyTimedOut, SendWithdrawn, CreateTimeoutTimer]),
    row(Waiting, Signal, Aborting, &[DeleteActivateTimer, NotifyStopped, SendAborted, CreateTimeoutTimer]),
    add(Waiting, Release, Withdrawing, &[DeleteActivateTimer, NotifyStopped, SendWithdrawn, CreateTimeoutTimer]),

    row(Activating, Answer200, Active, &[CreateRenewTimer, DeleteTimeoutTimer, NotifyAcquired]),
    row(Activating, Answer409, Waiting, &[CreateActivateTimer, NotifyWaiting]),
    row(Activating, Answer4xx, Fail, &[DeleteTimeoutTimer, TerminateClient]),
    row(Activating, Answer5xx, RetryingActivate, &[CreateRetryTimer]),
    row(Activating, TimeoutTimer, Withdrawing, &[AbandonRequest, NotifyTimedOut, SendWithdrawn, CreateTimeoutTimer]),
    row(Activating, Signal, Aborting, &[AbandonRequest, NotifyStopped, SendAborted, CreateTimeoutTimer]),
    add(Activating, Release, Withdrawing, &[AbandonRequest, NotifyStopped, SendWithdrawn, CreateTimeoutTimer]),

    row(RetryingActivate, RetryTimer, Activating, &[SendActive]),
    row(RetryingActivate, TimeoutTimer, Withdrawing, &[DeleteRetryTimer, NotifyTimedOut, SendWithdrawn, CreateTimeoutTimer]),
    row(RetryingActivate, Signal, Aborting, &[DeleteRetryTimer, NotifyStopped, SendAborted, CreateTimeoutTimer]),
    add(RetryingActivate, Release, Withdrawing, &[DeleteRetryTimer, NotifyStopped, SendWithdrawn, CreateTimeoutTimer]),

    row(Active, RenewTimer, Renewing, &[SendTtl]),
    row(Active, Release, Releasing, &[DeleteRenewTimer, SendReleased, CreateTimeoutTimer]),
    row(Active, Signal, Aborting, &[DeleteRenewTimer, NotifyStopped, SendAborted, CreateTimeoutTimer]),
    add(Active, Refresh, Renewing, &[DeleteRenewTimer, SendTtl]),
    add(Active, DeadlineTimer, Aborting, &[DeleteRenewTimer, NotifyLost, SendAborted, CreateTimeoutTimer]),
    // Granted, but it never came to believe in it.
    add(Active, TimeoutTimer, Withdrawing, &[DeleteRenewTimer, NotifyTimedOut, SendWithdrawn, CreateTimeoutTimer]),

    row(Renewing, Answer200, Active, &[CreateRenewTimer, NotifyRenewed]),
    row(Renewing, Answer4xx, Fail, &[TerminateClient]),
    row(Renewing, Answer5xx, RetryingRenew, &[CreateRetryTimer, NotifyUnknown]),
    row(Renewing, Release, Releasing, &[AbandonRequest, SendReleased, CreateTimeoutTimer]),
    row(Renewing, Signal, Aborting, &[AbandonRequest, NotifyStopped, SendAborted, CreateTimeoutTimer]),
    add(Renewing, Refresh, Renewing, &[AbandonRequest, SendTtl]),
    add(Renewing, DeadlineTimer, Aborting, &[AbandonRequest, NotifyLost, SendAborted, CreateTimeoutTimer]),
    add(Renewing, TimeoutTimer, Withdrawing, &[AbandonRequest, NotifyTimedOut, SendWithdrawn, CreateTimeoutTimer]),

    row(RetryingRenew, RetryTimer, Renewing, &[SendTtl]),
    row(RetryingRenew, Release, Releasing, &[DeleteRetryTimer, SendReleased, CreateTimeoutTimer]),
    row(RetryingRenew, Signal, Aborting, &[DeleteRetryTimer, NotifyStopped, SendAborted, CreateTimeoutTimer]),
    add(RetryingRenew, Refresh, Renewing, &[DeleteRetryTimer, SendTtl]),
    add(RetryingRenew, DeadlineTimer, Aborting, &[DeleteRetryTimer, NotifyLost, SendAborted, CreateTimeoutTimer]),
    add(RetryingRenew, TimeoutTimer, Withdrawing, &[DeleteRetryTimer, NotifyTimedOut, SendWithdrawn, CreateTimeoutTimer]),

    row(Releasing, Answer204, Released, &[DeleteTimeoutTimer, NotifyReleased]),
    row(Releasing, Answer4xx, Fail, &[DeleteTimeoutTimer, TerminateClient]),
    row(Releasing, Answer5xx, RetryingRelease, &[CreateRetryTimer]),
    row(Releasing, TimeoutTimer, Done, &[]),
    row(Releasing, Signal, Done, &[DeleteTimeoutTimer]),
    row(RetryingRelease, RetryTimer, Releasing, &[SendReleased]),
    row(RetryingRelease, TimeoutTimer, Done, &[DeleteRetryTimer]),
    row(RetryingRelease, Signal, Done, &[DeleteRetryTimer, DeleteTimeoutTimer]),

    row(Withdrawing, Answer204, Withdrawn, &[DeleteTimeoutTimer]),
    row(Withdrawing, Answer4xx, Fail, &[DeleteTimeoutTimer, TerminateClient]),
    row(Withdrawing, Answer5xx, RetryingWithdraw, &[CreateRetryTimer]),
    row(Withdrawing, TimeoutTimer, Done, &[]),
    row(Withdrawing, Signal, Done, &[DeleteTimeoutTimer]),
    row(RetryingWithdraw, RetryTimer, Withdrawing, &[SendWithdrawn]),
    row(RetryingWithdraw, TimeoutTimer, Done, &[DeleteRetryTimer]),
    row(RetryingWithdraw, Signal, Done, &[DeleteRetryTimer, DeleteTimeoutTimer]),

    row(Aborting, Answer204, Aborted, &[DeleteTimeoutTimer]),
    row(Aborting, Answer4xx, Fail, &[DeleteTimeoutTimer, TerminateClient]),
    row(Aborting, Answer5xx, RetryingAbort, &[CreateRetryTimer]),
    row(Aborting, TimeoutTimer, Done, &[]),
    row(Aborting, Signal, Done, &[DeleteTimeoutTimer]),
    row(RetryingAbort, RetryTimer, Aborting, &[SendAborted]),
    row(RetryingAbort, TimeoutTimer, Done, &[DeleteRetryTimer]),
    row(RetryingAbort, Signal, Done, &[DeleteRetryTimer, DeleteTimeoutTimer]),
];

/// The row that counts in this state, if anything follows.
pub(super) fn find(from: State, on: Condition) -> Option<&'static Row> {
    let of = |on| TABLE.iter().find(|row| row.from == from && row.on == on);
    of(on).or_else(|| on.or_else().iter().find_map(|&on| of(on)))
}

const fn row(from: State, on: Condition, to: State, actions: &'static [Action]) -> Row {
    Row { from, on, to, actions, origin: Origin::Specified }
}

const fn add(from: State, on: Condition, to: State, actions: &'static [Action]) -> Row {
    Row { from, on, to, actions, origin: Origin::Added }
}
