//! Who is connected: so many in all, and so many from one address.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard};

/// Who is connected.
pub(crate) struct Crowd {
    pub(crate) all_max: usize,
    pub(crate) per_address_max: usize,
    pub(crate) counts: Mutex<Counts>,
}

#[derive(Debug, Default)]
pub(crate) struct Counts {
    all: usize,
    /// Only addresses that somebody is connected from.
    by_address: HashMap<IpAddr, usize>,
}

impl Crowd {
    /// A seat for somebody from this address, if there is one left.
    pub(crate) fn enter(self: &Arc<Self>, address: IpAddr) -> Option<Seat> {
        let address = Some(address).filter(|address| !address.is_loopback());
        let mut counts = self.counts();
        let from_here = address.and_then(|address| counts.by_address.get(&address));
        if counts.all >= self.all_max || from_here.is_some_and(|&n| n >= self.per_address_max) {
            return None;
        }
        counts.all += 1;
        if let Some(address) = address {
            *counts.by_address.entry(address).or_default() += 1;
        }
        Some(Seat { crowd: self.clone(), address })
    }

    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().expect("counting does not panic")
    }
}

/// One connection's place in the crowd.
pub(crate) struct Seat {
    crowd: Arc<Crowd>,
    /// None if its address is not counted.
    address: Option<IpAddr>,
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut counts = self.crowd.counts();
        counts.all -= 1;
        if let Some(address) = self.address
            && let Some(from_here) = counts.by_address.get_mut(&address)
        {
            *from_here -= 1;
            if *from_here == 0 {
                counts.by_address.remove(&address);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crowd_is_bounded_in_all_and_per_address() {
        let crowd = Crowd { all_max: 4, per_address_max: 2, counts: Mutex::default() };
        let crowd = Arc::new(crowd);
        let (far, near) = ([10, 0, 0, 1].into(), [127, 0, 0, 1].into());
        let first = crowd.enter(far);
        let second = crowd.enter(far);
        assert!(first.is_some() && second.is_some());
        assert!(crowd.enter(far).is_none());
        let local: Vec<_> = (0..3).map(|_| crowd.enter(near)).collect();
        assert_eq!(local.iter().filter(|seat| seat.is_some()).count(), 2);
        drop(first);
        assert!(crowd.enter(far).is_some());
    }
}
