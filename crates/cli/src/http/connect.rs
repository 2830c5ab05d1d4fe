//! A connection to a server, plain or encrypted.

use std::io;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper_util::rt::TokioIo;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::Address;
use crate::exit::{Exit, OrExit};

/// How long a server may take to accept.
const PATIENCE: Duration = Duration::from_secs(10);

pub(super) async fn connect(
    address: &Address,
    trust: Option<&TlsConnector>,
) -> anyhow::Result<TokioIo<Stream>> {
    let opened = tokio::time::timeout(PATIENCE, open(address, trust)).await;
    opened
        .unwrap_or_else(|_| Err(io::Error::from(io::ErrorKind::TimedOut)))
        .map(TokioIo::new)
        .or_exit(Exit::Unavailable, || {
            format!("no server at {address}: start one with `tenure serve`, or say where with --at")
        })
}

async fn open(address: &Address, trust: Option<&TlsConnector>) -> io::Result<Stream> {
    let stream = TcpStream::connect((address.host.as_str(), address.port)).await?;
    // Requests are small and waited for.
    stream.set_nodelay(true)?;
    let Some(trust) = trust else { return Ok(Stream::Plain(stream)) };
    let name = ServerName::try_from(address.host.clone()).map_err(io::Error::other)?;
    Ok(Stream::Encrypted(Box::new(trust.connect(name, stream).await?)))
}

/// Whom to believe that it is the server: one authority, or those that this system trusts.
pub(super) fn trust(authority: Option<&Path>) -> anyhow::Result<TlsConnector> {
    let mut roots = RootCertStore::empty();
    match authority {
        Some(file) => {
            let unread =
                || format!("cannot use {}: --ca-file wants certificates in PEM", file.display());
            let found = CertificateDer::pem_file_iter(file).or_exit(Exit::Config, unread)?;
            for certificate in found {
                let certificate = certificate.or_exit(Exit::Config, unread)?;
                roots.add(certificate).or_exit(Exit::Config, unread)?;
            }
        }
        None => {
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
    }
    if roots.is_empty() {
        return Err(Exit::Config.because(
            "no certificate authority to trust: name one with --ca-file, or install ca-certificates",
        ));
    }
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .or_exit(Exit::Config, || "no version of TLS can be spoken".into())?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(TlsConnector::from(Arc::new(config)))
}

/// Bytes to and from a server.
pub(super) enum Stream {
    Plain(TcpStream),
    Encrypted(Box<TlsStream<TcpStream>>),
}

impl AsyncRead for Stream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_read(cx, into),
            Self::Encrypted(stream) => Pin::new(stream).poll_read(cx, into),
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_write(cx, bytes),
            Self::Encrypted(stream) => Pin::new(stream).poll_write(cx, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_flush(cx),
            Self::Encrypted(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_shutdown(cx),
            Self::Encrypted(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }
}
