//! What `build.rs` changes in its copy of the product.

/// A change to one file of the product. `before` must be there exactly once.
pub(crate) struct Edit {
    pub(crate) file: &'static str,
    pub(crate) before: &'static str,
    pub(crate) after: &'static str,
}

/// Bounds so small that few steps reach them, and a way to stop a desk that is still asked.
pub(crate) const BENT: &[Edit] = &[
    Edit {
        file: "registry/src/desk/recent.rs",
        before: "const RECENT_MAX: usize = 16 * 1024;",
        after: "const RECENT_MAX: usize = 4;",
    },
    Edit {
        file: "cli/src/keychain/outbox.rs",
        before: "const ANSWERS_MAX: usize = 1_024;",
        after: "const ANSWERS_MAX: usize = 2;",
    },
    Edit {
        file: "cli/src/keychain/outbox.rs",
        before: "const BYTES_AT_ONCE: usize = 16 << 10;",
        after: "const BYTES_AT_ONCE: usize = 1;",
    },
    Edit {
        file: "registry/src/desk/mod.rs",
        before: "fn closed() -> StoreError {",
        after: "impl<B: Books> Desk<B> {
            pub(crate) fn close_early(&self) {
                let _ = put(&self.inbox, Request::Close);
            }
        }
        fn closed() -> StoreError {",
    },
];

