//! What can be adjusted. The defaults are safe and need no configuration.

use std::sync::Arc;
use std::time::Duration;

use claims::datasets::Delays;

use crate::access::Tokens;
use crate::audit::Audit;
use crate::keys::AdminToken;
use crate::tls::Certificate;

/// The figures of a server.
#[derive(Debug, Clone)]
pub struct Config {
    /// Names under which this server may be addressed, besides those of the loopback. A page in a
    /// browser that made its own name point here is sent away.
    pub hosts: Vec<String>,
    /// Who may do everything.
    pub admin: Option<AdminToken>,
    /// Who may do what. None: whoever reaches the port may read and claim.
    pub tokens: Option<Arc<Tokens>>,
    /// What the server proves itself with. None: it speaks HTTP without encryption.
    pub tls: Option<Arc<Certificate>>,
    /// How long a client may take to agree on encryption.
    pub handshake_for: Duration,
    /// Where changes and denied requests are written down.
    pub audit: Option<Arc<Audit>>,
    /// The largest body read: 64 KiB of user data, escaped, and the rest.
    pub body_bytes_max: usize,
    /// How long the head of a request may take to arrive, from its first byte to its last.
    pub head_for: Duration,
    /// How long a body may take to arrive, from its first byte to its last.
    pub body_for: Duration,
    /// How long a connection may be silent before a request.
    pub idle_for: Duration,
    /// How long a client may take to receive what is ready of its answer, once it has to be waited
    /// for.
    pub write_for: Duration,
    /// The longest wait for a claim within one request.
    pub wait_for_max: Duration,
    /// How long requests may take to finish when the server stops.
    pub grace: Duration,
    /// How many threads serve connections.
    pub threads: usize,
    /// The most connections in all.
    pub connections_max: usize,
    /// The most connections from one address; the loopback is not counted.
    pub connections_per_address_max: usize,
    /// The most event streams.
    pub streams_max: usize,
    /// The longest list in one answer.
    pub list_max: usize,
    /// The most that lists and other large answers take together until they are read.
    pub unread_bytes_max: usize,
    /// The most claims renewed by one request.
    pub renewals_max: usize,
    /// How long operations on datasets wait at least.
    pub delays: Delays,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            hosts: Vec::new(),
            admin: None,
            tokens: None,
            tls: None,
            handshake_for: Duration::from_secs(5),
            audit: None,
            body_bytes_max: 128 * 1024,
            head_for: Duration::from_secs(10),
            body_for: Duration::from_secs(10),
            idle_for: Duration::from_secs(30),
            write_for: Duration::from_secs(30),
            wait_for_max: Duration::from_secs(60),
            grace: Duration::from_secs(10),
            threads: 2,
            connections_max: 20_000,
            connections_per_address_max: 256,
            streams_max: 64,
            list_max: 1_000,
            unread_bytes_max: 128 << 20,
            renewals_max: 4_096,
            delays: Delays::default(),
        }
    }
}
