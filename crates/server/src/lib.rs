//! The lock server: what a [`Store`](registry::Store) decides, told over HTTP.
//!
//! [`serve`] is the whole server on a socket; [`Server::handle`] is the same without one. There is no
//! rule in here: if an answer depends on it, it is in `claims`, and how it is written is in
//! `claims::wire`.
#![forbid(unsafe_code)]

mod config;
mod server;

mod accept;
mod connection;
mod crowd;
mod patient;
mod threads;
mod tls;

mod access;
mod asked;
mod audit;
mod files;

mod answer;
mod body;
mod gate;
mod route;
mod unread;

mod faces;
mod health;
mod metrics;
mod openapi;
mod v1;

mod bell;
mod keys;

#[doc(hidden)]
pub mod fuzzing;

pub use self::accept::{Faces, serve, serve_with};
pub use self::access::{BadToken, Token, TokenFile, TokenList, Tokens};
pub use self::audit::Audit;
pub use self::body::Body;
pub use self::config::Config;
pub use self::faces::cloudshell::{Cloudshell, LongestHold, User};
pub use self::files::FileProblem;
pub use self::keys::{AdminToken, new_token};
pub use self::route::routes;
pub use self::server::Server;
pub use self::tls::Certificate;
