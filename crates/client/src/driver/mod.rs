//! Many claimants, one thread, one pool of connections.
//!
//! A [`Driver`] runs the claimants of one program (or of one keychain) against one lock server, on a
//! thread of its own: a program that is busy, or has no async runtime, keeps its claims all the same.
//! It sends what the claimants want sent, renews many claims with one request, wakes each claimant
//! when it asked for it, and tells whoever made the wish what became of it.
//!
//! ```
//! # mod house { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/house/mod.rs")); }
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let house = house::House::open();
//! # let url = house.url();
//! use claims::{Name, Resources, Ttl};
//! use tenure::driver::{Driver, Settings, Told};
//! use tenure::{Place, Wish};
//!
//! let driver = Driver::start(Settings::at(Place::parse(&url)?))?;
//! let printer = Resources::one(Name::new("printer")?);
//! let (tell, told) = std::sync::mpsc::channel();
//! let errand = driver.pursue(Wish::new(printer, Ttl::from_secs_f64(60.0)?), move |news| {
//!     let _ = tell.send(news.clone());
//! });
//! for news in told {
//!     println!("{news:?}, ours for {:?}", errand.valid_for());
//!     match news {
//!         Told::Acquired { .. } => errand.release(),
//!         Told::Ended(_) => break,
//!         _ => {}
//!     }
//! }
//! driver.close(std::time::Duration::from_secs(5));
//! # Ok(())
//! # }
//! ```
//!
//! For a keychain: one driver; one [`Driver::pursue`] for each claim of the program, with a closure
//! that sends the news and the program's own name for the claim into one channel; [`Errand::release`],
//! [`Errand::refresh`] and [`Errand::abort`] for its commands; [`Errand::lease`] to answer `validate`
//! and `list`; [`Driver::abort_all`] when the program is gone, then [`Driver::close`]. A claim of a
//! keychain that was killed is taken over by a wish with its key and [`Wish::adopts`](crate::Wish).
//!
//! The closure runs on the driver's thread and must not block. `Told::Ended` comes exactly once, last.

mod answer;
mod asking;
mod beside;
mod errand;
#[cfg(feature = "makeshift")]
mod makeshift;
mod pursued;
mod renewals;
mod running;
mod sending;
mod telling;
mod view;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use claims::claimant::{Class, Input, Moment};
use hyper::Method;
use tokio::sync::{mpsc, oneshot};

use crate::capabilities::Capabilities;
use crate::clock;
use crate::exchange::{Exchange, Reply, Silence};
use crate::keychain::{self, Keychain};
use crate::place::{ConnectError, Place};
use crate::wish::Wish;

pub(crate) use self::answer::Heard;
pub use self::errand::{Errand, Held};
pub use self::telling::{End, Loss, Miss, Problem, Told};
pub(crate) use self::view::View;

/// How a driver does its work.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The lock server.
    pub place: Place,
    /// What to say to a server that lets in only whom it knows.
    pub token: Option<String>,
    /// A file with the certificate authorities to trust (PEM), instead of those of the system.
    pub ca_file: Option<PathBuf>,
    /// How many requests may be under way at once, those that the server holds aside.
    pub requests_max: usize,
    /// How many requests the server may hold at once; more claims than this poll for their turn.
    pub waits_max: usize,
    /// How long a renewal may be kept back so that others can go with it.
    pub gather: Duration,
}

impl Settings {
    /// The usual ones.
    pub fn at(place: Place) -> Self {
        Self {
            place,
            token: None,
            ca_file: None,
            requests_max: 32,
            waits_max: 128,
            gather: Duration::from_millis(50),
        }
    }
}

/// Runs the claimants of one program.
#[derive(Debug)]
pub struct Driver {
    orders: Arc<Orders>,
    thread: Option<std::thread::JoinHandle<()>>,
    last_errand: AtomicU64,
    place: Place,
    capabilities: Capabilities,
}

/// The way to the driver's thread. After a fork the thread is not there, and what it shares may be
/// locked for ever: a child touches none of it.
#[derive(Debug)]
pub(crate) struct Orders {
    sender: Option<mpsc::UnboundedSender<Order>>,
    process: u32,
}

impl Orders {
    fn send(&self, order: Order) {
        if let Some(sender) = self.sender.as_ref().filter(|_| !self.is_forked()) {
            // A thread that is gone has told everybody so.
            let _ = sender.send(order);
        }
    }

    fn is_forked(&self) -> bool {
        std::process::id() != self.process
    }
}

impl Drop for Orders {
    fn drop(&mut self) {
        if self.is_forked() {
            std::mem::forget(self.sender.take());
        }
    }
}

/// What the driver's thread is told to do.
pub(crate) enum Order {
    Pursue {
        errand: u64,
        wish: Box<Wish>,
        view: Arc<View>,
        tell: Teller,
    },
    Tell {
        errand: u64,
        input: Input,
    },
    AbortAll,
    Ask {
        method: Method,
        path: String,
        json: String,
        then: Then,
    },
    /// End when everything is settled, or by then.
    Close {
        by: Moment,
    },
}

