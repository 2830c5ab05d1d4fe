//! Beyond the bounds: a clear refusal, nothing changed.

use claims::{
    DATA_BYTES_MAX, Data, Limit, NAME_BYTES_MAX, Name, RESOURCES_MAX, Refusal, Resources, Rules,
    Span, Status, TTL_MAX, Ttl,
};

use super::world::{World, key, name, refused, wish};

/// Rule 13. A resource name has 1 to 1024 bytes of UTF-8 ...
#[test]
fn name_has_one_to_1024_bytes() {
    assert_eq!(Name::new("").unwrap_err(), Refusal::NameEmpty);
    let longest = "x".repeat(NAME_BYTES_MAX);
    assert_eq!(Name::new(&longest).unwrap().as_str(), longest);
    let refusal = Name::new(&(longest + "x")).unwrap_err();
    assert_eq!(refusal, Refusal::NameTooLong { bytes: 1_025 });
    assert_eq!(Name::new(&"ы".repeat(512)).unwrap().as_str().len(), 1_024);
    assert!(Name::new(&"ы".repeat(513)).is_err(), "bytes, not characters");
}

/// Rule 13. ... without control characters; all else is kept verbatim.
#[test]
fn name_has_no_control_characters() {
    for control in ['\0', '\n', '\r', '\t', '\u{1b}', '\u{7f}', '\u{85}', '\u{9f}'] {
        let refusal = Name::new(&format!("ab{control}c")).unwrap_err();
        assert_eq!(refusal, Refusal::NameHasControl { at: 2, control });
    }
    for text in [" ", "a/b?c#d%20", "ночь", "🔒", "A", "a\u{301}"] {
        assert_eq!(Name::new(text).unwrap().as_str(), text);
    }
    assert_ne!(name("A"), name("a"), "names are compared byte by byte");
}

/// Rule 13. A claim covers one to sixteen different resources.
#[test]
fn claim_covers_one_to_sixteen_different_resources() {
    let names = |count: usize| (0..count).map(|nth| name(&format!("r{nth}"))).collect();
    let resources = |names: Vec<Name>| Resources::try_from(names);
    assert_eq!(resources(names(0)).unwrap_err(), Refusal::NoResource);
    assert_eq!(resources(names(1)).unwrap(), Resources::one(name("r0")));
    assert_eq!(resources(names(16)).unwrap().as_slice().len(), RESOURCES_MAX);
    assert_eq!(resources(names(17)).unwrap_err(), Refusal::TooManyResources { count: 17 });
    assert_eq!(
        resources(vec![name("a"), name("b"), name("a")]).unwrap_err(),
        Refusal::ResourceTwice { resource: name("a") }
    );
}

/// Rule 13. A limit of nobody would be a claim that nobody could ever hold.
#[test]
fn limit_is_at_least_one() {
    assert_eq!(Limit::at_most(0).unwrap_err(), Refusal::LimitZero);
    assert_eq!(Limit::at_most(1).unwrap(), Limit::EXCLUSIVE);
    assert_eq!(Limit::at_most(7).unwrap().count(), Some(7));
    assert_eq!(Limit::SHARED.count(), None);
    assert!(Limit::EXCLUSIVE < Limit::at_most(2).unwrap());
    assert!(Limit::at_most(u32::MAX - 1).unwrap() < Limit::SHARED);
}

/// Rule 13. A ttl is a number of seconds from zero to some three hundred years.
#[test]
fn ttl_is_a_number_that_fits() {
    let refusal = |secs: f64| Ttl::from_secs_f64(secs).unwrap_err().code();
    assert_eq!(refusal(f64::NAN), "ttl-not-a-number");
    assert_eq!(refusal(-0.001), "ttl-negative");
    assert_eq!(refusal(f64::NEG_INFINITY), "ttl-negative");
    assert_eq!(refusal(f64::INFINITY), "ttl-too-long");
    assert_eq!(refusal(1e308), "ttl-too-long");
    assert_eq!(refusal(1e10 + 1.0), "ttl-too-long");
    for secs in [0.0, -0.0, 1e-9, 0.005, 1e10] {
        assert!(Ttl::from_secs_f64(secs).is_ok(), "{secs}");
    }
    assert_eq!(Ttl::new(TTL_MAX).unwrap().span(), TTL_MAX);
    let longer = Span::from_micros(TTL_MAX.as_micros() + 1);
    assert_eq!(Ttl::new(longer).unwrap_err().code(), "ttl-too-long");
    assert_eq!(Ttl::new(Span::FOREVER).unwrap_err().code(), "ttl-too-long");
}

/// Rule 13. User data has at most 64 KiB.
#[test]
fn user_data_has_at_most_64_kib() {
    let most = "d".repeat(DATA_BYTES_MAX);
    assert_eq!(Data::new(&most).unwrap().as_str(), most);
    assert_eq!(Data::new("").unwrap().as_str(), "");
    assert_eq!(Data::new(&(most + "d")).unwrap_err(), Refusal::DataTooLarge { bytes: 65_537 });
}

