//! Readers together, the writer alone: readers share a claim, a writer waits until they are gone.
#![allow(clippy::print_stdout, reason = "an example speaks to people")]

use tenure::{ClaimError, LockManager};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let url = std::env::var("TENURE_URL").unwrap_or("http://127.0.0.1:7117".into());
    let manager = LockManager::connect(&url)?;
    let first = manager.claim("book").shared().await?;
    let second = manager.claim("book").shared().await?;
    println!("two readers, fences {:?} and {:?}", first.fence(), second.fence());
    match manager.try_claim("book").await {
        Err(ClaimError::Busy { .. }) => println!("no writer while they read"),
        other => panic!("a writer among readers: {other:?}"),
    }
    let writer = tokio::spawn(manager.claim("book").into_future());
    first.release().await?;
    second.release().await?;
    let writer = writer.await??;
    println!("the writer is alone, fence {:?}", writer.fence());
    writer.release().await?;
    Ok(())
}
