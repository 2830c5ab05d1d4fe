//! A torn tail is cut; damage is refused, with the place. Nothing acknowledged is dropped silently.

use std::cell::RefCell;

use registry::StoreError;

use crate::twin::{Store, Twin};

const SEGMENT_HEADER: usize = 64;
const FRAME_HEADER: usize = 56;

/// Segments as small as they can be.
fn small() -> registry::embedded::Options {
    registry::embedded::Options { segment_bytes: 4 << 10, ..crate::twin::small() }
}

/// Where each frame of a segment begins, and where the last one ends.
fn frames(segment: &[u8]) -> Vec<usize> {
    let mut starts = vec![SEGMENT_HEADER];
    while let Some(head) = segment.get(starts[starts.len() - 1]..).filter(|rest| rest.len() > 8)
        && head[0] != 0
    {
        let body = u32::from_le_bytes(head[4..8].try_into().unwrap()) as usize;
        starts.push(starts[starts.len() - 1] + FRAME_HEADER + body);
    }
    starts
}

/// A store with `count` claims, each acknowledged on its own.
fn store_with(count: usize) -> Twin {
    let twin = Twin::default();
    let mut store = Store::open(&twin, small()).unwrap();
    for nth in 0..count {
        store.claim(&format!("resource/{nth}"));
    }
    twin
}

fn held(twin: &Twin) -> Result<usize, StoreError> {
    Store::open(twin, small()).map(|store| store.ledger.state().tally().active)
}

#[test]
fn torn_tail_is_cut_at_every_byte_of_the_last_sixty_records() {
    let original = Twin::default();
    let mut store = Store::open(&original, crate::twin::small()).unwrap();
    for nth in 0..61 {
        store.claim(&format!("{nth}"));
    }
    let name = &original.names("log-")[0];
    assert_eq!(original.names("log-").len(), 2, "one segment in use, one ready");
    let segment = original.file(name).borrow().clone();
    let starts = frames(&segment);
    assert_eq!(starts.len(), 62);
    for end in starts[1]..=starts[61] {
        let whole = starts.iter().skip(1).filter(|&&start| start <= end).count();
        let twin = original.image();
        twin.file(name).borrow_mut()[end..].fill(0);
        assert_eq!(held(&twin).unwrap(), whole, "cut at byte {end}");
        assert_eq!(held(&twin).unwrap(), whole, "and again, after the cut was mended");
    }
}

/// Checksums are about bytes: what is behind a right one is not believed blindly.
#[test]
fn frame_that_is_whole_but_says_what_cannot_be_is_refused() {
    let twin = store_with(2);
    let name = &twin.names("log-")[0];
    let file = twin.file(name);
    let starts = frames(&file.borrow());
    // The third frame: claim 99, which nobody made, was passed over.
    append(&file, &starts, 0, &[5, 99]);
    let Err(StoreError::Corrupt(why)) = held(&twin) else { panic!("it was believed") };
    assert!(why.contains(&format!("{name} at byte {}", starts[2])), "{why}");
}

/// Found by the fuzzer: whoever follows the events would have missed some, or seen some twice.
#[test]
fn frame_that_miscounts_the_events_before_it_is_refused() {
    for (off, is_believed) in [(0, true), (1, false), (-1, false)] {
        let twin = store_with(2);
        let name = &twin.names("log-")[0];
        let file = twin.file(name);
        let starts = frames(&file.borrow());
        // The third frame has no events of its own: time passed.
        append(&file, &starts, off, &[]);
        match held(&twin) {
            Ok(held) => assert!(is_believed && held == 2, "off by {off} it was believed"),
            Err(StoreError::Corrupt(why)) => {
                assert!(!is_believed && why.contains(&format!("{name} at byte {}", starts[2])));
                assert!(why.contains("events were before it"), "{why}");
            }
            Err(other) => panic!("{other}"),
        }
    }
}

