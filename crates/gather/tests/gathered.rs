//! What is gathered stays what it was, and is in huge pages where the kernel has some. One test: both would be
//! about the same memory.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "what cannot fail here fails the test if it does")]

use std::fs;
use std::sync::mpsc::channel;
use std::time::Duration;

const WORDS: usize = 4 << 20;
const BYTES: usize = WORDS * size_of::<usize>();

/// What the kernel says of this process, in bytes.
fn huge() -> usize {
    let told = fs::read_to_string("/proc/self/smaps_rollup").unwrap();
    let value = told.lines().find_map(|line| line.strip_prefix("AnonHugePages:")).unwrap();
    value.trim().strip_suffix(" kB").unwrap().parse::<usize>().unwrap() << 10
}

fn is_allowed() -> bool {
    let told = fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled");
    told.is_ok_and(|told| !told.contains("[never]"))
}

#[test]
fn memory_is_the_same_before_and_after_and_in_huge_pages() {
    let kept: Vec<usize> = (0..WORDS).collect();
    let gathered = gather::now().unwrap();
    assert!(kept.iter().enumerate().all(|(nth, &word)| nth == word));

    match is_allowed() {
        // Nothing but its ends, which share a block with others.
        true if gathered.ran_out => {}
        true => assert!(gathered.huge + gathered.refused >= BYTES - (4 << 20)),
        false => assert_eq!(gathered, gather::Gathered::default()),
    }
    assert!(huge() >= gathered.huge);
    // What is together stays together.
    let again = gather::now().unwrap();
    assert!(again.huge >= gathered.huge || again.ran_out);

    // And a process that grows is looked after without being asked.
    let (told, tells) = channel();
    let every = Duration::from_millis(1);
    let tell = move |gathered| {
        // Once is enough; nobody listens afterwards.
        let _unheard = told.send(gathered);
    };
    gather::whenever_grown(every, tell).unwrap();
    let more: Vec<usize> = (0..2 * WORDS).collect();
    let gathered = tells.recv().unwrap();
    assert!(gathered.huge + gathered.refused > 0 || gathered.ran_out || !is_allowed());
    assert!(more.iter().enumerate().all(|(nth, &word)| nth == word));
}
