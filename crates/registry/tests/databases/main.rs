//! Claims in real databases keep the same promises as everywhere.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

mod house;
#[path = "../../../update-if/tests/servers/mod.rs"]
mod servers;
mod shared;

use registry::conformance::Examined;

registry::conformance!(sqlite, || examined(house::sqlite()));
registry::conformance!(postgres, || examined(house::postgres()));
registry::conformance!(mariadb, || examined(house::mariadb()));

/// Opens the store of a house, which stays for as long as it is examined.
fn examined(house: impl Future<Output = house::House> + Send) -> Examined {
    let open = async {
        let house = house.await;
        let store = registry::place::open(&house.url, claims::Rules::default()).await.unwrap();
        Examined::new(store).housed_in(house)
    };
    tokio::task::block_in_place(|| tokio::runtime::Handle::current().block_on(open))
}