/// Bugs, asleep unless `crate::planted::with` wakes one.
pub(crate) const PLANTED: &[Edit] = &[
    // Between the look at the pile and the nap, somebody can come and find nobody asleep.
    Edit {
        file: "registry/src/desk/inbox.rs",
        before: "pile.asleep = true;",
        after: "if crate::planted::is(\"nap without a look\") {
            drop(pile);
            pile = self.pile();
        }
        pile.asleep = true;",
    },
    Edit {
        file: "registry/src/desk/inbox.rs",
        before: "pile.closed = true;",
        after: "pile.closed = !crate::planted::is(\"closed and still open\");",
    },
    Edit {
        file: "registry/src/desk/writer.rs",
        before: "self.commit()?;\n        if let Some(chore)",
        after: "if self.closing && crate::planted::is(\"stops before it answers\") {
            return Ok(());
        }
        self.commit()?;\n        if let Some(chore)",
    },
    Edit {
        file: "registry/src/desk/writer.rs",
        before: "match self.taken.iter().position(done)",
        after: "let first = crate::planted::is(\"waits for a chore that is not first\");
            match self.taken.iter().position(done).filter(|&at| at == 0 || !first)",
    },
    Edit {
        file: "registry/src/desk/writer.rs",
        before: "self.leave(wait.owner);\n            let answer",
        after: "if !crate::planted::is(\"patience ends and it stays\") {
                self.leave(wait.owner);
            }
            let answer",
    },
    Edit {
        file: "registry/src/desk/waits.rs",
        before: "self.by_ticket.remove(&wait.ticket);",
        after: "if !crate::planted::is(\"an old ticket opens a new wait\") {
            self.by_ticket.remove(&wait.ticket);
        }",
    },
    Edit {
        file: "registry/src/desk/mod.rs",
        before: "if let Some(ticket) = self.ticket {",
        after: "if let Some(ticket) = self.ticket.filter(|_| !crate::planted::is(\"nobody misses it\")) {",
    },
    Edit {
        file: "registry/src/desk/recent.rs",
        before: "skipped: from.saturating_sub(position)",
        after: "skipped: match crate::planted::is(\"skips in silence\") {
            true => 0,
            false => from.saturating_sub(position),
        }",
    },
    Edit {
        file: "registry/src/desk/writer.rs",
        before: "if by == By::Hand && self.books.waits_for_chore() {",
        after: "if by == By::Hand
                && self.books.waits_for_chore()
                && !crate::planted::is(\"a hand waits for a chore\")
            {",
    },
    // A hand put something in, and woke nobody.
    Edit {
        file: "registry/src/desk/inbox.rs",
        before: "let news = urgent || pile.requests.is_empty();",
        after: "let woken = pile.urgent && crate::planted::is(\"takes it that somebody woke it\");
        let news = (urgent && !woken) || pile.requests.is_empty();",
    },
    // One who lends a hand comes while another is at it, and both go.
    Edit {
        file: "registry/src/desk/hands.rs",
        before: "self.inbox.look_within(rest);",
        after: "if !crate::planted::is(\"leaves without a look\") {
            self.inbox.look_within(rest);
        }",
    },
    // The desk's own thread has made its round, and not gone to sleep yet.
    Edit {
        file: "registry/src/desk/inbox.rs",
        before: "if sooner {",
        after: "if sooner && (pile.asleep || !crate::planted::is(\"reminds only who sleeps\")) {",
    },
    Edit {
        file: "registry/src/desk/inbox.rs",
        before: "self.look_within(Duration::ZERO);",
        after: "if !crate::planted::is(\"goes and says nothing\") {
            self.look_within(Duration::ZERO);
        }",
    },
    // Who is woken between the poll and the note of whom to wake is not woken.
    Edit {
        file: "server/src/bell.rs",
        before: "*rope.sleeper.lock().expect(\"waking does not panic\") = Some(cx.waker().clone());",
        after: "if crate::planted::is(\"polls before it listens\") {
                let polled = future.as_mut().poll(&mut Context::from_waker(&waker));
                *rope.sleeper.lock().expect(\"waking does not panic\") = Some(cx.waker().clone());
                return polled;
            }
            *rope.sleeper.lock().expect(\"waking does not panic\") = Some(cx.waker().clone());",
    },
    Edit {
        file: "server/src/bell.rs",
        before: "list.to_wake.into_iter().for_each(Waker::wake);",
        after: "if !crate::planted::is(\"deaf and silent\") {
            list.to_wake.into_iter().for_each(Waker::wake);
        }",
    },
    Edit {
        file: "server/src/crowd.rs",
        before: "counts.all += 1;",
        after: "if crate::planted::is(\"counts after a pause\") {
            drop(counts);
            counts = self.counts();
        }
        counts.all += 1;",
    },
    Edit {
        file: "server/src/crowd.rs",
        before: "counts.all -= 1;",
        after: "if !crate::planted::is(\"a seat is kept\") {
            counts.all -= 1;
        }",
    },
    Edit {
        file: "registry/src/sql/waits.rs",
        before: "if let Some((_, notify)) = self.open().get(&claim) {",
        after: "let deaf = crate::planted::is(\"calls and nobody hears\");
        if let Some((_, notify)) = self.open().get(&claim).filter(|_| !deaf) {",
    },
    // The product had this one.
    Edit {
        file: "registry/src/sql/waits.rs",
        before: "let mut waits = self.waits.open();\n        if is_newest",
        after: "let mut waits = self.waits.open();
        if crate::planted::is(\"leaves in two steps\") {
            let newest = is_newest(&waits, self);
            drop(waits);
            waits = self.waits.open();
            if newest {
                waits.remove(&self.claim);
            }
            return;
        }
        if is_newest",
    },
    Edit {
        file: "client/src/driver/view.rs",
        before: "if let Some(fence) = lease.and_then(|lease| lease.fence) {",
        after: "if crate::planted::is(\"believes before it knows\") {
            let deadline = lease.map_or(0, |lease| lease.deadline.as_micros());
            self.deadline.store(deadline, Ordering::Release);
        }
        if let Some(fence) = lease.and_then(|lease| lease.fence) {",
    },
    Edit {
        file: "cli/src/keychain/outbox.rs",
        before: "queue.writing = true;",
        after: "queue.writing = !crate::planted::is(\"finished before it is written\");",
    },
    Edit {
        file: "cli/src/keychain/outbox.rs",
        before: "shared.room.notify_one();",
        after: "if !crate::planted::is(\"room that nobody hears of\") {
            shared.room.notify_one();
        }",
    },
];
