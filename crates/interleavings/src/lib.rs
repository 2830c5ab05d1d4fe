//! Nothing but tests: code of the other crates that shares memory between threads, run under a
//! scheduler that decides at each step which thread goes on.
//!
//! **Problem.** A thread that is overtaken between a look and a nap sleeps for ever, once in a million
//! times. Tests with real threads do not meet that one time.
//!
//! **Idea.** `build.rs` copies the modules as they are and puts the scheduler's locks, threads and
//! clock in place of the system's: the product is not changed by a line, nor built twice. In the same
//! copy sleep the bugs of `edits.rs`, each awake in one test that must catch it.
#![forbid(unsafe_code)]
