// A lock server in this process, for tests and for the examples in the documentation (which include
// this file as it is).

use std::net::SocketAddr;
use std::sync::Arc;

/// A server with a store in memory. It is gone with this value.
pub(crate) struct House {
    address: SocketAddr,
    stop: Option<tokio::sync::oneshot::Sender<()>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl House {
    /// Opens one on a free port.
    pub(crate) fn open() -> Self {
        Self::with(claims::Rules::default(), server::Config::default())
    }

    pub(crate) fn with(rules: claims::Rules, config: server::Config) -> Self {
        Self::over(config, None, move || Arc::new(registry::memory(rules)))
    }

    /// Opens one that keeps its claims in a directory, at an address it may have had before.
    pub(crate) fn keeping(data: &std::path::Path, address: Option<SocketAddr>) -> Self {
        let data = data.to_owned();
        Self::over(server::Config::default(), address, move || {
            Arc::new(
                registry::embedded::open(&data, registry::embedded::Options::default()).unwrap(),
            )
        })
    }

    fn over(
        config: server::Config,
        address: Option<SocketAddr>,
        store: impl FnOnce() -> Arc<dyn registry::Store> + Send + 'static,
    ) -> Self {
        let (stop, stopped) = tokio::sync::oneshot::channel();
        let (tell, told) = std::sync::mpsc::channel();
        let address = address.unwrap_or_else(|| "127.0.0.1:0".parse().unwrap());
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.unwrap().block_on(async {
                let listener = tokio::net::TcpListener::bind(address).await.unwrap();
                tell.send(listener.local_addr().unwrap()).unwrap();
                let stopped = async { drop(stopped.await) };
                server::serve(listener, store(), config, stopped).await.unwrap();
            });
        });
        Self { address: told.recv().unwrap(), stop: Some(stop), thread: Some(thread) }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Its address.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }
}

impl Drop for House {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// One request as an administrator sends it, apart from the client that is tested.
pub(crate) fn ask(url: &str, method: &str, path: &str, body: &str) -> (u16, String) {
    use std::io::{Read, Write};
    let address = url.trim_start_matches("http://");
    let mut stream = std::net::TcpStream::connect(address).unwrap();
    let admin = "Authorization: Bearer an administrator's token\r\n";
    let admin = if method == "GET" || path.contains('.') { "" } else { admin };
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n{admin}\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
}
