//! Encryption over real sockets.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use claims::Rules;
use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use server::{Certificate, Config, serve};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio_rustls::TlsConnector;

/// Longer than anything takes, unless it hangs.
const PATIENCE: Duration = Duration::from_secs(60);

struct Running {
    address: SocketAddr,
    certificate: Arc<Certificate>,
    chain: PathBuf,
    key: PathBuf,
    stop: Option<oneshot::Sender<()>>,
    _directory: tempfile::TempDir,
}

/// Writes a new certificate and returns it.
fn certify(chain: &Path, key: &Path) -> CertificateDer<'static> {
    let CertifiedKey { cert, signing_key } =
        generate_simple_self_signed(vec!["localhost".into()]).unwrap();
    std::fs::write(chain, cert.pem()).unwrap();
    std::fs::write(key, signing_key.serialize_pem()).unwrap();
    cert.der().clone()
}

async fn start(config: Config) -> (Running, CertificateDer<'static>) {
    let directory = tempfile::tempdir().unwrap();
    let (chain, key) = (directory.path().join("chain.pem"), directory.path().join("key.pem"));
    let der = certify(&chain, &key);
    let certificate = Arc::new(Certificate::open(&chain, &key).unwrap());
    let config = Config { tls: Some(certificate.clone()), ..config };
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (stop, stopped) = oneshot::channel();
    let store = Arc::new(registry::memory(Rules::default()));
    tokio::spawn(async move {
        let stopped = async { drop(stopped.await) };
        serve(listener, store, config, stopped).await.unwrap();
    });
    let stop = Some(stop);
    (Running { address, certificate, chain, key, stop, _directory: directory }, der)
}

