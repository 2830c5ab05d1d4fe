//! Which of the planted bugs is awake.

use std::cell::Cell;

thread_local! {
    static AWAKE: Cell<&'static str> = const { Cell::new("") };
}

/// Whether this bug is awake. Asked by the copy of the product.
pub(crate) fn is(bug: &str) -> bool {
    AWAKE.get() == bug
}

/// Wakes a bug for as long as `during` runs.
pub(crate) fn with<T>(bug: &'static str, during: impl FnOnce() -> T) -> T {
    AWAKE.set(bug);
    let done = during();
    AWAKE.set("");
    done
}