/// Rule 13. What is read back from a store is parsed like what comes from a claimant.
#[cfg(feature = "serde")]
#[test]
fn stored_text_is_held_to_the_same_bounds() {
    use serde::Deserialize;
    use serde::de::IntoDeserializer;
    use serde::de::value::{Error, SeqDeserializer, StrDeserializer};

    let text = |text: &'static str| -> StrDeserializer<'static, Error> { text.into_deserializer() };
    assert_eq!(Name::deserialize(text("a")).unwrap(), name("a"));
    assert!(Name::deserialize(text("")).is_err());
    assert!(Name::deserialize(text("a\n")).is_err());
    let names = |names: Vec<&'static str>| {
        Resources::deserialize(SeqDeserializer::<_, Error>::new(names.into_iter()))
    };
    assert!(names(vec!["a", "b"]).is_ok());
    assert!(names(vec![]).is_err());
    assert!(names(vec!["a", "a"]).is_err());
}

/// Rule 13. A queue has its bound, 10,000 unless configured, and a refusal changes nothing.
#[test]
fn full_queue_refuses_and_nothing_changes() {
    assert_eq!(Rules::default().queue_max, 10_000);
    let mut world = World::with(Rules { queue_max: 3, ..Rules::default() });
    world.register(wish("a"));
    let waiters: Vec<_> = (0..3).map(|_| world.register(wish("a"))).collect();
    let before = world.state.clone();
    for names in ["a", "b a", "a b"] {
        let refusal = world.try_register(wish(names)).unwrap_err();
        assert_eq!(refusal, Refusal::QueueFull { resource: name("a"), waiting: 3 });
        assert!(world.events().is_empty());
        assert!(world.state == before);
    }
    world.withdraw(waiters[1]).unwrap();
    world.register(wish("a"));
}

/// Rule 13. The bound counts those passed over, too, and a claim that is there already is no newcomer.
#[test]
fn repeated_registration_is_not_refused_by_a_full_queue() {
    let mut world = World::with(Rules { queue_max: 1, ..Rules::default() });
    let holder = world.register(wish("a"));
    let mine = wish("a").ttl(10).key(key(1));
    let waiter = world.register(mine.clone());
    assert_eq!(world.register(mine), waiter);
    world.release(holder).unwrap();
    world.at(11).sweep();
    assert_eq!(refused(world.try_register(wish("a"))), "queue-full");
}

/// Rule 13. One command causes a bounded number of events; the rest is settled right after it, in
/// the same order.
#[test]
fn what_does_not_fit_into_one_command_is_done_by_the_next() {
    let mut world = World::with(Rules { events_max: 6, called_max: 1, ..Rules::default() });
    let names: Vec<String> = (0..16).map(|nth| format!("r{nth}")).collect();
    let holder = world.register(wish(&names.join(" ")));
    let waiters: Vec<_> = names.iter().map(|name| world.register(wish(name))).collect();
    world.release(holder).unwrap();
    assert_eq!(world.events().len(), 6);
    let mut sweeps = 0;
    while world.state.next_due() == Some(claims::Timestamp::ZERO) {
        world.sweep();
        assert!(world.events().len() <= 6);
        sweeps += 1;
    }
    assert!((2..=4).contains(&sweeps), "{sweeps}");
    for waiter in waiters {
        world.poll(waiter).unwrap();
    }
}

/// Rules 5 and 13. However much is due elsewhere, whoever asks for what has long been free is not told
/// to wait for it.
#[test]
fn newcomer_gets_what_is_free_while_more_is_due_than_one_command_does() {
    let mut world = World::with(Rules { events_max: 6, called_max: 1, ..Rules::default() });
    let names: Vec<String> = (0..40).map(|nth| format!("r{nth}")).collect();
    for name in &names {
        world.register(wish(name).ttl(10));
    }
    // Their leases are over, and nobody wanted what they held: they have lingered.
    world.at(100);
    for name in names.iter().rev().take(8) {
        let newcomer = world.register(wish(name).ttl(10));
        assert_eq!(world.status(newcomer), Status::Active, "{name}");
        assert!(world.events().len() <= 6, "{:?}", world.events());
    }
}

/// The same after a restart, when everybody who waits has to be looked at.
#[test]
fn waiter_that_asks_after_a_restart_has_its_turn_while_many_others_are_called() {
    let mut world = World::with(Rules { events_max: 6, called_max: 1, ..Rules::default() });
    let names: Vec<String> = (0..40).map(|nth| format!("r{nth}")).collect();
    let holder = world.register(wish(&names[..16].join(" ")));
    let others = world.register(wish(&names[16..32].join(" ")));
    let waiters: Vec<_> = names[..32].iter().map(|name| world.register(wish(name))).collect();
    for holder in [holder, others] {
        world.release(holder).unwrap();
    }
    world.restart();
    let last = world.poll(waiters[31]).unwrap();
    assert_eq!(last.claim.status(), Status::Active);
    assert!(world.events().len() <= 6, "{:?}", world.events());
}
