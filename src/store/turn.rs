//! Whose turn it is to write within this process: the event loop goes first, background work gives way.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex};
use std::time::{Duration, Instant};

use super::lock;

/// SQLite's own lock knows no order; this one is taken before it.
#[derive(Default)]
pub(super) struct Turn {
    /// Threads of the event loop that wait; while there are any, nobody of the background takes the turn.
    front: AtomicUsize,
    /// All threads that wait.
    waiting: AtomicUsize,
    taken: Mutex<bool>,
    free: Condvar,
}

/// The turn, until it is dropped.
pub(super) struct Taken<'a>(&'a Turn);

/// A background transaction's share of the write lock.
pub(super) struct Slot<'a> {
    since: Instant,
    taken: Taken<'a>,
}

impl Turn {
    /// Takes the turn for the event loop, before any background work; `None` when that holds on to it for longer than
    /// `wait`, as on a slow disk.
    pub(super) fn front(&self, wait: Duration) -> Option<Taken<'_>> {
        self.front.fetch_add(1, Ordering::SeqCst);
        let taken = self.take(Some(wait));
        self.front.fetch_sub(1, Ordering::SeqCst);
        taken
    }

    /// Takes the turn for the background, when nobody of the event loop wants it.
    pub(super) fn back(&self) -> Slot<'_> {
        loop {
            while self.front.load(Ordering::SeqCst) > 0 {
                std::thread::sleep(Duration::from_micros(50));
            }
            if let Some(taken) = self.take(None) {
                return Slot { since: Instant::now(), taken };
            }
        }
    }

    fn take(&self, wait: Option<Duration>) -> Option<Taken<'_>> {
        self.waiting.fetch_add(1, Ordering::SeqCst);
        let since = Instant::now();
        let mut taken = lock(&self.taken);
        while *taken && wait.is_none_or(|wait| since.elapsed() < wait) {
            let left = wait.map_or(super::WAIT, |wait| wait.saturating_sub(since.elapsed()));
            taken = self.free.wait_timeout(taken, left).unwrap_or_else(|poisoned| poisoned.into_inner()).0;
        }
        let free = !*taken;
        *taken = true;
        drop(taken);
        self.waiting.fetch_sub(1, Ordering::SeqCst);
        free.then(|| Taken(self))
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        *lock(&self.0.taken) = false;
        // Waking nobody is a system call all the same.
        if self.0.waiting.load(Ordering::SeqCst) > 0 {
            self.0.free.notify_all();
        }
    }
}

impl Slot<'_> {
    /// True when the transaction is to be committed now: its time is up or the event loop waits.
    pub(super) fn is_over(&self) -> bool {
        self.taken.0.front.load(Ordering::SeqCst) > 0 || self.since.elapsed() >= super::HOLD
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_capture_goes_first_and_waits_only_so_long() {
        let turn = Turn::default();
        let slot = turn.back();
        assert!(turn.front(Duration::from_millis(1)).is_none());
        std::thread::scope(|scope| {
            let capture = scope.spawn(|| turn.front(super::super::WAIT).is_some());
            while !slot.is_over() {
                std::thread::yield_now();
            }
            drop(slot);
            assert!(capture.join().unwrap());
        });
        drop(turn.back());
    }
}
