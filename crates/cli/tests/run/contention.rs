//! Many programs, few resources: nobody overlaps, nobody is forgotten.

use crate::house::{House, Running};

#[test]
fn two_hundred_programs_contend_for_five_resources_and_never_overlap() {
    let house = House::open();
    // Creating a file that is there already fails: that is an overlap.
    let script = r#"
        set -C
        : > "$DIR/inside.$TENURE_RESOURCE" || { echo "$TENURE_CLAIM" >> "$DIR/overlaps"; exit 9; }
        echo "$TENURE_FENCE" >> "$DIR/fences.$TENURE_RESOURCE"
        rm "$DIR/inside.$TENURE_RESOURCE"
    "#;
    let mut all: Vec<Running> = (0..200)
        .map(|nth| house.start("run", &[&format!("r{}", nth % 5), "--", "sh", "-c", script]))
        .collect();
    for running in &mut all {
        let (code, said) = running.end();
        assert_eq!(code, 0, "{said}");
    }
    assert!(!house.file("overlaps").exists());
    for nth in 0..5 {
        let fences = std::fs::read_to_string(house.file(&format!("fences.r{nth}"))).unwrap();
        let fences: Vec<u64> = fences.lines().map(|fence| fence.parse().unwrap()).collect();
        assert_eq!(fences.len(), 40);
        assert!(fences.is_sorted_by(|a, b| a < b), "{fences:?}");
    }
}
