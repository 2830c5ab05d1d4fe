//! At most three at a time: ten workers, three licences.
#![allow(clippy::print_stdout, reason = "an example speaks to people")]

use std::sync::atomic::{AtomicUsize, Ordering};

use tenure::blocking::LockManager;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let url = std::env::var("TENURE_URL").unwrap_or("http://127.0.0.1:7117".into());
    let manager = LockManager::connect(&url)?;
    let (working, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for worker in 0..10 {
            let (manager, working, most) = (&manager, &working, &most);
            scope.spawn(move || {
                let licence = manager.claim("licence").limit(3).get().expect("a licence");
                most.fetch_max(working.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                println!("worker {worker} works");
                working.fetch_sub(1, Ordering::SeqCst);
                licence.release().expect("it was ours");
            });
        }
    });
    let most = most.into_inner();
    println!("at most {most} worked at a time");
    assert!(most <= 3);
    Ok(())
}
