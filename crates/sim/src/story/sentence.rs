//! A note as a sentence.

use std::cell::RefCell;

use claims::{Span, Timestamp};

use super::{Brief, Down, Note, ServerStop, Stop};
use crate::agenda::Fault;
use crate::disk::CrashAt;
use crate::message::{Says, Verb};

thread_local! {
    /// The story told so far, for the case that the store itself stops the process.
    static REMEMBERED: RefCell<Vec<(Timestamp, Note)>> = const { RefCell::new(Vec::new()) };
}

pub(super) fn remember(at: Timestamp, note: Note) {
    REMEMBERED.with_borrow_mut(|notes| notes.push((at, note)));
}

/// The sentences since the last call, by whatever run of this thread.
pub(crate) fn take_remembered() -> Vec<String> {
    let notes = REMEMBERED.take();
    notes.iter().map(|(at, note)| line(*at, note)).collect()
}

pub(super) fn line(at: Timestamp, note: &Note) -> String {
    format!("{:>11.6}  {}", seconds(at), sentence(note))
}

fn sentence(note: &Note) -> String {
    match *note {
        Note::Wishes { client, resources, limit, ttl } => {
            let names = (0..32).filter(|nth| resources >> nth & 1 == 1);
            let names: Vec<String> = names.map(|nth| format!("r{nth}")).collect();
            let how = match limit {
                Some(1) => "alone".to_owned(),
                Some(count) => format!("with at most {count}"),
                None => "shared".to_owned(),
            };
            let names = names.join(" and ");
            format!("client {} wants {names} {how}, ttl {}", client.0, span(ttl))
        }
        Note::Asks { client, request, verb, claim } => {
            let about = claim.map_or(String::new(), |claim| format!(" claim {claim}"));
            let verb = verb_text(verb);
            format!("client {} asks to {verb}{about} (request {})", client.0, request.0)
        }
        Note::Hears { client, request, says } => {
            format!("client {} hears: {} (request {})", client.0, says_text(says), request.0)
        }
        Note::Believes { client, claim, left: Some(left) } => {
            format!("client {} BELIEVES it holds claim {claim} for {}", client.0, span(left))
        }
        Note::Believes { client, claim, left: None } => {
            format!("client {} has claim {claim}, but must renew before it believes", client.0)
        }
        Note::Stops(client, why) => {
            let why = match why {
                Stop::LeaseOver => "stops believing: its lease is over",
                Stop::ToldSo => "stops believing: it was told so",
                Stop::Signalled => "stops believing: it is being stopped",
                Stop::WalksAway => "walks away",
            };
            format!("client {} {why}", client.0)
        }
        Note::Dies(client) => format!("client {} dies", client.0),
        Note::Returns(client) => format!("client {} is there again, a new process", client.0),
        Note::Pauses(client, pause) => {
            format!("client {} is stopped for {}", client.0, span(pause))
        }
        Note::Resumes(client) => format!("client {} runs again", client.0),
        Note::Lost { client, request, answer } => {
            let what = if answer { "the answer to" } else { "the" };
            format!("  (network) {what} request {} of client {} is lost", request.0, client.0)
        }
        Note::Arrives(request) => format!("  server gets request {}", request.0),
        Note::Committed { at, position, events, took } => format!(
            "  server commits {events} events from position {position}, at {:.6} of its time, in {}",
            seconds(at),
            span(took)
        ),
        Note::Happened(brief) => format!("    {}", brief_text(brief)),
        Note::AnswersLeave(count) => format!("  server lets {count} answers go"),
        Note::ChoreRan => "  server does a chore".to_owned(),
        Note::ServerStops(ServerStop::PowerCut) => "  POWER CUT".to_owned(),
        Note::ServerStops(ServerStop::Killed) => "  server KILLED; the machine lives".to_owned(),
        Note::ServerStops(ServerStop::Fatal(doing)) => {
            format!("  server STOPS itself: {doing} failed")
        }
        Note::ServerStarts { at, waiting, active } => format!(
            "  server STARTS at {:.6} of its time with {waiting} waiting, {active} active",
            seconds(at)
        ),
        Note::ServerStaysDown(Down::Crashed) => "  server crashed while it started".to_owned(),
        Note::ServerStaysDown(Down::Unavailable) => "  server cannot start now".to_owned(),
        Note::ServerStaysDown(Down::Corrupt) => {
            "  server REFUSES to start: the store is damaged".to_owned()
        }
        Note::ServerPauses(pause) => format!("  server is stopped for {}", span(pause)),
        Note::ServerResumes => "  server runs again".to_owned(),
        Note::CrashArmed(CrashAt::BeforeSync(nth)) => {
            format!("  (fault) crash before sync {nth} from here")
        }
        Note::CrashArmed(CrashAt::AfterSync(nth)) => {
            format!("  (fault) crash after sync {nth} from here")
        }
        Note::CrashArmed(CrashAt::Operation(nth)) => {
            format!("  (fault) crash at disk operation {nth} from here")
        }
        Note::BitsFlipped(count) => format!("  (fault) {count} bits on the disk flip"),
        Note::Goes(fault) => format!("  (fault) {}", fault_text(fault)),
        Note::Ends(fault) => format!("  (fault over) {}", fault_text(fault)),
        Note::Heals => "FAULTS STOP; nobody wants anything new".to_owned(),
        Note::Rests => "nobody holds, nobody waits".to_owned(),
    }
}

