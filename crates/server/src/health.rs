//! Whether the server lives, and whether it can serve.

use std::time::Duration;

use claims::wire::Problem;
use hyper::StatusCode;

use crate::answer::{Answer, json};
use crate::server::Server;

/// A store that says nothing for this long is not ready.
const READY_WITHIN: Duration = Duration::from_secs(2);

/// The process runs and answers.
pub(crate) fn live() -> Answer {
    json(StatusCode::OK, "{\"status\":\"live\"}".into())
}

/// The store answers, and the server is not about to stop.
pub(crate) async fn ready(server: &Server) -> Result<Answer, Problem> {
    if server.is_closing() {
        return Err(Problem::unavailable("the server is stopping"));
    }
    match tokio::time::timeout(READY_WITHIN, server.store.vitals()).await {
        Ok(Ok(_)) => Ok(json(StatusCode::OK, "{\"status\":\"ready\"}".into())),
        Ok(Err(error)) => Err(Problem::unavailable(error.to_string())),
        Err(_) => Err(Problem::unavailable("the store does not answer")),
    }
}
