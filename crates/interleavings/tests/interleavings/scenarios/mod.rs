//! Small worlds of few threads, each with what must hold in it.

mod bell;
mod chores;
mod crowd;
mod desk;
mod events;
mod hands;
mod inbox;
mod outbox;
mod shelf;
mod view;
mod waits;
