//! Fenced writes.

use makeshift::Place;
use makeshift::fenced::{NotWritten, get_fenced, put_fenced};

pub(crate) async fn older_fence_is_refused(place: &Place) {
    put_fenced(place, "fenced/one", 7, b"seven").await.unwrap();
    put_fenced(place, "fenced/one", 7, b"seven again").await.unwrap();
    let refused = put_fenced(place, "fenced/one", 6, b"six").await.unwrap_err();
    assert!(matches!(refused, NotWritten::Outdated { yours: 6, theirs: 7, .. }), "{refused}");
    // The same bytes under a higher fence count as well, though the store may hash bytes alone.
    put_fenced(place, "fenced/one", 9, b"seven again").await.unwrap();
    assert!(put_fenced(place, "fenced/one", 8, b"eight").await.is_err());
    let (fence, bytes) = get_fenced(place, "fenced/one").await.unwrap().unwrap();
    assert_eq!((fence, &bytes[..]), (9, &b"seven again"[..]));
    assert_eq!(get_fenced(place, "fenced/none").await.unwrap(), None);
}

pub(crate) async fn racing_writers_leave_the_highest_fence(place: &Place) {
    let writers = (1..=8_u64).map(|fence| {
        let place = place.clone();
        tokio::spawn(async move {
            let done = put_fenced(&place, "fenced/two", fence, fence.to_string().as_bytes()).await;
            assert!(matches!(done, Ok(()) | Err(NotWritten::Outdated { .. })), "{done:?}");
        })
    });
    let writers: Vec<_> = writers.collect();
    for writer in writers {
        writer.await.unwrap();
    }
    let (fence, bytes) = get_fenced(place, "fenced/two").await.unwrap().unwrap();
    assert_eq!((fence, &bytes[..]), (8, &b"8"[..]));
}

#[tokio::test]
async fn directory_refuses_what_it_cannot_do() {
    let directory = tempfile::tempdir().unwrap();
    let place = Place::open(directory.path().to_str().unwrap()).unwrap();
    let refused = put_fenced(&place, "x", 1, b"").await.unwrap_err();
    assert!(refused.to_string().contains("conditional"), "{refused}");
    std::fs::write(directory.path().join("foreign"), "x").unwrap();
    for name in ["", "../x", "a//b", ".hidden"] {
        let refused = put_fenced(&Place::open("memory:///").unwrap(), name, 1, b"").await;
        assert!(refused.is_err(), "{name}");
    }
}
