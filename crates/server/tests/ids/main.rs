//! Datasets over HTTP: locks, the queue of operations, the service status.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

#[path = "../house/mod.rs"]
mod house;

mod bad_input;
mod locks;
mod queue;
mod restart;

use house::{House, Told};
use serde_json::Value;

impl House {
    async fn lock(&self, body: &str) -> Told {
        self.ask("POST", "/ids/locks", body).await
    }

    async fn release(&self, lock: &Value) -> Told {
        self.ask("DELETE", &format!("/ids/locks/{}", lock["lock"].as_str().unwrap()), "").await
    }

    async fn status(&self) -> Value {
        self.get("/ids/getServiceStatus").await.is(200).json()
    }

    async fn request(&self, body: &str) -> Value {
        self.ask("POST", "/ids/operations", body).await.is(200).json()
    }

    /// The jobs that can begin.
    async fn work(&self) -> Vec<Value> {
        let body = r#"{"owner":"tape-1","max":64}"#;
        let told = self.ask("POST", "/ids/work", body).await.is(200).json();
        told["jobs"].as_array().unwrap().clone()
    }

    async fn finish(&self, job: &Value, failed: &str) -> Told {
        let path = format!("/ids/work/{}", job["lock"].as_str().unwrap());
        self.ask("PATCH", &path, &format!(r#"{{"failed":{failed}}}"#)).await
    }
}
