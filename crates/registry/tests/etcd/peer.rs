//! etcd as other clients of it see it: raw calls, without a word of ours in between.

use prost::Message;
use tonic::client::Grpc;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint};
use tonic_prost::ProstCodec;

#[derive(Clone)]
pub(crate) struct Peer(Channel);

/// Requests of up to two texts, and answers that do not matter.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Texts {
    #[prost(string, tag = "1")]
    pub(crate) first: String,
    #[prost(string, tag = "2")]
    pub(crate) second: String,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Nothing {}

impl Peer {
    /// Asks one member, or each in turn.
    pub(crate) fn of(members: &[String]) -> Self {
        let member = |host| Endpoint::from_shared(format!("http://{host}")).unwrap();
        Self(Channel::balance_list(members.iter().map(member)))
    }

    /// Asks a member that shows this certificate.
    pub(crate) fn encrypted(member: &str, certificate: &[u8]) -> Self {
        let tls = ClientTlsConfig::new().ca_certificate(Certificate::from_pem(certificate));
        let member = Endpoint::from_shared(format!("https://{member}")).unwrap();
        Self(member.tls_config(tls).unwrap().connect_lazy())
    }

    pub(crate) async fn call<Q, A>(&self, method: &'static str, request: Q) -> A
    where
        Q: Message + 'static,
        A: Message + Default + 'static,
    {
        let mut peer = Grpc::new(self.0.clone());
        peer.ready().await.unwrap();
        let (path, codec) = (PathAndQuery::from_static(method), ProstCodec::<Q, A>::default());
        peer.unary(tonic::Request::new(request), path, codec).await.unwrap().into_inner()
    }

    /// A call of which only that it worked is of interest.
    pub(crate) async fn tell(&self, method: &'static str, first: &str, second: &str) {
        let texts = Texts { first: first.into(), second: second.into() };
        self.call::<_, Nothing>(method, texts).await;
    }
}
