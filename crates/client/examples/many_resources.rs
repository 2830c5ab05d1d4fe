//! All or nothing: philosophers who need two forks each, and never starve or deadlock.
#![allow(clippy::print_stdout, reason = "an example speaks to people")]

use tenure::LockManager;

const PHILOSOPHERS: usize = 5;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let url = std::env::var("TENURE_URL").unwrap_or("http://127.0.0.1:7117".into());
    let manager = LockManager::connect(&url)?;
    let mut table = tokio::task::JoinSet::new();
    for one in 0..PHILOSOPHERS {
        let manager = manager.clone();
        table.spawn(async move {
            let forks = [one, (one + 1) % PHILOSOPHERS].map(|nth| format!("fork {nth}"));
            for meal in 1..=3 {
                let both = manager.claim_all(&forks).await.expect("both forks, in turn");
                println!("philosopher {one} eats meal {meal}");
                both.release().await.expect("they were ours");
            }
        });
    }
    while let Some(done) = table.join_next().await {
        done?;
    }
    println!("everybody has eaten");
    Ok(())
}