pub(crate) type Then = oneshot::Sender<Result<Reply, Silence>>;

pub(crate) type Teller = Box<dyn FnMut(&Told) + Send>;

impl Driver {
    /// Starts its thread. Nothing is sent yet.
    pub fn start(settings: Settings) -> Result<Self, ConnectError> {
        #[cfg(feature = "makeshift")]
        if ::makeshift::Makeshift::knows(settings.place.url()) {
            return Self::start_without_server(settings.place);
        }
        let exchange = Exchange::with(&settings)?;
        let place = settings.place.clone();
        Self::on_a_thread(place, Capabilities::SERVER, |inbox| {
            Ok(move || running::run(exchange, settings, inbox))
        })
    }

    /// Starts its thread at a place without a lock server.
    #[cfg(feature = "makeshift")]
    fn start_without_server(place: Place) -> Result<Self, ConnectError> {
        let locks = ::makeshift::Makeshift::open(place.url());
        let locks = locks.map_err(|fault| ConnectError::Store(fault.to_string()))?;
        Self::on_a_thread(place, locks.capabilities().into(), |inbox| {
            Ok(move || makeshift::run(locks, inbox))
        })
    }

    /// The same as [`Driver::start`], with the claims held by a keychain of this process.
    pub fn through(keychain: Keychain, settings: Settings) -> Result<Self, ConnectError> {
        let exchange = Exchange::with(&settings)?;
        let place = settings.place.clone();
        let program = keychain.path();
        Self::on_a_thread(place, Capabilities::SERVER, |inbox| {
            let running = keychain::run(keychain, exchange, settings, inbox).map_err(|error| {
                let program = program.display();
                ConnectError::System(format!(
                    "{program} keychain does not run ({error}): install tenure, or say where it is \
                     with TENURE_BIN"
                ))
            })?;
            Ok(move || running)
        })
    }

    /// `prepare` runs here, in the runtime of the thread; what it gives runs on the thread.
    fn on_a_thread<Work: Future<Output = ()>, Begin: FnOnce() -> Work + Send + 'static>(
        place: Place,
        capabilities: Capabilities,
        prepare: impl FnOnce(mpsc::UnboundedReceiver<Order>) -> Result<Begin, ConnectError>,
    ) -> Result<Self, ConnectError> {
        let (sender, inbox) = mpsc::unbounded_channel();
        let orders = Arc::new(Orders { sender: Some(sender), process: std::process::id() });
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| ConnectError::System(error.to_string()))?;
        let begin = {
            let _context = runtime.enter();
            prepare(inbox)?
        };
        let thread = std::thread::Builder::new()
            .name("tenure".into())
            .spawn(move || runtime.block_on(begin()))
            .map_err(|error| ConnectError::System(error.to_string()))?;
        Ok(Self {
            orders,
            thread: Some(thread),
            last_errand: AtomicU64::new(0),
            place,
            capabilities,
        })
    }

    /// Begins to pursue a wish. `tell` hears what becomes of it, on the driver's thread.
    pub fn pursue(&self, wish: Wish, tell: impl FnMut(&Told) + Send + 'static) -> Errand {
        let errand = self.last_errand.fetch_add(1, Ordering::Relaxed);
        let view = Arc::<View>::default();
        let (wish, tell) = (Box::new(wish), Box::new(tell) as Teller);
        self.orders.send(Order::Pursue { errand, wish, view: view.clone(), tell });
        Errand::new(errand, self.orders.clone(), view)
    }

    /// Aborts all claims: the program is gone or going.
    pub fn abort_all(&self) {
        self.orders.send(Order::AbortAll);
    }

    /// Lets goodbyes under way reach the server, for at most so long, and ends the thread. Claims
    /// that were not released are released now.
    pub fn close(mut self, within: Duration) {
        self.end(within);
    }

    fn end(&mut self, within: Duration) {
        let Some(thread) = self.thread.take() else { return };
        if self.orders.is_forked() {
            std::mem::forget(thread);
        } else {
            self.orders.send(Order::Close { by: clock::now() + clock::span(within) });
            // Dropped on its own thread (by a closure that held the last handle), it ends by itself.
            if thread.thread().id() != std::thread::current().id() {
                let _ = thread.join();
            }
        }
    }

    /// Asks something that belongs to no claimant.
    pub(crate) async fn ask(
        &self,
        method: Method,
        path: String,
        json: String,
    ) -> Result<Reply, Silence> {
        let (then, answer) = oneshot::channel();
        self.orders.send(Order::Ask { method, path, json, then });
        answer.await.unwrap_or_else(|_| {
            let why = "the process that started this driver is another one".to_owned();
            Err(Silence { class: Class::NotSent, why })
        })
    }

    /// What claims can do there.
    pub fn capabilities(&self) -> Capabilities {
        self.capabilities
    }

    /// The lock server it talks to.
    pub fn place(&self) -> &Place {
        &self.place
    }
}

impl Drop for Driver {
    /// Waits at most a second for goodbyes under way.
    fn drop(&mut self) {
        self.end(Duration::from_secs(1));
    }
}
