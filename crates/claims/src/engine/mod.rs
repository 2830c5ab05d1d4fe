//! The rules at work. Questions and changes are never in one function:
//!
//! * [`decide`] answers what a command means now; [`settle`] finds the next thing that must happen
//!   on a resource. Both only read.
//! * [`apply`] makes one event true. It chooses nothing. [`can_follow`] says whether it could.
//! * [`execute`] alternates them: settle first, decide, settle what that made possible. It is what a
//!   store runs atomically. `sweep`, `resume` and `begin_epoch` are the same for changes that
//!   nobody asks for.
//! * [`execute_part`] is [`execute`] for a store that keeps its claims elsewhere and loads only what
//!   one command can touch. [`foresee`] is for one that keeps them here, and has commands at hand.
//!
//! Every activation comes from `settle`, so the rules about who may hold are in one place.

mod apply;
mod decide;
mod execute;
mod fit;
mod follow;
mod foresee;
mod outlook;
mod part;
mod run;
mod settle;

pub use self::apply::apply;
pub use self::decide::decide;
pub use self::execute::{begin_epoch, execute, resume, sweep};
pub use self::follow::can_follow;
pub use self::foresee::foresee;
pub use self::part::{Done, Needs, Part, Shelf, execute_part, sweep_part};
pub use self::settle::settle;
