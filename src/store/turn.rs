//! Whose turn it is to write within this process: captures go first, background work gives way.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

#[derive(Default)]
pub(super) struct Turn {
    waiting: AtomicUsize,
    writer: Mutex<()>,
}

/// A background transaction's share of the write lock.
pub(super) struct Slot<'a> {
    turn: &'a Turn,
    since: Instant,
    _writer: MutexGuard<'a, ()>,
}

impl Turn {
    /// Takes the turn before any background work.
    pub(super) fn first(&self) -> MutexGuard<'_, ()> {
        self.waiting.fetch_add(1, Ordering::SeqCst);
        let guard = super::lock(&self.writer);
        self.waiting.fetch_sub(1, Ordering::SeqCst);
        guard
    }

    /// Takes the turn when nobody of the event loop wants it.
    pub(super) fn after(&self) -> Slot<'_> {
        while self.waiting.load(Ordering::SeqCst) > 0 {
            std::thread::sleep(Duration::from_micros(50));
        }
        let writer = super::lock(&self.writer);
        Slot { turn: self, since: Instant::now(), _writer: writer }
    }
}

impl Slot<'_> {
    /// True when the transaction is to be committed now: its time is up or a capture waits.
    pub(super) fn is_over(&self) -> bool {
        self.turn.waiting.load(Ordering::SeqCst) > 0 || self.since.elapsed() >= super::HOLD
    }
}
