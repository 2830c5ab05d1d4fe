//! One run: faults fall on the house and on the crew for a while, then everything heals, everybody
//! finishes, and the history is judged.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::Context;
use fastrand::Rng;
use torture::check::Terms;
use torture::history::{Acquired, Entry, What};

use crate::clock::now;
use crate::faults::{CREW, Choice, Deck, Fault, Fit, HOUSE, rest};
use crate::gauge::Gauge;
use crate::line::Line;
use crate::process::LONG;
use crate::progress::Progress;
use crate::record::{RIG, Record, merged};
use crate::report::Report;
use crate::worker::{FOUND, MARK, look};
use crate::world::{Plan, World, history, logs};

/// How long everybody may take to be served once everything is well again.
const HEALING: Duration = Duration::from_secs(120);

/// The most claims that are looked at in the end: the latest.
const LOOKS_MAX: usize = 5_000;

/// What a run is told.
pub(crate) struct Run<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) seed: u64,
    pub(crate) lasts: Duration,
    pub(crate) choice: &'a Choice,
    /// What the judge may take for granted.
    pub(crate) terms: Terms,
    /// Who looks at the server while it suffers.
    pub(crate) gauge: Option<&'a Gauge>,
}

impl Run<'_> {
    /// Runs in a directory that outlives it. Errors are of the rig; what the run found is in the
    /// report.
    pub(crate) fn go(self, directory: &Path, progress: &Progress) -> anyhow::Result<Report> {
        let mut dice = Rng::with_seed(self.seed);
        progress.say("starting");
        let mut world = World::open(self.plan, directory, &mut dice)?;
        let mut report = self.suffer(&mut world, directory, &mut dice, progress)?;
        if report.findings.is_empty() {
            progress.say("healing");
            let healed = heal(&mut world, directory);
            report.findings.extend(healed.err().map(|error| format!("after healing, {error:#}")));
        }
        drop(world);
        progress.say("judging");
        report.findings.extend(told(&logs(directory)));
        report.judge(&merged(&history(directory))?, &self.terms);
        Ok(report)
    }

    /// Both lanes at once, for as long as the run lasts.
    fn suffer(
        &self,
        world: &mut World,
        directory: &Path,
        dice: &mut Rng,
        progress: &Progress,
    ) -> anyhow::Result<Report> {
        let course = Course {
            until: Instant::now() + self.lasts,
            broken: AtomicBool::new(false),
            record: Record::create(&history(directory), "faults")?,
            progress,
        };
        let World { crew, house } = world;
        let mut house_lane = Lane::of(&HOUSE, house, self.choice, dice.fork());
        let mut crew_lane = Lane::of(&CREW, crew, self.choice, dice.fork());
        let mut findings = Vec::new();
        let (pid, data) = (house.server.pid()?, house.server.data().to_owned());
        std::thread::scope(|scope| {
            if let Some(gauge) = self.gauge {
                let is_over = || course.is_over();
                scope.spawn(move || gauge.watch(pid, &data, is_over));
            }
            let lane = scope.spawn(|| crew_lane.suffer(crew, &course, |crew| crew.check()));
            // The server dies with the thread that starts it, so this lane is on the main thread.
            findings.extend(house_lane.suffer(house, &course, |house| house.check()));
            findings.extend(lane.join().expect("a lane does not panic"));
        });
        let mut report = Report { findings, ..Report::default() };
        house_lane.tell(&mut report);
        crew_lane.tell(&mut report);
        Ok(report)
    }
}

/// Where both lanes are.
struct Course<'a> {
    until: Instant,
    /// One lane has found something: there is no point in going on.
    broken: AtomicBool,
    record: Record,
    progress: &'a Progress,
}

impl Course<'_> {
    fn is_over(&self) -> bool {
        Instant::now() >= self.until || self.broken.load(Ordering::SeqCst)
    }
}

/// Faults that fall on one part of the world, one after the other.
struct Lane<Part: 'static> {
    deck: Deck<Part>,
    dice: Rng,
    /// How often each struck.
    struck: BTreeMap<&'static str, u64>,
    /// What the machine cannot do, and why.
    skipped: BTreeMap<&'static str, String>,
}

