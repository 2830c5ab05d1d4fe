//! Surviving a restart of the server: hold something, and go on holding it while the server is killed
//! and started again. Says when the server was away, and ends when it is back.
#![allow(clippy::print_stdout, reason = "an example speaks to people")]

use std::time::Duration;

use tenure::blocking::LockManager;
use tenure::{Lease, RefreshError};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let url = std::env::var("TENURE_URL").unwrap_or("http://127.0.0.1:7117".into());
    let manager = LockManager::connect(&url)?;
    let claim = manager.claim("ledger").ttl(Duration::from_secs(60)).get()?;
    println!("the ledger is ours, fence {:?}; now restart the server", claim.fence());
    let fence = claim.fence();
    let mut was_away = false;
    loop {
        match claim.refresh(None) {
            Ok(()) if was_away => break println!("the server is back, and the ledger still ours"),
            Ok(()) => std::thread::sleep(Duration::from_millis(100)),
            Err(RefreshError::Unknown(why)) => {
                if !was_away {
                    println!("the server is away: {why}");
                }
                was_away = true;
                if let Lease::Unknown(left) = claim.lease() {
                    println!("still ours for {left:?}");
                }
            }
            Err(error) => return Err(error.into()),
        }
    }
    assert_eq!(claim.fence(), fence);
    claim.release()?;
    Ok(())
}
