//! The SQLite database and everything that opens, writes and reads it.
//!
//! A [`Store`] holds two connections: one for the event loop, whose calls are short, and one for background work, which
//! takes the write lock for at most [`HOLD`] at a time and gives way to the other. `begin immediate` opens every
//! write, and nothing but SQL happens inside one.

mod check;
mod file;
mod forget;
pub mod index;
mod merge;
mod open;
mod query;
mod read;
mod rebuild;
pub mod schema;
mod session;
mod silence;
mod stats;
#[cfg(test)]
pub(crate) mod testing;
pub mod time;
mod turn;
mod upgrade;
mod upkeep;
mod write;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::time::Duration;

use rusqlite::{Connection, TransactionBehavior};

use crate::error::{Error, Kind, Result};
use crate::message::Rules;

pub use check::Health;
pub use file::{Counts, Cursor, FileState, Mark, Placed, Progress};
pub use forget::{Conditions, Forgotten};
pub use merge::{Merged, is_store};
pub use query::{Answer, Exclusion, Hit, Query};
pub use read::{Message, Span, Window};
pub use session::{Project, Session, SessionSummary};
pub use stats::{ProjectCount, Stats, Week};
pub use write::Captured;

/// How long background work may hold the write lock at a time.
pub const HOLD: Duration = Duration::from_millis(10);
/// How long a capture waits for the write lock.
const CAPTURE_WAIT: Duration = Duration::from_millis(100);
/// How long everything else waits for it.
const WAIT: Duration = Duration::from_secs(5);

/// How a store is opened.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The database file; default `PI_MEMORY_DB`, else `~/.pi/memory/sessions.db`.
    pub path: Option<PathBuf>,
    /// Globs of folders (`~/private/**`) whose sessions are never kept.
    pub exclude_folders: Vec<String>,
    /// What of an entry is kept.
    pub rules: Rules,
}

/// The store: one SQLite database, safe to share between threads and processes.
pub struct Store {
    path: PathBuf,
    front: Mutex<Option<Connection>>,
    back: Mutex<Option<Connection>>,
    turn: turn::Turn,
    upkeep: upkeep::Upkeep,
    me: Weak<Store>,
    closing: AtomicBool,
    frequencies: Mutex<crate::search::Frequencies>,
    calls: Mutex<write::Calls>,
    private: session::Private,
    rules: Rules,
}

impl Store {
    /// Opens or creates the store.
    ///
    /// # Errors
    /// `NewerSchema` when a newer edition made it, `Io` when the folder or file refuses, `InvalidArgument` for a glob
    /// that is none.
    pub fn open(options: Options) -> Result<Arc<Store>> {
        let path = match options.path {
            Some(path) => std::path::absolute(path)?,
            None => open::default_path()?,
        };
        let private = session::Private::new(&options.exclude_folders)?;
        let upkeep = upkeep::Upkeep::default();
        let mut front = open::open(&path, CAPTURE_WAIT)?;
        upkeep.watch(&mut front)?;
        let unfinished = rebuild::unindexed(&front)? > 0;
        let store = Arc::new_cyclic(|me| Store {
            path,
            front: Mutex::new(Some(front)),
            back: Mutex::new(None),
            turn: turn::Turn::default(),
            upkeep,
            me: me.clone(),
            closing: AtomicBool::new(false),
            frequencies: Mutex::default(),
            calls: Mutex::new(write::Calls::default()),
            private,
            rules: options.rules,
        });
        if unfinished {
            store.upkeep.note(&store.me);
        }
        Ok(store)
    }

    /// Where the database is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What of an entry is kept.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// Closes both connections; background work ends at its next step. Closing twice is closing once.
    pub fn close(&self) {
        self.closing.store(true, Ordering::Relaxed);
        self.upkeep.wake();
        lock(&self.front).take();
        // The background may be in the middle of a step; it closes its own connection when it sees the flag.
        if let Ok(mut back) = self.back.try_lock() {
            back.take();
        }
    }

    /// True once [`Store::close`] was called.
    pub fn is_closing(&self) -> bool {
        self.closing.load(Ordering::Relaxed)
    }

    /// Runs a short read on the event loop's connection.
    fn reading<T>(&self, work: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        let guard = lock(&self.front);
        work(guard.as_ref().ok_or_else(closed)?)
    }

    /// Runs one short write transaction on the event loop's connection, ahead of background work.
    fn writing<T>(&self, work: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        let mut guard = lock(&self.front);
        let connection = guard.as_mut().ok_or_else(closed)?;
        let _turn = self.turn.first();
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let value = work(&transaction)?;
        transaction.commit()?;
        self.upkeep.note(&self.me);
        Ok(value)
    }

    /// Runs work on the background's connection, opening it at first use.
    fn in_background<T>(&self, work: impl FnOnce(&mut Connection) -> Result<T>) -> Result<T> {
        let mut guard = lock(&self.back);
        if self.is_closing() {
            return Err(closed());
        }
        if guard.is_none() {
            let mut connection = open::open(&self.path, WAIT)?;
            self.upkeep.watch(&mut connection)?;
            *guard = Some(connection);
        }
        let result = work(guard.as_mut().ok_or_else(closed)?);
        if self.is_closing() {
            guard.take();
        }
        result
    }

    /// One background write transaction: begins after waiting captures, and its work is to end by the [`turn::Slot`].
    fn slot<T>(
        &self,
        connection: &mut Connection,
        work: impl FnOnce(&Connection, &turn::Slot) -> Result<T>,
    ) -> Result<T> {
        let slot = self.turn.after();
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let value = work(&transaction, &slot)?;
        transaction.commit()?;
        self.upkeep.note(&self.me);
        Ok(value)
    }
}

fn closed() -> Error {
    Error::new(Kind::Closed, "the memory store is closed; open a new MemoryStore")
}

/// A poisoned lock only says that some other call panicked: SQLite's own state is sound, so go on.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}
