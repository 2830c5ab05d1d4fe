//! The smallest program: hold something, say so, give it back.
//!
//! Start a server with `tenure serve`, then: `cargo run --example hello_claim`
#![allow(clippy::print_stdout, reason = "an example speaks to people")]

use tenure::blocking::LockManager;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let url = std::env::var("TENURE_URL").unwrap_or("http://127.0.0.1:7117".into());
    let manager = LockManager::connect(&url)?;
    let claim = manager.claim("printer").get()?;
    println!("the printer is ours for {:?}, fence {:?}", claim.valid_for(), claim.fence());
    claim.release()?;
    println!("given back");
    Ok(())
}
