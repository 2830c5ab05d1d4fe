//! The desk: one at a time decides for everybody, and a handle to ask it.
//!
//! The memory store and the embedded store are this same desk with different books.

#[cfg(all(feature = "etcd", feature = "object", feature = "sql"))]
mod alone;
mod books;
mod clocks;
mod company;
mod hands;
mod inbox;
mod look;
mod recent;
mod request;
#[cfg(test)]
mod tests;
mod waits;
mod writer;

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use claims::{Claim, ClaimId, Command, Name, Span, Standing};
use tokio::sync::{oneshot, watch};

#[cfg(all(feature = "etcd", feature = "object", feature = "sql"))]
pub use self::alone::{Alone, Moment};
pub(crate) use self::books::{Books, Unwritten};
pub(crate) use self::clocks::{Clocks, MachineClocks};
use self::hands::{Stop, Turn};
use self::inbox::Inbox;
use self::look::{LOOK_MAX, list, report};
use self::recent::Recent;
use self::request::Request;
use self::waits::{Ticket, Waits};
use self::writer::Writer;
use crate::commits::Commits;
use crate::error::StoreError;
use crate::store::{Answer, EventPage, Filter, Page, Pending, ResourceReport, Store, Vitals};

/// A handle to the desk.
pub(crate) struct Desk<B: Books> {
    inbox: Arc<Inbox<Request<B>>>,
    turn: Arc<Turn<B>>,
    stop: Stop,
    tickets: AtomicU64,
    position: watch::Receiver<u64>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl<B: Books> Desk<B> {
    /// Opens the desk. `stop` is called when the disk cannot be believed any more; it must not
    /// return.
    pub(crate) fn open(books: B, clocks: Box<dyn Clocks>, stop: Stop) -> Self {
        let (mut this, writer, to_do) = Self::new(books, clocks);
        (this.turn, this.stop) = (Arc::new(Mutex::new(Some(writer))), stop);
        let done = this.inbox.clone();
        let helper = std::thread::Builder::new().name("tenure-chores".into()).spawn(move || {
            for chore in to_do {
                if put(&done, Request::Done(B::run(chore))).is_err() {
                    break;
                }
            }
        });
        let (turn, inbox) = (this.turn.clone(), this.inbox.clone());
        let desk = std::thread::Builder::new().name("tenure-desk".into()).spawn(move || {
            let _closes = inbox::Closes(inbox.clone());
            hands::run(&turn, &inbox, stop);
        });
        let threads = [helper, desk].map(|thread| thread.expect("a process can start two threads"));
        this.threads = Mutex::new(threads.into());
        this
    }

    /// A desk whose writer nobody runs yet, and the chores that it will hand out.
    fn new(books: B, clocks: Box<dyn Clocks>) -> (Self, Writer<B>, mpsc::Receiver<B::Chore>) {
        let inbox = Arc::new(Inbox::new());
        let (chores, to_do) = mpsc::channel::<B::Chore>();
        let (position, watcher) = watch::channel(books.position());
        let writer = Writer {
            recent: Recent::from(books.position()),
            commits: Commits::default(),
            syncs: false,
            books,
            clocks,
            inbox: inbox.clone(),
            taken: VecDeque::new(),
            foreseen: 0,
            chores,
            waits: Waits::default(),
            answers: Vec::new(),
            looks: Vec::new(),
            position,
            open: None,
            closing: false,
        };
        let this = Self {
            inbox,
            turn: Arc::default(),
            stop: |fatal| unreachable!("nobody works yet: {fatal}"),
            tickets: AtomicU64::new(0),
            position: watcher,
            threads: Mutex::default(),
        };
        (this, writer, to_do)
    }

    fn send(&self, request: Request<B>) -> Result<(), StoreError> {
        put(&self.inbox, request).map_err(|_| closed())
    }

    /// Looks at the books, in the desk's thread, when everything in them is durable.
    fn look<T: Send + 'static>(
        &self,
        look: impl FnOnce(&B, &Recent, &Commits) -> T + Send + 'static,
    ) -> Pending<'_, T> {
        let (reply, answer) = oneshot::channel();
        let look = Box::new(move |books: &B, recent: &Recent, commits: &Commits| {
            let _ = reply.send(look(books, recent, commits));
        });
        let sent = self.send(Request::Look(look));
        Box::pin(async move {
            sent?;
            answer.await.map_err(|_| closed())
        })
    }
}

