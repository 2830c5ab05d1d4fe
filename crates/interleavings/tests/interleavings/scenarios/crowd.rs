//! Connections that come and go.

use std::net::IpAddr;

use crate::crowd::Crowd;
use crate::model::sync::atomic::{AtomicUsize, Ordering};
use crate::model::sync::{Arc, Mutex};
use crate::model::thread;
use crate::rig::{always, catches};

/// Three come twice, two of them from one address, into a room for two with one seat an address.
fn three_come_and_go() {
    let crowd = Arc::new(Crowd { all_max: 2, per_address_max: 1, counts: Mutex::default() });
    let seated = Arc::new(AtomicUsize::new(0));
    let guests = [1, 1, 2].map(|last| {
        let (crowd, seated) = (crowd.clone(), seated.clone());
        let address = IpAddr::from([10, 0, 0, last]);
        thread::spawn(move || {
            for _ in 0..2 {
                if let Some(seat) = crowd.enter(address) {
                    assert!(seated.fetch_add(1, Ordering::SeqCst) < 2, "more than there are seats");
                    seated.fetch_sub(1, Ordering::SeqCst);
                    drop(seat);
                }
            }
        })
    });
    guests.into_iter().for_each(|guest| guest.join().unwrap());
    let seats = [1, 2, 3].map(|last| crowd.enter([10, 0, 0, last].into()));
    let given = seats.iter().flatten().count();
    drop(seats);
    assert_eq!(given, 2, "a seat that nobody sits on is taken");
}

/// Two from one address for its one seat.
fn two_come_from_one_address() {
    let crowd = Arc::new(Crowd { all_max: 9, per_address_max: 1, counts: Mutex::default() });
    let guests = [(), ()].map(|()| {
        let crowd = crowd.clone();
        thread::spawn(move || crowd.enter([10, 0, 0, 1].into()))
    });
    let seats = guests.map(|guest| guest.join().unwrap());
    let given = seats.iter().flatten().count();
    drop(seats);
    assert_eq!(given, 1, "one seat an address");
}

#[test]
fn connections_are_never_more_than_there_are_seats_and_every_seat_is_given_back() {
    always(three_come_and_go);
    always(two_come_from_one_address);
    catches("counts after a pause", "one seat an address", two_come_from_one_address);
    catches("a seat is kept", "is taken", three_come_and_go);
}
