//! A way to the server that the test can cut.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Passes bytes both ways until it is cut: then connections stay open, and nothing arrives any more.
pub(crate) struct Proxy {
    address: SocketAddr,
    cut: Arc<AtomicBool>,
}

impl Proxy {
    pub(crate) fn to(server: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let cut = Arc::new(AtomicBool::new(false));
        let (server, is_cut) = (server.to_owned(), cut.clone());
        std::thread::spawn(move || {
            for client in listener.incoming() {
                let client = client.unwrap();
                let server = TcpStream::connect(&server).unwrap();
                let back = (server.try_clone().unwrap(), client.try_clone().unwrap());
                let (one, other) = (is_cut.clone(), is_cut.clone());
                std::thread::spawn(move || pass(client, server, &one));
                std::thread::spawn(move || pass(back.0, back.1, &other));
            }
        });
        Self { address, cut }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn cut(&self) {
        self.cut.store(true, Ordering::SeqCst);
    }

    pub(crate) fn mend(&self) {
        self.cut.store(false, Ordering::SeqCst);
    }
}

fn pass(mut from: TcpStream, mut to: TcpStream, cut: &AtomicBool) {
    let mut bytes = [0; 4096];
    while let Ok(count @ 1..) = from.read(&mut bytes) {
        if !cut.load(Ordering::SeqCst) && to.write_all(&bytes[..count]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(std::net::Shutdown::Both);
}
