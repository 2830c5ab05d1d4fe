//! Stores that behave like those of the clouds, started on free ports and stopped with the test.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

/// A running emulator.
pub(crate) struct Emulator {
    child: Child,
    pub(crate) url: String,
}

impl Drop for Emulator {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Where `.ci/peers` puts what the tests need.
fn tools() -> PathBuf {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let home = || PathBuf::from(std::env::var_os("HOME").unwrap_or_default()).join(".cache");
    cache.unwrap_or_else(home).join("tenure-tools")
}

/// Starts it, if the tool is installed, and waits for the line that has its address.
fn start(command: &mut Command, tool: &str, marker: &'static str) -> Option<Emulator> {
    if !tools().join(tool).exists() {
        eprintln!("SKIPPED, NOT TESTED: {tool} is not installed");
        return None;
    }
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let (tell, said) = channel();
    let streams: [Box<dyn Read + Send>; 2] =
        [Box::new(child.stdout.take().unwrap()), Box::new(child.stderr.take().unwrap())];
    for stream in streams {
        let tell = tell.clone();
        // Read to the end, or it stops when the pipe is full.
        std::thread::spawn(move || {
            for line in BufReader::new(stream).lines().map_while(Result::ok) {
                if let Some((_, url)) = line.split_once(marker) {
                    let _ = tell.send(url.trim().trim_end_matches('/').to_owned());
                }
            }
        });
    }
    drop(tell);
    let url = said.recv_timeout(Duration::from_secs(300));
    let mut emulator = Emulator { child, url: String::new() };
    emulator.url = url.expect("the emulator says where it listens");
    Some(emulator)
}

/// Lets one request after the other into the emulator of S3. By itself it serves them side by side, closes
/// an object that somebody reads when another writes it, and says 500: a store that each request sees
/// whole is what the locks are promised on.
const ONE_BY_ONE: &str = "import sys, threading
import moto.server
turn, run = threading.Lock(), moto.server.run_simple
def run_simple(host, port, app, **options):
    def one(environ, start):
        with turn:
            answer = app(environ, start)
            try:
                return list(answer)
            finally:
                getattr(answer, 'close', lambda: None)()
    run(host, port, one, **options)
moto.server.run_simple = run_simple
moto.server.main(sys.argv[1:])
";

/// S3, with the bucket `tenure-locks`.
pub(crate) fn moto() -> Option<Emulator> {
    let mut command = Command::new(tools().join("peers/bin/python"));
    command.args(["-c", ONE_BY_ONE, "-H", "127.0.0.1", "-p", "0"]);
    let emulator = start(&mut command, "peers/bin/moto_server", "Running on ")?;
    let host = emulator.url.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(host).unwrap();
    let head = format!("PUT /tenure-locks HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n");
    stream.write_all(format!("{head}Content-Length: 0\r\n\r\n").as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    Some(emulator)
}

/// Azure, with the container `tenure-locks`.
pub(crate) fn azurite() -> Option<Emulator> {
    const AZURITE: &str = "azurite/node_modules/.bin/azurite-blob";
    let mut command = Command::new(tools().join(AZURITE));
    command.args(["--blobHost", "127.0.0.1", "--blobPort", "0", "--inMemoryPersistence"]);
    command.args(["--disableTelemetry", "--skipApiVersionCheck"]);
    let emulator = start(&mut command, AZURITE, "successfully listens on ")?;
    // Only a signed request makes a container, and the library of the vendor can sign.
    let script = "import sys\nfrom azure.storage.blob import BlobServiceClient\n\
        key = 'Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=='\n\
        at = sys.argv[1] + '/devstoreaccount1'\n\
        text = f'DefaultEndpointsProtocol=http;AccountName=devstoreaccount1;AccountKey={key};BlobEndpoint={at};'\n\
        BlobServiceClient.from_connection_string(text).create_container('tenure-locks')\n";
    let python = tools().join("peers/bin/python");
    let done = Command::new(python).args(["-c", script, &emulator.url]).output().ok()?;
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    Some(emulator)
}
