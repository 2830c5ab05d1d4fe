//! A lock on a store that can only get and put: write your name, wait, look again.
//!
//! The problem: a blob store has no lock, and plain reads and writes cannot make a certain one (two
//! writers cannot agree through registers alone). The obvious (look whether it is free, write your
//! name, go on) lets in everybody who looked before the first name was there. The idea is Fischer's:
//! after writing, wait longer than anybody needs between looking and writing (the *margin*), and look
//! again; the last writer finds its own name and wins. A lease on top lets the dead be followed.
//!
//! So it is as good as the margin, and no better. These are the windows in which two may hold:
//!
//! | window | what happens |
//! |---|---|
//! | delayed write | a contender looked, stalled, and its write lands after another one's check |
//! | duplicated write | a copy of a write lands again, later |
//! | stale read | a check is answered with an older value |
//! | skewed clocks | the reader's clock is ahead by more than two thirds of the lease: a live lease looks dead |
//! | paused holder | a holder is suspended past its lease and writes before it looks at the clock |
//!
//! A holder reads before every write of its own and stops at the first record that is not its own,
//! so each window closes at the next refresh, a third of the lease later at most.
//!
//! Everything here is pure. [`Contest`], [`Holding`] and [`Joining`] are [`Machine`]s: they are told
//! what was heard and what time it is, and say what to do next. [`Vigil`] is the other way to notice
//! that a holder is dead: no clocks are compared, a record just stays the same for too long.

mod machine;
mod record;
mod terms;

mod acquire;
mod join;
mod keep;
mod pause;
mod vigil;

pub use self::acquire::{Contest, NotAcquired};
pub use self::join::{CannotKeep, Joining};
pub use self::keep::{Ending, Holding, Loss, Role};
pub use self::machine::{Heard, Machine, Now, Step, Why};
pub use self::pause::Dice;
pub use self::record::{Lease, Seen, Sighting, Wall, WriterId};
pub use self::terms::{BadTerms, MARGIN_MIN, Terms};
pub use self::vigil::Vigil;