impl<B: Books> Drop for Desk<B> {
    /// Closes the desk: what was asked before is answered first.
    fn drop(&mut self) {
        let _ = put(&self.inbox, Request::Close);
        self.inbox.look_within(Duration::ZERO);
        let threads = self.threads.get_mut().map(std::mem::take).unwrap_or_default();
        // The desk's thread first: the helper ends when nobody can give it chores any more.
        for thread in threads.into_iter().rev() {
            let _ = thread.join();
        }
    }
}

fn put<B: Books>(inbox: &Inbox<Request<B>>, request: Request<B>) -> Result<(), inbox::Closed> {
    let urgency = request.urgency();
    inbox.put(request, urgency)
}

fn closed() -> StoreError {
    StoreError::Unavailable("the store is closed".into())
}

/// Tells the desk when a claimant that waits goes away.
struct Presence<'a, B: Books> {
    desk: &'a Desk<B>,
    ticket: Option<Ticket>,
}

impl<B: Books> Presence<'_, B> {
    /// The wait was answered: there is nobody left to miss.
    fn over(mut self) {
        self.ticket = None;
    }
}

impl<B: Books> Drop for Presence<'_, B> {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket {
            let _ = put(&self.desk.inbox, Request::Gone(ticket));
        }
    }
}

impl<B: Books> Store for Desk<B> {
    fn submit(&self, command: Command) -> Pending<'_, Answer> {
        let (reply, answer) = oneshot::channel();
        let sent = self.send(Request::Submit { command, reply });
        Box::pin(async move {
            sent?;
            answer.await.map_err(|_| closed())?
        })
    }

    fn submit_and_wait(&self, command: Command, patience: Duration) -> Pending<'_, Answer> {
        let (reply, answer) = oneshot::channel();
        let ticket = self.tickets.fetch_add(1, Ordering::Relaxed);
        let patience =
            Span::from_micros(u64::try_from(patience.as_micros()).unwrap_or(u64::MAX / 2));
        let sent = self.send(Request::SubmitAndWait { command, patience, ticket, reply });
        let presence = Presence { desk: self, ticket: Some(ticket) };
        Box::pin(async move {
            sent?;
            let answer = answer.await.map_err(|_| closed());
            presence.over();
            answer?
        })
    }

    fn standing(&self, claim: ClaimId) -> Pending<'_, Option<Standing>> {
        self.look(move |books, _, _| books.state().standing(claim, books.now()))
    }

    fn claims(&self, filter: Filter, page: Page<ClaimId>) -> Pending<'_, Vec<Claim>> {
        Box::pin(async move {
            let (mut found, mut after, mut skip) = (Vec::new(), page.after, page.skip);
            while found.len() < page.count {
                let (filter, room) = (filter.clone(), page.count - found.len());
                let piece =
                    self.look(move |books, _, _| list(books, &filter, after, skip, room)).await?;
                found.extend(piece.found);
                skip = piece.skip;
                match piece.last {
                    Some(last) => after = Some(last),
                    None => break,
                }
            }
            Ok(found)
        })
    }

    fn resources(&self, page: Page<Name>) -> Pending<'_, Vec<ResourceReport>> {
        self.look(move |books, _, _| {
            let state = books.state();
            let names = state.names_after(page.after.as_ref()).skip(page.skip);
            names.take(page.count.min(LOOK_MAX)).map(|name| report(state, name, 0)).collect()
        })
    }

    fn resource(&self, name: Name, queue: usize) -> Pending<'_, ResourceReport> {
        self.look(move |books, _, _| report(books.state(), &name, queue.min(LOOK_MAX)))
    }

    fn events(&self, position: u64, count: usize) -> Pending<'_, EventPage> {
        self.look(move |_, recent, _| recent.page(position, count.min(LOOK_MAX)))
    }

    fn wait_for_event(&self, position: u64) -> Pending<'_, ()> {
        let mut next = self.position.clone();
        Box::pin(async move {
            next.wait_for(|&next| next > position).await.map_err(|_| closed())?;
            Ok(())
        })
    }

    fn sweep(&self) -> Pending<'_, Option<Duration>> {
        let (reply, answer) = oneshot::channel();
        let sent = self.send(Request::Sweep(Box::new(move |books: &B, _, _| {
            let due = books.state().next_due().map(|due| due.since(books.now()));
            let _ = reply.send(due.map(|due| Duration::from_micros(due.as_micros())));
        })));
        Box::pin(async move {
            sent?;
            answer.await.map_err(|_| closed())
        })
    }

    fn lend_a_hand(&self) -> Pending<'_, ()> {
        self.lend_a_hand()
    }

    fn vitals(&self) -> Pending<'_, Vitals> {
        self.look(|books, recent, commits| Vitals {
            now: books.now(),
            tally: books.state().tally(),
            position: recent.next(),
            commits: *commits,
        })
    }
}
