//! A sweeper only makes things prompt. Each story here is told twice, with a sweep every second and
//! without any, and must have the same answers.

use claims::{Command, Owner, Rules, Span};

use super::world::{World, wish};

/// Whether somebody sweeps between two steps of a story.
#[derive(Clone, Copy)]
enum Sweeper {
    EverySecond,
    Never,
}

struct Story {
    world: World,
    sweeper: Sweeper,
    now: u64,
    answers: Vec<String>,
}

impl Story {
    fn until(&mut self, at: u64) -> &mut World {
        while self.now < at {
            self.now += 1;
            self.world.at(self.now);
            if matches!(self.sweeper, Sweeper::EverySecond) {
                self.world.sweep();
            }
        }
        &mut self.world
    }

    fn ask(&mut self, at: u64, command: Command) {
        let answer = self.until(at).execute(command);
        let answer = match answer {
            Ok(standing) => standing.claim.status().to_string(),
            Err(refusal) => refusal.to_string(),
        };
        self.answers.push(format!("at {at}: {answer}"));
    }

    fn poll(&mut self, at: u64, owner: Owner) {
        self.ask(at, Command::Activate(owner));
    }

    fn renew(&mut self, at: u64, owner: Owner) {
        self.ask(at, Command::Renew(owner, None));
    }
}

#[track_caller]
fn told_twice(rules: Rules, tell: impl Fn(&mut Story)) -> Vec<String> {
    let [swept, unswept] = [Sweeper::EverySecond, Sweeper::Never].map(|sweeper| {
        let mut story =
            Story { world: World::with(rules.clone()), sweeper, now: 0, answers: Vec::new() };
        tell(&mut story);
        story.answers
    });
    assert_eq!(swept, unswept, "left: swept, right: unswept");
    swept
}

/// Rule 5. No answer depends on the sweeper: not the end of a lease ...
#[test]
fn overdue_claim_is_refused_alike_unswept() {
    told_twice(Rules::default(), |story| {
        let unwanted = story.until(0).register(wish("a").ttl(10));
        let lingered = story.until(0).register(wish("b").ttl(10));
        let wanted = story.until(0).register(wish("c").ttl(10));
        story.until(0).register(wish("c"));
        story.renew(69, unwanted);
        story.renew(70, lingered);
        story.renew(70, wanted);
    });
}

/// Rules 5 and 6. ... not how long a turn is kept: it begins when the lease ends, not when somebody
/// looks ...
#[test]
fn turn_begins_when_the_lease_ends_also_unswept() {
    let answers = told_twice(Rules::default(), |story| {
        story.until(0).register(wish("a").ttl(10));
        let absent = story.until(0).register(wish("a").ttl(20));
        let second = story.until(0).register(wish("a").ttl(20));
        // The lease ends at 10, the turn of the absent one at 30.
        story.poll(29, second);
        story.poll(30, second);
        story.poll(31, absent);
    });
    assert!(answers[0].contains("still waiting"), "{answers:?}");
    assert_eq!(answers[1], "at 30: active");
}

/// Rules 5 and 6. ... nor through several turns that nobody took ...
#[test]
fn turns_follow_each_other_also_unswept() {
    let answers = told_twice(Rules::default(), |story| {
        story.until(0).register(wish("a").ttl(10));
        let absent: Vec<_> = (0..4).map(|_| story.until(0).register(wish("a").ttl(20))).collect();
        let last = story.until(0).register(wish("a").ttl(20));
        story.poll(89, last);
        story.poll(90, last);
        story.poll(91, absent[2]);
        story.poll(111, absent[1]);
    });
    assert!(answers[0].contains("place 5"), "{answers:?}");
    assert_eq!(answers[1], "at 90: active");
}

/// Rules 5 and 6. ... not the lapse of a waiter behind one that cannot be served ...
#[test]
fn waiter_unseen_for_too_long_lapses_behind_a_blocked_one_also_unswept() {
    let rules = Rules { waiter_lapse: Span::from_secs(100), ..Rules::default() };
    let answers = told_twice(rules, |story| {
        story.until(0).register(wish("a").unlimited());
        let first = story.until(0).register(wish("a"));
        let unseen = story.until(0).register(wish("a"));
        let last = story.until(0).register(wish("a"));
        story.poll(60, first);
        story.poll(60, last);
        story.poll(120, first);
        story.poll(120, last);
        story.poll(120, unseen);
    });
    assert!(answers[3].contains("place 2"), "{answers:?}");
    assert!(answers[4].contains("expired"), "{answers:?}");
}

/// Rules 5 and 7. ... not what is due on a resource that the asker never named.
#[test]
fn what_is_due_far_away_is_felt_through_other_waiters_also_unswept() {
    let answers = told_twice(Rules::default(), |story| {
        let world = story.until(0);
        let far = world.register(wish("c").ttl(10));
        world.register(wish("b c").shared());
        world.register(wish("a b").shared());
        let asker = world.register(wish("a").shared());
        story.poll(9, asker);
        story.poll(10, asker);
        story.renew(11, far);
    });
    assert!(answers[0].contains("place 2"), "{answers:?}");
    assert_eq!(answers[1], "at 10: active");
}

/// Rules 5 and 6. A called waiter that lapses makes way at that moment.
#[test]
fn waiter_that_lapses_during_its_turn_makes_way_also_unswept() {
    let rules = Rules { waiter_lapse: Span::from_secs(50), ..Rules::default() };
    let answers = told_twice(rules, |story| {
        let world = story.until(0);
        world.register(wish("b").ttl(10));
        world.register(wish("b c").ttl(100));
        let second = world.register(wish("a c").ttl(10));
        let third = world.register(wish("a").ttl(10));
        story.poll(45, second);
        story.poll(45, third);
        story.poll(50, third);
        story.poll(60, second);
    });
    assert!(answers[1].contains("place 2"), "{answers:?}");
}

/// Rule 5. Asking twice at one moment is asking once: the first question settles everything.
#[test]
fn second_question_at_a_moment_finds_nothing_left_to_do() {
    let mut world = World::new();
    for _ in 0..3 {
        world.register(wish("a").ttl(10));
        world.register(wish("a b").ttl(10));
        world.register(wish("b").ttl(10));
    }
    for at in [5, 11, 40, 80, 200, 7300] {
        world.at(at).register(wish("c"));
        world.sweep();
        assert!(world.events().is_empty(), "at {at}: {:?}", world.events());
    }
}