/// Found by the fuzzer: such a frame counted as included in a snapshot that was not there.
#[test]
fn frame_that_is_whole_but_has_no_number_is_refused() {
    let twin = store_with(1);
    let name = &twin.names("log-")[0];
    let file = twin.file(name);
    let starts = frames(&file.borrow());
    let mut frame = file.borrow()[starts[0]..starts[1]].to_vec();
    frame[16..24].fill(0);
    file.borrow_mut()[starts[0]..starts[1]].copy_from_slice(&sealed(frame));
    let Err(StoreError::Corrupt(why)) = held(&twin) else { panic!("it was believed") };
    assert!(why.contains(name) && why.contains("byte 64"), "{why}");
}

/// A frame with a right checksum.
fn sealed(mut frame: Vec<u8>) -> Vec<u8> {
    let parts = [b"salt of the twin", &frame[..8], &frame[12..]];
    let sum = parts.iter().fold(0, |sum, part| crc32c::crc32c_append(sum, part));
    frame[8..12].copy_from_slice(&sum.to_le_bytes());
    frame
}

/// Writes a third frame behind two: whole, with right numbers but for the count of events before it.
fn append(file: &RefCell<Vec<u8>>, starts: &[usize], off: i64, body: &[u8]) {
    let mut frame = file.borrow()[starts[1]..starts[1] + FRAME_HEADER].to_vec();
    let first = file.borrow()[starts[0] + 32..starts[0] + 40].to_vec();
    let count = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().expect("eight bytes"));
    // Both claims made as many events.
    let each = count(&frame[32..40]) - count(&first);
    let before = count(&frame[32..40]) + each;
    frame[4..8].copy_from_slice(&(body.len() as u32).to_le_bytes());
    frame[16..24].copy_from_slice(&3_u64.to_le_bytes());
    frame[32..40].copy_from_slice(&before.saturating_add_signed(off).to_le_bytes());
    frame.extend(body);
    let frame = sealed(frame);
    file.borrow_mut()[starts[2]..starts[2] + frame.len()].copy_from_slice(&frame);
}

/// Found by the fuzzer: everything new was refused as too large, for good.
#[test]
fn spare_segment_that_was_cut_short_is_made_anew() {
    let twin = store_with(2);
    let spare = &twin.names("log-")[1];
    let bytes = twin.file(spare).borrow().len();
    twin.file(spare).borrow_mut().truncate(SEGMENT_HEADER + 10);
    let mut store = Store::open(&twin, small()).unwrap();
    for nth in 0..200 {
        store.claim(&format!("more/{nth}"));
    }
    assert_eq!(held(&twin).unwrap(), 202);
    assert_eq!(twin.file(spare).borrow().len(), bytes);
}

#[test]
fn store_goes_on_after_a_torn_tail_was_cut() {
    let twin = store_with(3);
    let name = &twin.names("log-")[0];
    let end = *frames(&twin.file(name).borrow()).last().unwrap();
    twin.file(name).borrow_mut()[end - 5..end].fill(0);
    let mut store = Store::open(&twin, small()).unwrap();
    assert_eq!(store.ledger.state().tally().active, 2);
    store.claim("resource/new");
    assert_eq!(held(&twin).unwrap(), 3);
}

#[test]
fn every_flipped_bit_of_two_segments_is_noticed_or_harmless() {
    let original = store_with(50);
    let names = original.names("log-");
    assert!(names.len() >= 3, "two segments in use, one ready: {names:?}");
    let last_in_use = &names[names.len() - 2];
    for name in &names[..names.len() - 1] {
        let segment = original.file(name).borrow().clone();
        let starts = frames(&segment);
        let last_frame = starts[starts.len() - 2];
        // Every bit of what is written, and of the zeros after it.
        for byte in 0..segment.len().min(starts[starts.len() - 1] + 64) {
            for bit in 0..8 {
                let twin = original.image();
                twin.file(name).borrow_mut()[byte] ^= 1 << bit;
                let tail = name == last_in_use && byte >= last_frame;
                match held(&twin) {
                    Ok(50) => assert!(tail, "{name} byte {byte} bit {bit} was not noticed"),
                    // The last frame: damage there cannot be told from a torn tail.
                    Ok(49) => assert!(tail, "{name} byte {byte} bit {bit} dropped a claim"),
                    Ok(other) => panic!("{name} byte {byte} bit {bit}: {other} claims"),
                    Err(StoreError::Corrupt(text)) => {
                        assert!(text.contains("log-") && text.contains("byte"), "{text}");
                    }
                    Err(other) => panic!("{name} byte {byte} bit {bit}: {other}"),
                }
            }
        }
    }
}

