//! What can be seen: lists, resources, history.

use std::sync::Arc;

use claims::{ClaimId, Command, Data, Event, Farewell, Grant, Grants, Limit, Name, Status, Ttl};

use super::{Examined, PATIENCE};
use crate::store::{Bounds, Filter, Page};

/// Lists have an order, so paging is reliable.
pub async fn claims_are_listed_in_order_and_by_page(it: &Examined) {
    let mut ids = Vec::new();
    for _ in 0..7 {
        ids.push(it.register(it.exclusive("r")).await.0.claim.id);
    }
    let filter = Filter { resource: Some(it.name("r")), ..Filter::default() };
    let mut listed = Vec::new();
    let mut page = Page::first(3);
    loop {
        let found = it.store.claims(filter.clone(), page).await.expect("the store serves");
        listed.extend(found.iter().map(|claim| claim.id));
        let Some(last) = found.last() else { break };
        page = Page::after(last.id, 3);
    }
    assert_eq!(listed, ids);
    let skipping = Page { after: None, skip: 5, count: 10 };
    let found = it.store.claims(filter, skipping).await.expect("the store serves");
    assert_eq!(found.iter().map(|claim| claim.id).collect::<Vec<_>>(), ids[5..]);
}

/// Filters combine.
pub async fn filters_select_claims(it: &Examined) {
    let (_, holder) = it.register(it.exclusive("r")).await;
    let (waiting, _) = it.register(it.exclusive("r")).await;
    let (_, other) = it.register(it.exclusive("other")).await;
    it.release(other).await;
    let list = async |filter: Filter| {
        let found = it.store.claims(filter, Page::first(100)).await.expect("the store serves");
        found.into_iter().map(|claim| claim.id).collect::<Vec<_>>()
    };
    let on = |name: &str| Filter { resource: Some(it.name(name)), ..Filter::default() };
    let with = |status| Filter { status: Some(status), ..on("r") };
    assert_eq!(list(with(Status::Active)).await, [holder.claim]);
    assert_eq!(list(with(Status::Waiting)).await, [waiting.claim.id]);
    assert_eq!(list(on("other")).await, [other.claim]);
    let mut leased = on("r");
    leased.ttl.min = Some(0);
    assert_eq!(list(leased.clone()).await, [holder.claim], "only a holder has a lease");
    leased.ttl.min = Some(700_000_000);
    assert_eq!(list(leased).await, []);
    let mut held = on("r");
    held.active_for.max = Some(claims::Span::from_secs(60));
    assert_eq!(list(held).await, [holder.claim]);
    let mut old = on("r");
    old.created.max = Some(1);
    assert_eq!(list(old).await, []);
}

/// It has no end, so it is there for whoever asks for long leases, and not for short or overdue ones.
pub async fn lease_without_end_is_listed_as_longer_than_any(it: &Examined) {
    let mut wish = it.exclusive("r");
    wish.ttl = Ttl::UNLIMITED;
    let (_, holder) = it.register(wish).await;
    for (min, max, is_listed) in [
        (Some(0), None, true),
        (Some(1_000_000_000_000), None, true),
        (None, Some(-1), false),
        (None, Some(1_000_000_000_000), false),
    ] {
        let mut filter = Filter { resource: Some(it.name("r")), ..Filter::default() };
        filter.ttl = Bounds { min, max };
        let found = it.store.claims(filter, Page::first(100)).await.expect("the store serves");
        let found: Vec<ClaimId> = found.iter().map(|claim| claim.id).collect();
        assert_eq!(found.contains(&holder.claim), is_listed, "from {min:?} to {max:?}");
    }
    it.release(holder).await;
}

/// Who holds it, who waits.
pub async fn resource_shows_holders_and_queue(it: &Examined) {
    let (_, one) = it.register(it.wish("r", Limit::SHARED)).await;
    let (_, two) = it.register(it.wish("r", Limit::SHARED)).await;
    let (_, three) = it.register(it.exclusive("r")).await;
    let (_, four) = it.register(it.wish("r", Limit::SHARED)).await;
    let report = it.store.resource(it.name("r"), 10).await.expect("the store serves");
    let ids = |claims: &[claims::Claim]| claims.iter().map(|claim| claim.id).collect::<Vec<_>>();
    assert_eq!(ids(&report.holders), [one.claim, two.claim]);
    assert_eq!(ids(&report.queue), [three.claim, four.claim]);
    assert_eq!(report.waiting, 2);
    let before = Name::new(it.name("q").as_str()).expect("a name");
    let listed = it.store.resources(Page::after(before, 1)).await.expect("the store serves");
    assert_eq!(listed[0].name, it.name("r"));
    let idle = it.store.resource(it.name("idle"), 10).await.expect("the store serves");
    assert!(idle.holders.is_empty() && idle.waiting == 0);
}