/// One request of somebody who trusts this certificate and no other.
async fn ask(
    address: SocketAddr,
    trusted: &CertificateDer<'static>,
    head: &str,
) -> io::Result<String> {
    let mut roots = RootCertStore::empty();
    roots.add(trusted.clone()).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let stream = TcpStream::connect(address).await?;
    let name = ServerName::try_from("localhost").unwrap();
    let asked = async {
        let mut stream = TlsConnector::from(Arc::new(config)).connect(name, stream).await?;
        let request = format!("{head}\r\nHost: localhost:7117\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await?;
        let mut answer = String::new();
        // A server that closes without saying so would be an error here.
        stream.read_to_string(&mut answer).await?;
        Ok(answer)
    };
    tokio::time::timeout(PATIENCE, asked).await.expect("it does not hang")
}

#[tokio::test]
async fn encrypted_requests_are_answered_with_https_addresses() {
    let (running, certificate) = start(Config::default()).await;
    let head = "POST /v1/claims/?resource=a&ttl=60 HTTP/1.1";
    let answer = ask(running.address, &certificate, head).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 201"), "{answer}");
    assert!(answer.contains("location: https://localhost:7117/v1/claims/1."), "{answer}");
    assert!(answer.contains("\"url\":\"https://localhost:7117/v1/claims/1."), "{answer}");
}

#[tokio::test]
async fn replaced_certificate_is_used_without_a_restart() {
    let (running, first) = start(Config::default()).await;
    ask(running.address, &first, "GET /livez HTTP/1.1").await.unwrap();
    // The new certificate is there before its key: nothing changes yet.
    let other = running.key.with_extension("new");
    let second = certify(&running.chain, &other);
    running.certificate.refresh();
    ask(running.address, &first, "GET /livez HTTP/1.1").await.unwrap();
    std::fs::rename(&other, &running.key).unwrap();
    // The server notices by itself.
    let begun = std::time::Instant::now();
    while ask(running.address, &second, "GET /livez HTTP/1.1").await.is_err() {
        assert!(begun.elapsed() < PATIENCE, "it was never noticed");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert!(ask(running.address, &first, "GET /livez HTTP/1.1").await.is_err());
}

#[tokio::test]
async fn plain_http_on_an_encrypted_port_is_told_and_closed() {
    let (running, _) = start(Config::default()).await;
    let mut stream = TcpStream::connect(running.address).await.unwrap();
    stream.write_all(b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
    let mut answer = String::new();
    let read = stream.read_to_string(&mut answer);
    tokio::time::timeout(PATIENCE, read).await.expect("it is closed").unwrap();
    assert!(answer.starts_with("HTTP/1.1 400") && answer.contains("https://"), "{answer}");
}

#[tokio::test]
async fn noise_instead_of_a_handshake_is_closed() {
    let (running, certificate) = start(Config::default()).await;
    let mut stream = TcpStream::connect(running.address).await.unwrap();
    stream.write_all(&[0xff; 600]).await.unwrap();
    let mut rest = Vec::new();
    let read = stream.read_to_end(&mut rest);
    // Closed with or without an alert; the point is that it is.
    let _ = tokio::time::timeout(PATIENCE, read).await.expect("it is closed");
    ask(running.address, &certificate, "GET /livez HTTP/1.1").await.unwrap();
}

#[tokio::test]
async fn silent_handshake_is_closed_by_the_time_out_and_gives_its_seat_back() {
    let config = Config {
        handshake_for: Duration::from_millis(200),
        connections_max: 4,
        ..Config::default()
    };
    let (running, certificate) = start(config).await;
    let mut silent = Vec::new();
    for nth in 0..4 {
        let mut stream = TcpStream::connect(running.address).await.unwrap();
        if nth % 2 == 0 {
            // The beginning of a handshake, and no more.
            stream.write_all(&[0x16, 0x03, 0x01]).await.unwrap();
        }
        silent.push(stream);
    }
    for mut stream in silent {
        let mut rest = Vec::new();
        let read = stream.read_to_end(&mut rest);
        let _ = tokio::time::timeout(PATIENCE, read).await.expect("it is closed");
    }
    let begun = std::time::Instant::now();
    while ask(running.address, &certificate, "GET /livez HTTP/1.1").await.is_err() {
        assert!(begun.elapsed() < PATIENCE, "the seats never came back");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn stopping_server_does_not_wait_for_handshakes() {
    let config = Config { handshake_for: PATIENCE, ..Config::default() };
    let (mut running, certificate) = start(config).await;
    let mut silent = TcpStream::connect(running.address).await.unwrap();
    silent.write_all(&[0x16]).await.unwrap();
    ask(running.address, &certificate, "GET /livez HTTP/1.1").await.unwrap();
    running.stop.take().unwrap().send(()).unwrap();
    let mut rest = Vec::new();
    let read = silent.read_to_end(&mut rest);
    let _ = tokio::time::timeout(PATIENCE / 2, read).await.expect("it is closed");
}

#[test]
fn files_that_do_not_fit_are_named() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    certify(&path("chain"), &path("key"));
    certify(&path("chain-2"), &path("key-2"));
    std::fs::write(path("empty"), "").unwrap();
    std::fs::write(path("noise"), "-----BEGIN CERTIFICATE-----\n!!!\n").unwrap();
    let table = [
        ("chain", "gone", "gone", "cannot be used: No such file"),
        ("gone", "key", "gone", "cannot be used: No such file"),
        ("chain", "key-2", "key-2", "is not the key of the certificate in"),
        ("chain", "empty", "empty", "has no private key in it"),
        ("empty", "key", "empty", "has no certificate in it"),
        ("noise", "key", "noise", "is not PEM"),
        ("key", "key", "key", "has no certificate in it"),
        ("chain", "chain", "chain", "has no private key in it"),
    ];
    for (chain, key, blamed, why) in table {
        let problem = Certificate::open(&path(chain), &path(key)).unwrap_err().to_string();
        let blamed = path(blamed).display().to_string();
        assert!(problem.starts_with(&blamed) && problem.contains(why), "{problem}");
    }
}
