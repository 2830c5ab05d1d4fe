//! A real etcd of three members keeps the promises of every store, also when members fail.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

mod arena;
mod cluster;
mod costs;
mod failures;
mod network;
mod peer;
mod secure;

use std::sync::Arc;

use claims::Rules;
use registry::conformance::Examined;

registry::conformance!(three_members, || examined(&cluster::shared().url("conformance")));

fn examined(url: &str) -> Examined {
    let opened = tokio::task::block_in_place(|| {
        tokio::runtime::Handle::current().block_on(registry::etcd::open(url, Rules::default()))
    });
    Examined::new(Arc::from(opened.unwrap())).without_clock()
}
