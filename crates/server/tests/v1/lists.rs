//! Lists: in order of creation, filtered, a page at a time.

use crate::house::{House, Told};

#[tokio::test]
async fn lists_are_ordered_filtered_and_paged() {
    let house = House::new().await;
    for nth in 0..12 {
        house.claim(if nth % 2 == 0 { "even" } else { "odd" }, 60.0).await;
    }
    let ids = |told: Told| -> Vec<u64> {
        let list = told.is(200).json();
        list.as_array().unwrap().iter().map(|claim| claim["id"].as_u64().unwrap()).collect()
    };
    let table: [(&str, &[u64]); 20] = [
        ("", &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]),
        ("?limit=2&offset=9", &[10, 11]),
        ("?limit=0", &[]),
        ("?resource=odd&limit=3", &[2, 4, 6]),
        ("?resource=none", &[]),
        ("?status=active", &[1, 2]),
        ("?status=waiting&resource=even&limit=2", &[3, 5]),
        ("?status=released", &[]),
        ("?minimum_ttl=1", &[1, 2]),
        ("?maximum_ttl=1", &[]),
        ("?minimum_ttl=1&status=waiting", &[]),
        ("?maximum_active_duration=-1", &[]),
        ("?minimum_active_duration=-1", &[1, 2]),
        ("?maximum_active_duration=1000&unknown=1", &[1, 2]),
        ("?minimum_waiting_duration=1000", &[]),
        ("?minimum_created=2020-01-01T00:00:00Z&limit=1", &[1]),
        ("?maximum_created=1000", &[]),
        ("?minimum_ttl=1e30", &[]),
        ("?limit=1&limit=5", &[1]),
        ("?limit=99999999999999999999999&offset=10", &[11, 12]),
    ];
    for (query, expected) in table {
        assert_eq!(ids(house.get(&format!("/v1/claims/{query}")).await), expected, "{query}");
    }
    let bad = [
        "limit=",
        "limit=1.5",
        "limit=-1",
        "offset=x",
        "status=",
        "status=Active",
        "minimum_ttl=nan",
        "maximum_ttl=x",
        "minimum_created=yesterday",
        "resource=&maximum_created=tomorrow",
    ];
    for query in bad {
        let value = house.get(&format!("/v1/claims/?{query}")).await.is(400).json();
        assert_eq!(value["message"], "Failed to parse query string", "{query}");
    }
}
