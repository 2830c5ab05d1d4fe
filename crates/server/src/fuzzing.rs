//! Ways in for the fuzzer: what sockets and files would bring, without either.

use std::net::SocketAddr;
use std::sync::Arc;

use hyper::{Request, Response};
use registry::StoreError;
use tokio::io::{AsyncRead, AsyncWrite};

use crate::access::TokenList;
use crate::body::Body;
use crate::connection::{self, Door};
use crate::faces::cloudshell::{Cloudshell, Face, Line, hear};
use crate::server::Server;

const PEER: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 7);

/// Answers everything on one connection, until it ends.
pub async fn converse(server: &Arc<Server>, stream: impl AsyncRead + AsyncWrite + Unpin) {
    connection::enter(server, &Door::V1, stream, PEER).await;
}

/// One connection of a client of CloudShell.
pub struct Reservations {
    face: Arc<Face>,
    line: Arc<Line>,
}

impl Reservations {
    /// Opens the face, and a connection to it.
    pub async fn open(server: Arc<Server>, config: Cloudshell) -> Result<Self, StoreError> {
        Ok(Self { face: Arc::new(Face::open(server, config).await?), line: Arc::default() })
    }

    /// Answers one request.
    pub async fn handle(&self, request: Request<Body>) -> Response<Body> {
        self.face.handle(PEER, &self.line, request).await
    }
}

/// Reads one call of CloudShell, without a server: all that it says, and an answer that tells it again.
pub fn call(method: &str, body: &[u8]) -> (Vec<String>, Response<Body>) {
    hear(method, body)
}

/// Reads the file that tokens are kept in, and writes it again.
pub fn tokens(text: &str) -> Result<String, String> {
    let list = TokenList::from_json(text)?;
    Ok(String::from_utf8_lossy(&list.to_json().map_err(|error| error.to_string())?).into_owned())
}
