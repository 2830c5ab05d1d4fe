//! The claimant: one party's side of one claim, as a state machine.
//!
//! [`TABLE`] is the machine: in which state, on what, go where and do what. [`Claimant`] runs it. It
//! is pure: answers, rings of a clock and wishes of the program come in; requests to send, notices and
//! one moment to be woken at go out. The moments are those of a clock that is passed in, and so is
//! chance.
//!
//! ```
//! use claims::claimant::{Answer, Class, Claimant, Input, Moment, Notice, Output, Terms};
//! use claims::{ClaimId, Fence, Span, Ttl};
//!
//! let ttl = Ttl::new(Span::from_secs(60))?;
//! let mut claimant = Claimant::new(Terms::new(ttl));
//! let mut outputs = Vec::new();
//! let now = Moment::from_micros(0);
//! claimant.handle(Input::Begin, now, 0, &mut outputs);
//! let Some(Output::Send(request)) = outputs.pop() else { panic!("it registers") };
//! let yes = Answer { claim: Some(ClaimId(1)), fence: Some(Fence(1)), ..Answer::of(Class::Created) };
//! claimant.handle(Input::Answered(request.number, yes), now, 0, &mut outputs);
//! assert!(matches!(outputs[..], [Output::Notify(Notice::Acquired { .. })]));
//! # Ok::<(), claims::Refusal>(())
//! ```
//!
//! # Where the table's source slips
//!
//! The states and transitions are those of the specification of the original client. Where it
//! contradicts itself, its sense was taken:
//!
//! * An answer 201 to a registration leads to *active*, not to *waiting*.
//! * *aborted*, *released* and *withdrawn* are final states, though its list of states lacks them.
//! * The signal while *Activating* leads to *Aborting*, not to "Aborted".
//! * 404 to a registration is tried again, the other 4xx are final: the server may be starting.
//! * The timeout of *Aborting*, *Releasing* and *Withdrawing* is a new one: the first has rung or was
//!   deleted when they begin. It bounds how long a farewell is tried for somebody who waits for it.
//! * "Terminate client" is a notice: [`Notice::Lost`] to a holder, [`Notice::Missed`] to one that
//!   waited, [`Notice::Ended`] to one that was leaving. What is terminated is for the program to say.
//!
//! # What was added
//!
//! Rows that the specification lacks are marked [`Origin::Added`]: the deadline of the lease, the
//! wishes of a program that come in states where nobody thought of them, and answers that make no
//! sense (as good as none). In every acting state every answer leads somewhere, and no answer at all
//! does, too: nothing can hang.
//!
//! *Nothing is left behind.* *done* is final for the program, but a registration whose answer never
//! came may have made a claim. After the end the claimant [tidies up](Claimant::is_settled): it sends
//! the same registration again, which is the same claim, and withdraws it.
//!
//! # What is less obvious than it looks
//!
//! * *From when the lease counts.* The answer "yours" may be the answer to a retry, or to a wait that
//!   was open for long. The lease began after the last request that was answered "not yet" had left;
//!   no later moment is safe. If too little is left then, it renews before it believes.
//! * *A shorter ttl* counts from the moment it is asked for. A renewal that went unanswered may still
//!   arrive: from then on a lease is never believed to be longer than the ttl that it asked for.
//! * *Past the deadline the claim is lost*, whatever the network says later.
//! * *It stops believing first*, and gives the claim back then.
//! * *A farewell sent again* that finds no claim is done: the first one arrived, and the claim is over
//!   and forgotten. A first farewell that finds none has failed, as specified.

mod input;
mod lease;
mod machine;
mod output;
mod patience;
mod planted;
mod row;
mod state;
mod table;
mod tidy;

pub use self::input::{Answer, Class, Input, Moment};
pub use self::machine::Claimant;
pub use self::output::{Cause, Lease, Missed, Notice, Output, Request, Timer, Verb};
pub use self::patience::{Backoff, Patience, Terms, Timing};
pub use self::planted::{Bug, Planted};
pub use self::row::{Action, Condition, Origin, Row};
pub use self::state::State;
pub use self::table::TABLE;
