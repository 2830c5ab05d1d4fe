//! Reservations over a store that does what it is asked, and sometimes cannot say so.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use claims::{Claim, ClaimId, Command, Name, Rules, Standing};
use registry::{
    Answer, EventPage, Filter, Page, Pending, ResourceReport, Store, StoreError, Vitals,
};
use server::{Cloudshell, Config, Faces, serve_with};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// A store whose next answer to a command gets lost.
struct Mumbling<S> {
    store: S,
    mumbles: Arc<AtomicBool>,
}

impl<S: Store> Store for Mumbling<S> {
    fn submit(&self, command: Command) -> Pending<'_, Answer> {
        let done = self.store.submit(command);
        Box::pin(async move {
            let answer = done.await?;
            match self.mumbles.swap(false, Ordering::SeqCst) {
                true => Err(StoreError::Unavailable("the answer got lost".into())),
                false => Ok(answer),
            }
        })
    }
    fn submit_and_wait(&self, command: Command, patience: Duration) -> Pending<'_, Answer> {
        self.store.submit_and_wait(command, patience)
    }
    fn standing(&self, claim: ClaimId) -> Pending<'_, Option<Standing>> {
        self.store.standing(claim)
    }
    fn claims(&self, filter: Filter, page: Page<ClaimId>) -> Pending<'_, Vec<Claim>> {
        self.store.claims(filter, page)
    }
    fn resources(&self, page: Page<Name>) -> Pending<'_, Vec<ResourceReport>> {
        self.store.resources(page)
    }
    fn resource(&self, name: Name, queue: usize) -> Pending<'_, ResourceReport> {
        self.store.resource(name, queue)
    }
    fn events(&self, position: u64, count: usize) -> Pending<'_, EventPage> {
        self.store.events(position, count)
    }
    fn wait_for_event(&self, position: u64) -> Pending<'_, ()> {
        self.store.wait_for_event(position)
    }
    fn sweep(&self) -> Pending<'_, Option<Duration>> {
        self.store.sweep()
    }
    fn vitals(&self) -> Pending<'_, Vitals> {
        self.store.vitals()
    }
}

/// One connection of one session.
struct Client {
    stream: TcpStream,
    token: String,
}

impl Client {
    async fn log_on(address: &str) -> Self {
        let stream = TcpStream::connect(address).await.unwrap();
        let mut client = Self { stream, token: String::new() };
        let said = client.ask("Logon", "<username>admin</username>").await;
        client.token = between(&said, "<Token Token=\"", "\"");
        client
    }

    async fn ask(&mut self, call: &str, arguments: &str) -> String {
        let body = format!("<{call}>{arguments}</{call}>");
        let request = format!(
            "POST /ResourceManagerApiService/{call} HTTP/1.1\r\nhost: localhost\r\n\
             authorization: MachineName=m;Token={}\r\ncontent-length: {}\r\n\r\n{body}",
            self.token,
            body.len()
        );
        self.stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        while !answer.ends_with("</Response>") {
            let mut piece = vec![0; 4096];
            let count = self.stream.read(&mut piece).await.unwrap();
            assert!(count > 0, "{answer}");
            answer += std::str::from_utf8(&piece[..count]).unwrap();
        }
        answer
    }
}

fn between(text: &str, start: &str, end: &str) -> String {
    let (_, rest) = text.split_once(start).unwrap_or_else(|| panic!("{start} is not in {text}"));
    rest.split_once(end).unwrap().0.into()
}

#[tokio::test]
async fn add_that_the_store_could_not_confirm_is_told_its_success_when_it_is_asked_again() {
    let mumbles = Arc::new(AtomicBool::new(false));
    let store = registry::memory(Rules::default());
    let store = Arc::new(Mumbling { store, mumbles: mumbles.clone() });
    let [own, face] = [TcpListener::bind("127.0.0.1:0"), TcpListener::bind("127.0.0.1:0")];
    let (own, face) = (own.await.unwrap(), face.await.unwrap());
    let address = face.local_addr().unwrap().to_string();
    let faces = Faces { cloudshell: Some((face, Cloudshell::default())) };
    let stop = std::future::pending();
    let serving = tokio::spawn(serve_with(own, faces, store, Config::default(), stop));

    let mut client = Client::log_on(&address).await;
    let said = client.ask("CreateImmediateReservation", "").await;
    let id = between(&said, "<Reservation Id=\"", "\"");
    let this = format!("<reservationId>{id}</reservationId>");
    let add = format!("{this}<serviceName>Mutex Service</serviceName><alias>MUTEX</alias>");
    mumbles.store(true, Ordering::SeqCst);
    let said = client.ask("AddServiceToReservation", &add).await;
    assert!(said.starts_with("HTTP/1.1 503") && said.contains("the answer got lost"), "{said}");
    assert!(client.ask("GetReservationDetails", &this).await.contains("Alias=\"MUTEX\""));
    let other = &mut Client::log_on(&address).await;
    assert!(other.ask("AddServiceToReservation", &add).await.contains("already exists"));
    let said = client.ask("AddServiceToReservation", &add).await;
    assert!(said.contains("Success=\"true\""), "{said}");
    // Now it was told, and asks from one who was told are refused.
    assert!(client.ask("AddServiceToReservation", &add).await.contains("already exists"));

    let remove = format!("{this}<services><string>MUTEX</string></services>");
    mumbles.store(true, Ordering::SeqCst);
    let said = client.ask("RemoveServicesFromReservation", &remove).await;
    assert!(said.starts_with("HTTP/1.1 503"), "{said}");
    let said = client.ask("RemoveServicesFromReservation", &remove).await;
    assert!(said.contains("Success=\"true\""), "{said}");
    assert!(other.ask("AddServiceToReservation", &add).await.contains("Success=\"true\""));
    serving.abort();
}
