//! https: what the command line trusts, and what it does not.

use std::io::{BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;

use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::house::{House, Said, tenure};

/// A door with a certificate in front of a real server: what a proxy does in the field.
struct Door {
    port: u16,
    certificate: tempfile::NamedTempFile,
}

impl Door {
    fn before(house: &House) -> Self {
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let mut certificate = tempfile::NamedTempFile::new().unwrap();
        certificate.write_all(made.cert.pem().as_bytes()).unwrap();
        let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![made.cert.der().clone()], key)
            .unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (config, address) = (Arc::new(config), house.address.clone());
        // It ends with the process of the tests.
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let session = ServerConnection::new(config.clone()).unwrap();
                // A client that does not trust us hangs up: that is its right.
                let _ = pass_on(StreamOwned::new(session, stream.unwrap()), &address);
            }
        });
        Self { port, certificate }
    }
}

/// One request and its answer.
fn pass_on(client: StreamOwned<ServerConnection, TcpStream>, address: &str) -> std::io::Result<()> {
    let mut client = BufReader::new(client);
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        client.read_exact(&mut byte)?;
        head.push(byte[0]);
    }
    let text = String::from_utf8_lossy(&head).replacen("\r\n", "\r\nconnection: close\r\n", 1);
    let lower = text.to_lowercase();
    let length = lower.lines().find_map(|line| line.strip_prefix("content-length: "));
    let mut body = vec![0; length.map_or(0, |length| length.parse().unwrap())];
    client.read_exact(&mut body)?;
    let mut server = TcpStream::connect(address)?;
    server.write_all(text.as_bytes())?;
    server.write_all(&body)?;
    let mut answer = Vec::new();
    server.read_to_end(&mut answer)?;
    client.get_mut().write_all(&answer)?;
    client.get_mut().conn.send_close_notify();
    client.get_mut().flush()
}

#[test]
fn https_is_spoken_with_whom_the_ca_file_names_and_nobody_else() {
    let house = House::open();
    house.claim(r#"{"resource":"printer","ttl":60}"#);
    let door = Door::before(&house);
    let url = format!("https://localhost:{}", door.port);
    let file = door.certificate.path().to_str().unwrap().to_owned();
    let run = |arguments: &[&str]| {
        let mut command = tenure(house.home.path());
        Said::of(command.args(arguments).env("TENURE_URL", &url).output().unwrap())
    };
    let text = run(&["claims", "--ca-file", &file]).good();
    assert!(text.contains("printer"), "{text}");
    let text = run(&["run", "--ca-file", &file, "other", "--", "echo", "mine"]).good();
    assert!(text.contains("mine"), "{text}");
    // Another authority, a wrong name, and no certificate at all.
    let other = Door::before(&house);
    let stranger = other.certificate.path().to_str().unwrap().to_owned();
    let err = run(&["claims", "--ca-file", &stranger]).bad(69);
    assert!(err.contains("certificate"), "{err}");
    let mut command = tenure(house.home.path());
    command.args([
        "claims",
        "--ca-file",
        &file,
        "--at",
        &format!("https://127.0.0.1:{}", door.port),
    ]);
    let err = Said::of(command.output().unwrap()).bad(69);
    assert!(err.contains("certificate"), "{err}");
    std::fs::write(house.home.path().join("empty.pem"), "").unwrap();
    let err = run(&["claims", "--ca-file", "empty.pem"]).bad(78);
    assert!(err.contains("--ca-file"), "{err}");
}
