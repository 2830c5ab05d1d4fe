//! The states of a claimant.

/// Where a claimant is, in the order of its life. Capital letters in the name that
/// [`as_str`](State::as_str) gives mean that an answer is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum State {
    /// Nothing has happened yet.
    New,
    /// A registration was sent.
    Registering,
    /// A registration failed, and is tried again soon.
    RetryingRegister,
    /// In the queue; asks for its turn soon.
    Waiting,
    /// Asked for its turn.
    Activating,
    /// Asking for its turn failed, and is tried again soon.
    RetryingActivate,
    /// A holder; renews soon.
    Active,
    /// A renewal was sent.
    Renewing,
    /// A renewal failed, and is tried again soon.
    RetryingRenew,
    /// Gives the claim back.
    Releasing,
    /// Giving it back failed, and is tried again soon.
    RetryingRelease,
    /// Gives up waiting.
    Withdrawing,
    /// Giving up failed, and is tried again soon.
    RetryingWithdraw,
    /// Stops because the program does.
    Aborting,
    /// Stopping failed, and is tried again soon.
    RetryingAbort,
    /// Final: given back.
    Released,
    /// Final: given up.
    Withdrawn,
    /// Final: stopped.
    Aborted,
    /// Final: nothing more can be done for the program.
    Done,
    /// Final: refused.
    Fail,
}

impl State {
    /// All of them.
    pub const ALL: [Self; 20] = [
        Self::New,
        Self::Registering,
        Self::RetryingRegister,
        Self::Waiting,
        Self::Activating,
        Self::RetryingActivate,
        Self::Active,
        Self::Renewing,
        Self::RetryingRenew,
        Self::Releasing,
        Self::RetryingRelease,
        Self::Withdrawing,
        Self::RetryingWithdraw,
        Self::Aborting,
        Self::RetryingAbort,
        Self::Released,
        Self::Withdrawn,
        Self::Aborted,
        Self::Done,
        Self::Fail,
    ];

    /// Its name in the specification.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Registering => "Registering",
            Self::RetryingRegister => "retrying register",
            Self::Waiting => "waiting",
            Self::Activating => "Activating",
            Self::RetryingActivate => "retrying activate",
            Self::Active => "active",
            Self::Renewing => "Renewing",
            Self::RetryingRenew => "retrying renew",
            Self::Releasing => "Releasing",
            Self::RetryingRelease => "retrying release",
            Self::Withdrawing => "Withdrawing",
            Self::RetryingWithdraw => "retrying withdraw",
            Self::Aborting => "Aborting",
            Self::RetryingAbort => "retrying abort",
            Self::Released => "released",
            Self::Withdrawn => "withdrawn",
            Self::Aborted => "aborted",
            Self::Done => "done",
            Self::Fail => "fail",
        }
    }

    /// Whether the program has nothing more to expect.
    pub fn is_final(self) -> bool {
        matches!(self, Self::Released | Self::Withdrawn | Self::Aborted | Self::Done | Self::Fail)
    }

    /// Whether the server said that it holds, and nothing else since.
    pub fn holds(self) -> bool {
        matches!(self, Self::Active | Self::Renewing | Self::RetryingRenew)
    }

    /// Whether it is on its way out.
    pub fn leaves(self) -> bool {
        matches!(
            self,
            Self::Releasing
                | Self::RetryingRelease
                | Self::Withdrawing
                | Self::RetryingWithdraw
                | Self::Aborting
                | Self::RetryingAbort
        )
    }
}

impl core::fmt::Display for State {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.as_str())
    }
}