#[test]
fn zeroed_duplicated_and_swapped_frames_are_refused() {
    let original = store_with(25);
    let name = &original.names("log-")[0];
    let segment = original.file(name).borrow().clone();
    let starts = frames(&segment);
    let (a, b, c) = (starts[10], starts[11], starts[12]);
    assert_eq!(b - a, c - b, "frames of one size");
    type Damage = Box<dyn Fn(&mut Vec<u8>)>;
    let damages: [(&str, Damage); 4] = [
        ("zeroed", Box::new(move |bytes| bytes[a..b].fill(0))),
        ("duplicated", Box::new(move |bytes| bytes.copy_within(a..b, b))),
        ("swapped", Box::new(move |bytes| bytes[a..c].rotate_left(b - a))),
        ("cut out", Box::new(move |bytes| bytes.copy_within(b.., a))),
    ];
    for (kind, damage) in damages {
        let twin = original.image();
        damage(&mut twin.file(name).borrow_mut());
        let refusal = held(&twin).expect_err(kind);
        assert!(
            matches!(&refusal, StoreError::Corrupt(text) if text.contains("byte")),
            "{refusal}"
        );
    }
}

#[test]
fn missing_files_are_refused() {
    let original = store_with(60);
    let logs = original.names("log-");
    for name in [&logs[0], &"identity".to_owned()] {
        let twin = original.image();
        registry::embedded::Medium::remove(&twin, name).unwrap();
        let refusal = held(&twin).expect_err(name);
        assert!(matches!(refusal, StoreError::Corrupt(_)), "{name}: {refusal}");
    }
    let twin = original.image();
    for name in logs {
        registry::embedded::Medium::remove(&twin, &name).unwrap();
    }
    assert!(matches!(held(&twin), Err(StoreError::Corrupt(_))));
}

#[test]
fn user_data_that_looks_like_a_frame_is_not_read_as_one() {
    let twin = store_with(20);
    let name = twin.names("log-")[0].clone();
    // The best forgery is a frame of another store: everything is right but the salt.
    let foreign = Twin::default();
    let options = || registry::embedded::Options { salt: [1; 16], ..small() };
    let mut other = Store::open(&foreign, options()).unwrap();
    for nth in 0..40 {
        other.claim(&format!("resource/{nth}"));
    }
    let bytes = foreign.file(&foreign.names("log-")[0]).borrow().clone();
    let starts = frames(&bytes);
    let end = *frames(&twin.file(&name).borrow()).last().unwrap();
    let forged = &bytes[starts[25]..starts[40]];
    twin.file(&name).borrow_mut()[end + 10..end + 10 + forged.len()].copy_from_slice(forged);
    assert_eq!(held(&twin).unwrap(), 20, "a torn tail, however it looks");
}

#[test]
fn newer_format_is_refused_by_name() {
    let twin = store_with(1);
    {
        let file = twin.file("identity");
        let mut bytes = file.borrow_mut();
        bytes[8] = 2;
        let checksum = crc32c::crc32c(&bytes[..44]);
        bytes[44..48].copy_from_slice(&checksum.to_le_bytes());
    }
    let refusal = held(&twin).expect_err("format 2");
    assert!(refusal.to_string().contains("format 2"), "{refusal}");
}
