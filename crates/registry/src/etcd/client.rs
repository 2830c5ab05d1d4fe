//! Asking the members of etcd.
//!
//! Requests go to whichever member answers soonest, and to the others while one is gone. A token that etcd
//! does not know any more is asked for again, once for all who were refused with it.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use futures_util::{StreamExt, stream};
use prost::Message;
use tonic::client::Grpc;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::metadata::AsciiMetadataValue;
use tonic::transport::{Channel, ClientTlsConfig, Endpoint};
use tonic::{Code, Request, Status, Streaming};
use tonic_prost::ProstCodec;

use super::address::Login;
use super::messages::{
    AuthenticateRequest, AuthenticateResponse, DeleteRangeRequest, DeleteRangeResponse,
    RangeRequest, RangeResponse, TxnRequest, TxnResponse, WatchCreateRequest, WatchRequest,
    WatchResponse,
};

/// A silent connection is asked whether it lives, and has so long to answer.
const ALIVE: Duration = Duration::from_secs(2);
/// The largest answer: a hundred records are read at a time, of a mebibyte each.
const ANSWER_MAX: usize = 128 * 1024 * 1024;

pub(super) struct Client {
    members: Channel,
    login: Option<Login>,
    /// What etcd gave for the login. Nothing if there is none.
    token: Mutex<Option<AsciiMetadataValue>>,
    /// Whoever has this asks for a new token; others wait for it.
    asking: tokio::sync::Mutex<()>,
}

impl Client {
    pub(super) async fn connect(
        hosts: &[String],
        tls: Option<&ClientTlsConfig>,
        timeout: Duration,
        login: Option<Login>,
    ) -> Result<Self, Status> {
        let members: Result<Vec<Endpoint>, _> =
            hosts.iter().map(|host| member(host, tls, timeout)).collect();
        let members = members.map_err(|error| Status::invalid_argument(error.to_string()))?;
        let members = Channel::balance_list(members.into_iter());
        let client = Self { members, login, token: Mutex::default(), asking: Default::default() };
        client.log_in().await?;
        Ok(client)
    }

    pub(super) async fn range(&self, request: RangeRequest) -> Result<RangeResponse, Status> {
        self.call("/etcdserverpb.KV/Range", request).await
    }

    pub(super) async fn delete(
        &self,
        request: DeleteRangeRequest,
    ) -> Result<DeleteRangeResponse, Status> {
        self.call("/etcdserverpb.KV/DeleteRange", request).await
    }

    pub(super) async fn txn(&self, request: TxnRequest) -> Result<TxnResponse, Status> {
        self.call("/etcdserverpb.KV/Txn", request).await
    }

    /// Begins to watch. It goes on for as long as what is returned is kept.
    pub(super) async fn watch(
        &self,
        request: WatchCreateRequest,
    ) -> Result<Streaming<WatchResponse>, Status> {
        let request = WatchRequest { create_request: Some(request) };
        // etcd ends a watch when its requests end.
        let requests = stream::iter([request]).chain(stream::pending());
        let path = PathAndQuery::from_static("/etcdserverpb.Watch/Watch");
        let (mut members, request) = (self.ready().await?, signed(requests, self.token()));
        Ok(members.streaming(request, path, codec()).await?.into_inner())
    }

    async fn call<Q, A>(&self, path: &'static str, request: Q) -> Result<A, Status>
    where
        Q: Message + Clone + 'static,
        A: Message + Default + 'static,
    {
        if self.login.is_none() {
            return self.send(path, request, None).await;
        }
        let token = self.token();
        match self.send(path, request.clone(), token.clone()).await {
            // Refused before anything was done.
            Err(status) if status.code() == Code::Unauthenticated => {
                self.log_in_unless_done(token).await?;
                self.send(path, request, self.token()).await
            }
            answer => answer,
        }
    }

    async fn send<Q, A>(
        &self,
        path: &'static str,
        request: Q,
        token: Option<AsciiMetadataValue>,
    ) -> Result<A, Status>
    where
        Q: Message + 'static,
        A: Message + Default + 'static,
    {
        let (mut members, request) = (self.ready().await?, signed(request, token));
        let path = PathAndQuery::from_static(path);
        Ok(members.unary(request, path, codec()).await?.into_inner())
    }

    async fn ready(&self) -> Result<Grpc<Channel>, Status> {
        let mut members = Grpc::new(self.members.clone()).max_decoding_message_size(ANSWER_MAX);
        members.ready().await.map_err(|error| Status::unavailable(error.to_string()))?;
        Ok(members)
    }

    fn token(&self) -> Option<AsciiMetadataValue> {
        self.token.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Asks for a new token, unless somebody else has since this one was refused.
    async fn log_in_unless_done(&self, refused: Option<AsciiMetadataValue>) -> Result<(), Status> {
        let _asking = self.asking.lock().await;
        if self.token() == refused { self.log_in().await } else { Ok(()) }
    }

    async fn log_in(&self) -> Result<(), Status> {
        let Some(Login { name, password }) = self.login.clone() else { return Ok(()) };
        let request = AuthenticateRequest { name, password };
        let answer = self.send("/etcdserverpb.Auth/Authenticate", request, None).await?;
        let AuthenticateResponse { token } = answer;
        let token = token.parse().map_err(|_| Status::internal("the token cannot be sent"))?;
        *self.token.lock().unwrap_or_else(PoisonError::into_inner) = Some(token);
        Ok(())
    }
}

fn member(
    host: &str,
    tls: Option<&ClientTlsConfig>,
    timeout: Duration,
) -> Result<Endpoint, tonic::transport::Error> {
    let member = match tls {
        Some(tls) => Endpoint::from_shared(format!("https://{host}"))?.tls_config(tls.clone())?,
        None => Endpoint::from_shared(format!("http://{host}"))?,
    };
    Ok(member
        .connect_timeout(timeout)
        .http2_keep_alive_interval(ALIVE)
        .keep_alive_timeout(ALIVE)
        .keep_alive_while_idle(true))
}

fn signed<Q>(request: Q, token: Option<AsciiMetadataValue>) -> Request<Q> {
    let mut request = Request::new(request);
    // A member that is cut off says so instead of answering from the past.
    request.metadata_mut().insert("hasleader", AsciiMetadataValue::from_static("true"));
    if let Some(token) = token {
        request.metadata_mut().insert("token", token);
    }
    request
}

fn codec<Q, A>() -> ProstCodec<Q, A> {
    ProstCodec::default()
}
