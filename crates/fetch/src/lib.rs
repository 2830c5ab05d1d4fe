//! Asks the processor for memory before it is needed.
//!
//! **Problem.** A claim among a million is in memory that nobody has touched for long, and a processor that
//! reads it stands still after some two hundred further steps, however much else there is to do.
//!
//! **Idea.** There is an instruction that asks for a line of memory and does not wait until it has come (only
//! until its page is found, which is why many at a time are better read: `engine::foresee`). It cannot fail,
//! changes nothing and is not seen by the program, so it is safe for whatever a reference points to; but the
//! language has no safe word for it yet. This crate is that word, so that no other needs unsafe code.
#![no_std]

/// How much a processor fetches at a time.
const LINE: usize = 64;

/// Asks for all of `it`, and waits for nothing. No answer depends on it. On other processors than x86-64 it
/// does nothing: for them it would have to be measured first.
///
/// ```
/// let far = [7_u64; 16];
/// fetch::ahead(&far);
/// assert_eq!(far[3], 7);
/// ```
#[inline]
pub fn ahead<T>(it: &T) {
    let start = core::ptr::from_ref(it).cast::<u8>();
    for line in (0..size_of::<T>()).step_by(LINE) {
        line_ahead(start.wrapping_add(line));
    }
}

#[cfg(target_arch = "x86_64")]
#[inline]
#[allow(
    unsafe_code,
    reason = "a hint: it reads nothing that the program sees, and no address is wrong"
)]
fn line_ahead(line: *const u8) {
    use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    // SAFETY: every x86-64 has the instruction, and it does not fault, wherever it points.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(line.cast()) }
}

#[cfg(not(target_arch = "x86_64"))]
#[inline]
fn line_ahead(_: *const u8) {}
