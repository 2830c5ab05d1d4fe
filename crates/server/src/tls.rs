//! TLS: what the server proves itself with, and how that changes while it runs.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, RwLock};

use rustls::ServerConfig;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use crate::files::{FileProblem, Mark};

/// A certificate and its key, in two PEM files that may be replaced at any time.
pub struct Certificate {
    chain: PathBuf,
    key: PathBuf,
    current: RwLock<Arc<ServerConfig>>,
    /// The state of the files that were read last.
    read: Mutex<[Mark; 2]>,
}

impl std::fmt::Debug for Certificate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Certificate({})", self.chain.display())
    }
}

impl Certificate {
    /// Reads both files: the certificate with those that vouch for it, and its private key.
    pub fn open(chain: &Path, key: &Path) -> Result<Self, FileProblem> {
        let read = [Mark::of(chain), Mark::of(key)];
        let current = RwLock::new(Arc::new(load(chain, key)?));
        Ok(Self { chain: chain.into(), key: key.into(), current, read: Mutex::new(read) })
    }

    /// Reads the files again if one is different. If they do not go together (yet), new connections
    /// get what they got before.
    pub fn refresh(&self) {
        let mut read = self.read.lock().expect("reading does not panic");
        let marks = [Mark::of(&self.chain), Mark::of(&self.key)];
        if *read == marks {
            return;
        }
        *read = marks;
        match load(&self.chain, &self.key) {
            Ok(config) => {
                tracing::info!(certificate = %self.chain.display(), "the certificate has changed");
                *self.current.write().expect("reading does not panic") = Arc::new(config);
            }
            Err(error) => tracing::error!(%error, "the certificate stays as it was"),
        }
    }

    fn acceptor(&self) -> TlsAcceptor {
        TlsAcceptor::from(self.current.read().expect("reading does not panic").clone())
    }
}

/// Agrees with a client on encryption. Somebody who speaks plain HTTP is told so in plain HTTP.
pub(crate) async fn shake_hands(
    certificate: &Certificate,
    mut stream: TcpStream,
) -> io::Result<TlsStream<TcpStream>> {
    let mut first = [0];
    stream.peek(&mut first).await?;
    if first[0].is_ascii_uppercase() {
        return decline(&mut stream).await;
    }
    certificate.acceptor().accept(stream).await
}

async fn decline<T>(stream: &mut TcpStream) -> io::Result<T> {
    const BODY: &str =
        r#"{"title":"Not without encryption","detail":"this port speaks TLS: ask https://"}"#;
    // What was sent is read, or closing would take the answer away from who has not read it yet.
    let _ = stream.read(&mut [0; 4096]).await?;
    let answer = format!(
        "HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\nconnection: close\r\n\
         content-length: {}\r\n\r\n{BODY}",
        BODY.len()
    );
    stream.write_all(answer.as_bytes()).await?;
    stream.shutdown().await?;
    Err(io::Error::new(io::ErrorKind::InvalidData, "it spoke plain HTTP"))
}

fn load(chain_file: &Path, key_file: &Path) -> Result<ServerConfig, FileProblem> {
    let chain = CertificateDer::pem_file_iter(chain_file)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| not_pem(chain_file, error))?;
    if chain.is_empty() {
        return Err(FileProblem::content(chain_file, "has no certificate in it: it should be PEM"));
    }
    let key = PrivateKeyDer::from_pem_file(key_file).map_err(|error| not_pem(key_file, error))?;
    let mut config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, key))
        .map_err(|error| unfit(chain_file, key_file, error))?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}

fn not_pem(path: &Path, error: pem::Error) -> FileProblem {
    if let pem::Error::Io(error) = error {
        return FileProblem::io(path, error);
    }
    if matches!(error, pem::Error::NoItemsFound) {
        return FileProblem::content(path, "has no private key in it: it should be PEM");
    }
    FileProblem::content(path, format!("is not PEM: {error:?}"))
}

fn unfit(chain: &Path, key: &Path, error: rustls::Error) -> FileProblem {
    if matches!(error, rustls::Error::InconsistentKeys(_)) {
        let what = format!("is not the key of the certificate in {}", chain.display());
        return FileProblem::content(key, what);
    }
    if let rustls::Error::InvalidCertificate(error) = error {
        let what = format!("has a certificate that cannot be used: {error:?}");
        return FileProblem::content(chain, what);
    }
    FileProblem::content(key, format!("cannot be used: {error}"))
}
