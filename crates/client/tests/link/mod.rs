//! A way to the server that the test owns: it can be cut, and it can lose answers.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// A proxy before a server.
pub(crate) struct Link {
    address: SocketAddr,
    fate: Arc<Fate>,
}

#[derive(Default)]
struct Fate {
    cut: AtomicBool,
    /// Of a thousand answers, how many are lost with their connection.
    loses: AtomicU64,
    luck: AtomicU64,
    lost: AtomicU64,
}

impl Link {
    /// A link to the server at this address. It is there as long as the test's runtime is.
    pub(crate) async fn to(url: &str) -> Self {
        let upstream: SocketAddr = url.trim_start_matches("http://").parse().unwrap();
        let fate = Arc::new(Fate { luck: AtomicU64::new(88_172_645), ..Fate::default() });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let own = fate.clone();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(carry(client, upstream, own.clone()));
            }
        });
        Self { address, fate }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// From now on nothing gets through, in either direction; connections stay open, silent.
    pub(crate) fn cut(&self) {
        self.fate.cut.store(true, Ordering::SeqCst);
    }

    pub(crate) fn heal(&self) {
        self.fate.cut.store(false, Ordering::SeqCst);
    }

    /// Loses so many of a thousand answers: the server has done what was asked, and nobody hears.
    pub(crate) fn lose_answers(&self, permille: u64) {
        self.fate.loses.store(permille, Ordering::SeqCst);
    }

    pub(crate) fn lost(&self) -> u64 {
        self.fate.lost.load(Ordering::SeqCst)
    }
}

impl Fate {
    fn is_cut(&self) -> bool {
        self.cut.load(Ordering::SeqCst)
    }

    fn loses(&self) -> bool {
        let luck = self.luck.fetch_add(0x9E37_79B9_7F4A_7C15, Ordering::SeqCst);
        let mixed = (luck ^ (luck >> 31)).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 40;
        let loses = mixed % 1_000 < self.loses.load(Ordering::SeqCst);
        self.lost.fetch_add(u64::from(loses), Ordering::SeqCst);
        loses
    }
}

/// Carries bytes both ways. What comes while the link is cut is swallowed, and the connection it came
/// on is of no use afterwards.
async fn carry(mut client: TcpStream, upstream: SocketAddr, fate: Arc<Fate>) {
    if fate.is_cut() {
        return swallow(client, &fate).await;
    }
    let Ok(mut server) = TcpStream::connect(upstream).await else { return };
    let (mut there, mut back) = (vec![0; 1 << 16], vec![0; 1 << 16]);
    loop {
        tokio::select! {
            read = client.read(&mut there) => match read {
                Ok(count) if count > 0 => {
                    if fate.is_cut() {
                        return swallow(client, &fate).await;
                    }
                    if server.write_all(&there[..count]).await.is_err() {
                        return;
                    }
                }
                _ => return,
            },
            read = server.read(&mut back) => match read {
                Ok(count) if count > 0 => {
                    if fate.is_cut() {
                        return swallow(client, &fate).await;
                    }
                    if fate.loses() || client.write_all(&back[..count]).await.is_err() {
                        return;
                    }
                }
                _ => return,
            },
        }
    }
}

/// Silence until the link is healed or the client gives up.
async fn swallow(mut client: TcpStream, fate: &Fate) {
    let mut bytes = vec![0; 1 << 12];
    while fate.is_cut() {
        let pause = tokio::time::sleep(std::time::Duration::from_millis(20));
        tokio::select! {
            read = client.read(&mut bytes) => if !matches!(read, Ok(count) if count > 0) { return },
            () = pause => {}
        }
    }
}