fn verb_text(verb: Verb) -> &'static str {
    match verb {
        Verb::Register => "register",
        Verb::Activate => "activate",
        Verb::Renew => "renew",
        Verb::Release => "release",
        Verb::Abort => "abort",
        Verb::Withdraw => "withdraw",
        Verb::Appoint => "appoint a keeper for",
        Verb::Revoke => "revoke",
    }
}

fn says_text(says: Says) -> String {
    match says {
        Says::Waiting(claim) => format!("claim {claim} waits"),
        Says::Active(claim, fence) => format!("claim {claim} is active, fence {fence}"),
        Says::Ended(claim, status) => format!("claim {claim} is {status}"),
        Says::Over => "there is no such claim".to_owned(),
        Says::NotNow => "not now".to_owned(),
        Says::KeyInUse => "the key is in use".to_owned(),
    }
}

fn brief_text(brief: Brief) -> String {
    match brief {
        Brief::Registered(claim) => format!("claim {claim} is registered"),
        Brief::Activated(claim, fence, until) => {
            format!("claim {claim} is ACTIVE, fence {fence}, until {:.6}", seconds(until))
        }
        Brief::Seen(claim) => format!("claim {claim} was seen"),
        Brief::Called(claim, until) => {
            format!("claim {claim} is called until {:.6}", seconds(until))
        }
        Brief::CalledOff(claim) => format!("claim {claim} is in line again"),
        Brief::PassedOver(claim) => format!("claim {claim} is passed over"),
        Brief::Renewed(claim, until) => {
            format!("claim {claim} is renewed until {:.6}", seconds(until))
        }
        Brief::Ended(claim, status) => format!("claim {claim} is {}", status.to_uppercase()),
        Brief::Appointed(claim) => format!("claim {claim} has a keeper"),
        Brief::Forgotten(count) => format!("{count} ended claims are forgotten"),
        Brief::Resumed => "the store resumes".to_owned(),
        Brief::EpochBegan(epoch) => format!("epoch {epoch} begins"),
    }
}

fn fault_text(fault: Fault) -> String {
    match fault {
        Fault::Crash => "the server will crash soon".to_owned(),
        Fault::PauseServer => "the server is stopped".to_owned(),
        Fault::SlowDisk => "the disk is slow".to_owned(),
        Fault::FailingDisk => "the disk will fail once".to_owned(),
        Fault::FullDisk => "the disk is full".to_owned(),
        Fault::CutToServer(client) => {
            format!("nothing reaches the server from client {}", client.0)
        }
        Fault::CutFromServer(client) => {
            format!("nothing reaches client {} from the server", client.0)
        }
        Fault::PauseClient => "a client is stopped".to_owned(),
        Fault::KillClient => "a client dies".to_owned(),
        Fault::Revoke => "an administrator revokes".to_owned(),
        Fault::WallJump => "somebody sets the clocks on the walls".to_owned(),
        Fault::Drift => "clock rates change".to_owned(),
    }
}

fn seconds(at: Timestamp) -> f64 {
    at.as_micros() as f64 / 1e6
}

fn span(span: Span) -> String {
    let micros = span.as_micros();
    match micros {
        0..1_000 => format!("{micros} us"),
        1_000..1_000_000 => format!("{:.1} ms", micros as f64 / 1e3),
        _ => format!("{:.2} s", micros as f64 / 1e6),
    }
}
