//! Trees of processes that do not want to end, with one clock for all.

use std::path::PathBuf;

use crate::house::{House, lives, until};

/// A tree of five: a child, one in a session of its own, one that was forked twice, one of each
/// below those, none of which minds SIGTERM. Each writes the time into a file of its own, all the
/// time, and its number into `pids`.
pub(crate) const TREE: &str = r#"
beat() { trap '' TERM HUP INT; echo $$ >> "$DIR/pids"; while :; do date +%s%N >> "$DIR/beats.$1"; sleep 0.01; done; }
case "$1" in
child) beat child ;;
session) setsid sh "$0" below-session & beat session ;;
forked) (setsid sh "$0" below-forked &) ; beat forked ;;
below-*) beat "$1" ;;
*)
    echo $$ >> "$DIR/pids"
    sh "$0" child &
    setsid sh "$0" session &
    (setsid sh "$0" forked &)
    while :; do sleep 0.05; done ;;
esac
"#;

/// The members of a tree, once all of them run.
pub(crate) struct Tree {
    pids: Vec<String>,
    beats: Vec<PathBuf>,
}

impl Tree {
    /// Writes the script; its path is what to run with `sh`.
    pub(crate) fn script(house: &House) -> String {
        let path = house.file("tree.sh");
        std::fs::write(&path, TREE).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// Waits until all run and have written.
    pub(crate) fn grown(house: &House) -> Self {
        let names = ["child", "session", "forked", "below-session", "below-forked"];
        let beats: Vec<PathBuf> = names.map(|name| house.file(&format!("beats.{name}"))).into();
        until(|| beats.iter().all(|file| file.metadata().is_ok_and(|file| file.len() > 0)));
        let pids = std::fs::read_to_string(house.file("pids")).unwrap();
        let pids: Vec<String> = pids.lines().map(str::to_owned).collect();
        assert_eq!(pids.len(), 6, "{pids:?}");
        Self { pids, beats }
    }

    pub(crate) fn is_gone(&self) -> bool {
        !self.pids.iter().any(|pid| lives(pid))
    }

    /// The last moment in which any of them did something.
    pub(crate) fn last_beat(&self) -> u64 {
        let last = |file: &PathBuf| {
            let text = std::fs::read_to_string(file).unwrap();
            let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
            whole.lines().last().unwrap().parse::<u64>().unwrap()
        };
        self.beats.iter().map(last).max().unwrap()
    }
}

#[test]
fn what_a_command_leaves_running_is_stopped_before_the_claim_is_given_back() {
    let house = House::open();
    let script = "setsid sleep 1000 & echo $!; (setsid sh -c 'trap \"\" TERM; echo $$; while :; do sleep 0.1; done' &); sleep 0.3; exit 4";
    let arguments = ["--grace", "1s", "r", "--", "sh", "-c", script];
    let mut running = house.start("run", &arguments);
    let pids = [running.line(), running.line()];
    assert_eq!(running.end().0, 4);
    assert!(!pids.iter().any(|pid| lives(pid)), "{pids:?}");
}

#[test]
fn what_a_command_leaves_running_goes_on_if_asked() {
    let house = House::open();
    let script = "setsid sleep 1000 >/dev/null 2>&1 & echo $!";
    let (code, pid) = house.output("run", &["-o", "r", "--", "sh", "-c", script]);
    assert_eq!(code, 0);
    let pid = pid.trim();
    assert!(lives(pid));
    crate::house::signal(pid.parse().unwrap(), "-KILL");
    assert_eq!(house.count("r", "active"), 0);
}
