//! The same claims through an encrypted connection. A gate before the server ends the encryption, with
//! a certificate of an authority that was made for this test and is trusted by nobody else.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

#[allow(dead_code, reason = "no test needs all of it")]
mod house;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use house::House;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tenure::ClaimError;
use tenure::blocking::LockManager;

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/https").join(name)
}

/// Ends the encryption before a server. Returns its own address.
fn gate(runtime: &tokio::runtime::Runtime, house: &House) -> String {
    let certificate = CertificateDer::from_pem_file(file("server.pem")).unwrap();
    let key = PrivateKeyDer::from_pem_file(file("server.key")).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap();
    let acceptor = tokio_rustls::TlsAcceptor::from(Arc::new(config));
    let upstream = house.address();
    let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
    let address = listener.local_addr().unwrap();
    runtime.spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                let Ok(mut client) = acceptor.accept(client).await else { return };
                let mut server = tokio::net::TcpStream::connect(upstream).await.unwrap();
                let _ = tokio::io::copy_bidirectional(&mut client, &mut server).await;
            });
        }
    });
    format!("https://{address}")
}

/// This test run again as a process of its own, which trusts that authority: trust is read from the
/// environment. Without an address it has nothing to do.
#[test]
fn trusting_program() {
    let Ok(url) = std::env::var("TENURE_TEST_HTTPS") else { return };
    let manager = LockManager::connect(&url).unwrap();
    let claim = manager.claim("printer").get().unwrap();
    claim.refresh(None).unwrap();
    claim.release().unwrap();
}

#[test]
fn encrypted_server_is_used_if_its_authority_is_trusted_and_refused_if_not() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let house = House::open();
    let url = gate(&runtime, &house);
    let program = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "trusting_program", "--nocapture"])
        .env("TENURE_TEST_HTTPS", &url)
        .env("SSL_CERT_FILE", file("authority.pem"))
        .output()
        .unwrap();
    assert!(program.status.success(), "{program:?}");

    // Or if it is named.
    let manager = tenure::LockManager::at(&url).ca_file(file("authority.pem")).connect().unwrap();
    LockManager::from(manager).claim("printer").get().unwrap().release().unwrap();
    for wrong in ["server.key", "nothing.pem"] {
        let error = tenure::LockManager::at(&url).ca_file(file(wrong)).connect().unwrap_err();
        assert!(matches!(error, tenure::ConnectError::Authority { .. }), "{error}");
        assert!(error.to_string().contains(wrong), "{error}");
    }

    // This process knows other authorities, or none at all.
    match LockManager::connect(&url) {
        Err(error) => assert!(matches!(error, tenure::ConnectError::NoAuthorities(_)), "{error}"),
        Ok(manager) => {
            let claiming = manager.claim("printer").timeout(Duration::from_millis(500));
            let error = claiming.get().unwrap_err();
            assert!(matches!(error, ClaimError::Unavailable { .. }), "{error}");
            assert!(error.to_string().contains("certificate"), "{error}");
        }
    }
}