/// Whoever may read a part sees that part, page by page, and no claim that reaches beyond it.
pub async fn list_shows_only_what_may_be_read(it: &Examined) {
    let mut own = Vec::new();
    for nth in 0..5 {
        let (_, other) = it.register(it.exclusive(&format!("other/{nth}"))).await;
        let (_, mine) = it.register(it.exclusive(&format!("own/{nth}"))).await;
        own.push(mine.claim);
        let _ = other;
    }
    let mut both = it.exclusive("both");
    let names = vec![it.name("own/6"), it.name("other/6")];
    both.resources = names.try_into().expect("two names");
    if !it.refuses_several(&both).await {
        it.register(both).await;
    }
    let grant = Grant::parse(&format!("read:{}", it.name("own/"))).expect("a grant");
    let readable = Some(Arc::new(Grants::from(vec![grant])));
    let filter = Filter { readable, ..Filter::default() };
    for (skip, count) in [(0, 100), (0, 2), (2, 2), (4, 2), (5, 2)] {
        let page = Page { after: None, skip, count };
        let listed = it.store.claims(filter.clone(), page).await.expect("the store serves");
        let listed: Vec<ClaimId> = listed.iter().map(|claim| claim.id).collect();
        let expected: Vec<ClaimId> = own.iter().copied().skip(skip).take(count).collect();
        assert_eq!(listed, expected);
    }
}

/// Events are the history.
pub async fn history_is_told_in_order(it: &Examined) {
    let from = it.store.vitals().await.expect("the store serves").position;
    let (_, owner) = it.register(it.exclusive("r")).await;
    it.release(owner).await;
    let page = it.store.events(from, 1000).await.expect("the store serves");
    let mine: Vec<_> =
        page.events.iter().filter(|kept| kept.event.claim() == Some(owner.claim)).collect();
    assert!(mine.is_sorted_by_key(|kept| kept.position));
    assert!(mine.is_sorted_by_key(|kept| kept.stamp.at));
    assert!(
        matches!(
            mine.iter().map(|kept| &kept.event).collect::<Vec<_>>()[..],
            [Event::Registered { .. }, Event::Activated { .. }, Event::Ended { .. }]
        ),
        "{mine:?}"
    );
    assert_eq!(page.skipped, 0);
}

/// Nobody needs to poll.
pub async fn event_wakes_those_who_wait_for_it(it: &Examined) {
    let position = it.store.vitals().await.expect("the store serves").position;
    let store = it.store.clone();
    let woken = tokio::spawn(async move { store.wait_for_event(position).await });
    let (_, owner) = it.register(it.exclusive("r")).await;
    let woken = tokio::time::timeout(PATIENCE, woken).await.expect("it is woken");
    woken.expect("the task ends").expect("the store serves");
    it.release(owner).await;
}

/// The store does not look into it.
pub async fn user_data_comes_back_as_given(it: &Examined) {
    for text in ["null", "{\"host\":\"ä→𝕊\",\"pid\":12}", "not even JSON\n", ""] {
        let mut registration = it.exclusive("r");
        registration.data = Some(Data::new(text).expect("short enough"));
        let (_, owner) = it.register(registration).await;
        let standing = it.store.standing(owner.claim).await.expect("served").expect("known");
        assert_eq!(standing.claim.data().map(Data::as_str), Some(text));
        it.release(owner).await;
    }
}

/// Names are compared byte by byte.
pub async fn names_differ_in_case_and_script(it: &Examined) {
    for name in
        ["printer", "Printer", "принтер", "打印机", "printer ", "a/b?c#d%e", "é", "e\u{301}"]
    {
        let (standing, owner) = it.register(it.exclusive(name)).await;
        assert!(super::is_active(&standing), "{name} is free");
        let twin = it.exclusive(name);
        let (twin, waiter) = it.register(twin).await;
        assert!(!super::is_active(&twin), "{name} is held");
        it.ask(Command::End(waiter, Farewell::Withdraw)).await.expect("it waits");
        let _ = owner;
    }
}
