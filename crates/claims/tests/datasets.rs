//! The rules of datasets: the tables, the queue of operations against a plain model, and the answer
//! to `getServiceStatus`.
#![allow(clippy::unwrap_used, reason = "what cannot fail here fails the test if it does")]

mod datasets {
    mod model;
    mod programs;
    mod status;
    mod tables;
}
