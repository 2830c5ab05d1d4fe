//! `tenure watch`: what is held and who waits, as it changes.
//!
//! The server's event stream says what happens; the names of claims that were there before are asked
//! for when they are first needed. A lost connection goes on where it broke off.

mod board;
mod lines;
mod screen;
pub(crate) mod stream;

use std::time::Duration;

use clap::Args;

use self::board::Board;
use self::lines::Lines;
use self::screen::Screen;
use self::stream::{Event, Stream};
use crate::exit::Exit;
use crate::http::Server;
use crate::out::Out;
use crate::place::{Place, Token};
use crate::serve::stopped;

/// How long to wait before the next try when the server is gone.
const PAUSE: Duration = Duration::from_secs(1);
/// How often a terminal is drawn anew.
const FRAME: Duration = Duration::from_millis(250);

#[derive(Args)]
pub(crate) struct Watch {
    /// Only this resource
    #[arg(conflicts_with = "prefix")]
    resource: Option<String>,
    /// Only resources whose names begin like this
    #[arg(long)]
    prefix: Option<String>,
    /// Show renewals and polling, too
    #[arg(long)]
    all: bool,
    /// One line an event, on a terminal, too
    #[arg(long)]
    lines: bool,
    /// One JSON object an event
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: Place,
}

impl Watch {
    fn wants(&self, resources: &[String]) -> bool {
        match (&self.resource, &self.prefix) {
            (Some(name), _) => resources.iter().any(|resource| resource == name),
            (None, Some(prefix)) => resources.iter().any(|resource| resource.starts_with(prefix)),
            (None, None) => true,
        }
    }

    fn wants_everything(&self) -> bool {
        self.resource.is_none() && self.prefix.is_none()
    }
}

pub(crate) async fn run(wish: &Watch, out: &mut Out) -> anyhow::Result<()> {
    let server = wish.place.server(Token::IfThere)?;
    let stop = stopped()?;
    // Connected before the terminal is taken: what is wrong is said where it can be read.
    let stream = Stream::open(&server, None).await?;
    let is_live = out.is_terminal() && !wish.json && !wish.lines;
    let mut view = match is_live {
        true => View::Screen(Screen::open(out, &server.address)?),
        false => View::Lines(Lines::new(wish, out)),
    };
    tokio::select! {
        done = follow(&server, stream, wish, &mut view) => done,
        () = stop => Ok(()),
    }
}

/// Follows the stream through all interruptions.
async fn follow(
    server: &Server,
    mut stream: Stream,
    wish: &Watch,
    view: &mut View<'_>,
) -> anyhow::Result<()> {
    let mut board = Board::default();
    loop {
        let gone = match board.load(server).await {
            Ok(()) => read(&mut stream, server, wish, &mut board, view).await?,
            Err(error) if is_passing(&error) => format!("{error:#}"),
            Err(error) => return Err(error),
        };
        view.note(&format!("lost the server ({gone}); trying again"));
        stream = again(server, stream.last).await?;
        view.note("connected again, going on where it broke off");
    }
}

/// Shows what comes until the stream breaks; then says why it did.
async fn read(
    stream: &mut Stream,
    server: &Server,
    wish: &Watch,
    board: &mut Board,
    view: &mut View<'_>,
) -> anyhow::Result<String> {
    let mut frame = tokio::time::interval(FRAME);
    frame.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        let event = tokio::select! {
            event = stream.next() => event,
            _ = frame.tick() => {
                view.draw(board, wish)?;
                continue;
            }
        };
        let told = match event {
            Ok(Some(Event::Told(told))) => told,
            Ok(Some(Event::Nothing)) => continue,
            Ok(Some(Event::Skipped(count))) => {
                view.skipped(count)?;
                // What was missed is in the list by now.
                match board.load(server).await {
                    Ok(()) => continue,
                    Err(error) if is_passing(&error) => return Ok(format!("{error:#}")),
                    Err(error) => return Err(error),
                }
            }
            Ok(None) => return Ok("it ended the stream".into()),
            Err(error) => return Ok(format!("{error:#}")),
        };
        board.learn(server, &told).await;
        let resources = told.claim_id.map(|id| board.resources(id, &told));
        let wanted = match &resources {
            Some(resources) => wish.wants(resources),
            None => wish.wants_everything(),
        };
        if let (true, View::Lines(lines)) = (wanted, &mut *view) {
            lines.tell(&told, resources.as_deref())?;
        }
        board.apply(&told);
    }
}

/// Connects again, however long it takes, unless the server says that it will never do.
async fn again(server: &Server, last: Option<u64>) -> anyhow::Result<Stream> {
    loop {
        tokio::time::sleep(PAUSE).await;
        match Stream::open(server, last).await {
            Ok(stream) => return Ok(stream),
            Err(error) if is_passing(&error) => {}
            Err(error) => return Err(error),
        }
    }
}

fn is_passing(error: &anyhow::Error) -> bool {
    Exit::of(error) == Exit::Unavailable
}

/// How it is shown.
enum View<'a> {
    Screen(Screen<'a>),
    Lines(Lines<'a>),
}

impl View<'_> {
    fn draw(&mut self, board: &Board, wish: &Watch) -> anyhow::Result<()> {
        match self {
            Self::Screen(screen) => screen.draw(board, |resources| wish.wants(resources)),
            Self::Lines(_) => Ok(()),
        }
    }

    fn note(&mut self, text: &str) {
        match self {
            Self::Screen(screen) => screen.note(text),
            Self::Lines(_) => aside!("tenure: {text}"),
        }
    }

    fn skipped(&mut self, count: u64) -> anyhow::Result<()> {
        match self {
            Self::Screen(screen) => screen.note(&format!("{count} events were skipped")),
            Self::Lines(lines) => lines.skipped(count)?,
        }
        Ok(())
    }
}