impl<Part> Lane<Part> {
    fn of(menu: &[&'static Fault<Part>], part: &Part, choice: &Choice, dice: Rng) -> Self {
        let (mut fitting, mut skipped) = (Vec::new(), BTreeMap::new());
        for fault in menu.iter().filter(|fault| choice.has(fault.name)) {
            match (fault.fits)(part) {
                Fit::Yes => fitting.push(*fault),
                Fit::NotForThisStore => {}
                Fit::NotHere(why) => drop(skipped.insert(fault.name, why)),
            }
        }
        Self { deck: Deck::of(fitting), dice, struck: BTreeMap::new(), skipped }
    }

    /// Returns what must hold and did not.
    fn suffer(
        &mut self,
        part: &mut Part,
        course: &Course,
        check: impl Fn(&mut Part) -> anyhow::Result<()>,
    ) -> Option<String> {
        while !course.is_over() {
            rest(&mut self.dice, 300..=1_500);
            let told = check(part).and_then(|()| self.strike(part, course));
            if let Err(error) = told {
                course.broken.store(true, Ordering::SeqCst);
                return Some(format!("{error:#}"));
            }
        }
        None
    }

    fn strike(&mut self, part: &mut Part, course: &Course) -> anyhow::Result<()> {
        let Some(fault) = self.deck.draw(&mut self.dice) else { return Ok(()) };
        course.progress.say(fault.about);
        let mut entry = course.record.fault(fault.name);
        (fault.strike)(part, &mut self.dice).with_context(|| fault.name)?;
        entry.end = Some(now());
        course.record.write(&entry);
        *self.struck.entry(fault.name).or_default() += 1;
        Ok(())
    }

    fn tell(self, report: &mut Report) {
        report.faults.extend(self.struck);
        report.skipped.extend(self.skipped);
    }
}

/// Everybody is served again, everybody finishes, and every claim that was granted is looked at.
fn heal(world: &mut World, directory: &Path) -> anyhow::Result<()> {
    let left_out = world.crew.served_since(now(), HEALING);
    anyhow::ensure!(left_out.is_empty(), "workers were not served: {}", left_out.join(", "));
    world.crew.finish()?;
    world.house.check()?;
    let record = Record::create(&history(directory), "looks")?;
    let mut line = Line::to(world.house.server.address(), LONG);
    let twice = made_twice(&mut line)?;
    anyhow::ensure!(twice.is_empty(), "a claim was made more than once: {}", twice.join(", "));
    for (claim, resource) in granted(&merged(&history(directory))?) {
        let begin = now();
        let seen = look(&mut line, claim).or_else(|| look(&mut line, claim));
        let seen = seen.with_context(|| format!("nobody could look at claim {claim}"))?;
        let what = What::Look { claim, seen };
        record.write(&Entry { client: RIG, resource, begin, end: Some(now()), what });
    }
    Ok(())
}

/// Wishes that have more than one claim, however often they were asked for.
fn made_twice(line: &mut Line) -> anyhow::Result<Vec<String>> {
    let mut made: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut seen = 0;
    loop {
        let path = format!("/v1/claims/?limit=1000&offset={seen}");
        let page = line.ask("GET", &path, "").or_else(|| line.ask("GET", &path, ""));
        let page = page.context("nobody could list the claims")?;
        let page = page.body.as_array().context("the claims are a list")?;
        for claim in page {
            if let Some(mark) = claim["user_data"][MARK].as_str() {
                made.entry(mark.to_owned()).or_default().push(claim["id"].to_string());
            }
        }
        seen += page.len();
        if page.is_empty() {
            break;
        }
    }
    let several = made.into_iter().filter(|(_, claims)| claims.len() > 1);
    Ok(several.map(|(mark, claims)| format!("{mark} ({})", claims.join(" and "))).collect())
}

/// The latest claims that somebody was told it holds.
fn granted(entries: &[Entry]) -> Vec<(u64, String)> {
    let claims = entries.iter().filter_map(|entry| {
        let What::Acquire { outcome: Acquired::Granted { claim, .. }, .. } = entry.what else {
            return None;
        };
        Some((claim, entry.resource.clone()))
    });
    let mut claims: Vec<(u64, String)> = claims.collect();
    claims.sort_unstable();
    claims.dedup();
    claims.split_off(claims.len().saturating_sub(LOOKS_MAX))
}

/// Whoever panicked, or saw what must not be, said so in its log.
fn told(logs: &Path) -> Vec<String> {
    let Ok(files) = std::fs::read_dir(logs) else { return Vec::new() };
    let mut found = Vec::new();
    for path in files.flatten().map(|file| file.path()) {
        let log = std::fs::read_to_string(&path).unwrap_or_default();
        found.extend(log.lines().filter(|line| line.starts_with(FOUND)).map(str::to_owned));
        let mut lines = log.lines().skip_while(|line| !line.contains("panicked at"));
        if let Some(line) = lines.next() {
            let name = path.file_stem().unwrap_or_default().display();
            found.push(format!("{name} panicked: {line} {}", lines.next().unwrap_or_default()));
        }
    }
    found
}
