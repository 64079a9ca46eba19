//! The SQLite database and everything that opens, writes and reads it.
//!
//! A [`Store`] holds three connections: one for the event loop, whose calls are short, one for background work, which
//! takes the write lock for about 10 ms at a time ([`HOLD`]) and gives way to the first, and one that copies the log into
//! the database. `begin immediate` opens every write, and nothing but SQL happens inside one.

mod check;
mod file;
pub(crate) mod folders;
mod forget;
pub mod index;
pub(crate) mod lookup;
mod merge;
mod open;
mod query;
mod read;
mod rebuild;
mod salvage;
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
mod vocabulary;
mod write;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::time::Duration;

use rusqlite::Connection;

use crate::error::{Error, Kind, Result};
use crate::message::{Entry, Rules};

pub use check::Health;
pub use file::{Counts, Cursor, FileState, Mark, Outcome, Placed, Share};
pub use forget::{Conditions, Forgotten};
pub use merge::{Merged, is_store};
pub use query::{Answer, Exclusion, Hit, Query};
pub use read::{Message, Span, Window};
pub use session::{Project, Session, SessionSummary};
pub use stats::{ProjectCount, Stats, Week};
pub use write::Captured;
pub(crate) use write::digits;

/// How long background work adds to a transaction; its commit takes about as long again, so that it holds the write
/// lock for about 10 ms at a time.
pub const HOLD: Duration = Duration::from_millis(5);
/// How long a capture waits for the write lock.
const CAPTURE_WAIT: Duration = Duration::from_millis(100);
/// How long everything else waits for it.
const WAIT: Duration = Duration::from_secs(5);

/// How one of the store's connections is opened.
#[derive(Clone, Copy)]
struct Opening {
    /// How long it waits for the write lock.
    wait: Duration,
    /// Makes the file when it is not there.
    creates: bool,
}

/// The event loop's connection.
const FRONT: Opening = Opening { wait: CAPTURE_WAIT, creates: true };
/// The background's.
const BACK: Opening = Opening { wait: WAIT, creates: true };
/// The background's, for upkeep: nobody asked for it, so it makes no file anew where one was deleted.
const UPKEEP: Opening = Opening { wait: WAIT, creates: false };

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
    /// The event loop's connection and the background's, opened when they are first used.
    front: Mutex<Option<Held>>,
    back: Mutex<Option<Held>>,
    /// The connection that copies the log into the database; see [`upkeep`].
    copier: Mutex<Option<Held>>,
    /// The file the background's connection was opened on: its transactions look whether that is still the store.
    back_file: Mutex<Option<FileId>>,
    /// See [`Store::notice`].
    notice: Mutex<Option<String>>,
    turn: turn::Turn,
    upkeep: upkeep::Upkeep,
    /// This store, for the thread that upkeep starts: it must not keep a store alive that nobody uses any more.
    me: Weak<Store>,
    closing: AtomicBool,
    frequencies: Mutex<crate::search::Frequencies>,
    calls: Mutex<write::Calls>,
    /// Captures that found the store locked, with the sessions they belong to.
    late: Mutex<Vec<(String, Entry)>>,
    excluded: folders::Excluded,
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
            Some(path) => open::absolute(&path)?,
            None => open::default_path()?,
        };
        let excluded = folders::Excluded::new(&options.exclude_folders)?;
        let upkeep = upkeep::Upkeep::default();
        let (front, notice) = match Held::open(&path, FRONT, &upkeep) {
            // Damage met right at the door: what can be saved is saved before anything else.
            Err(error) if error.kind() == Kind::Corrupt && path.is_file() => {
                let notice = salvage::salvage(&path)?;
                (Held::open(&path, FRONT, &upkeep)?, Some(notice))
            }
            other => {
                let front = other?;
                let notice = open::lacks_log(&front.connection)?.then(|| {
                    format!(
                        "{}: this file system cannot hold a write-ahead log; memory works, but several pi processes \
                         may wait for each other",
                        path.display()
                    )
                });
                (front, notice)
            }
        };
        let unfinished = rebuild::unindexed(&front.connection)? > 0;
        let store = Arc::new_cyclic(|me| Store {
            path,
            front: Mutex::new(Some(front)),
            back: Mutex::new(None),
            copier: Mutex::new(None),
            back_file: Mutex::new(None),
            notice: Mutex::new(notice),
            turn: turn::Turn::default(),
            upkeep,
            me: me.clone(),
            closing: AtomicBool::new(false),
            frequencies: Mutex::default(),
            calls: Mutex::default(),
            late: Mutex::default(),
            excluded,
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

    /// Closes the connections; background work ends at its next step. Closing twice is closing once.
    pub fn close(&self) {
        self.closing.store(true, Ordering::Relaxed);
        self.upkeep.wake();
        lock(&self.front).take();
        // The background may be in the middle of a step; it closes its own connections when it sees the flag.
        for held in [&self.back, &self.copier] {
            if let Ok(mut held) = held.try_lock() {
                held.take();
            }
        }
    }

    /// True once [`Store::close`] was called.
    pub fn is_closing(&self) -> bool {
        self.closing.load(Ordering::Relaxed)
    }

    /// Something the person is to be told once: that the store was repaired, say.
    pub fn notice(&self) -> Option<String> {
        lock(&self.notice).take()
    }

    /// Runs a short read on the event loop's connection.
    fn reading<T>(&self, work: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        let mut guard = lock(&self.front);
        let result = self.held(&mut guard, FRONT).and_then(|held| work(&held.connection));
        drop(guard);
        self.anew_after_refusal(result)
    }

    /// Runs one short write transaction on the event loop's connection, ahead of background work.
    fn writing<T>(&self, work: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        let result = self.write_once(work);
        self.anew_after_refusal(result)
    }

    /// [`Store::writing`] without what follows a refusal.
    fn write_once<T>(&self, work: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        let mut guard = lock(&self.front);
        loop {
            let held = self.opened(&mut guard, FRONT)?;
            let Some(turn) = self.turn.front(CAPTURE_WAIT) else {
                return Err(Error::new(Kind::Busy, "the memory store waits for a slow disk; try again in a moment"));
            };
            let begun = Writing::begin(&held.connection);
            // A repair may have set this file aside, while we waited for the lock at the latest.
            if held.file != FileId::of(&self.path) {
                drop((begun, turn));
                *guard = None;
                continue;
            }
            let transaction = begun?;
            let value = work(&held.connection)?;
            transaction.commit()?;
            self.upkeep.note(&self.me);
            return Ok(value);
        }
    }

    /// Runs work that somebody asked for on the background's connection.
    fn in_background<T>(&self, work: impl FnOnce(&mut Connection) -> Result<T>) -> Result<T> {
        self.on_back(BACK, work)
    }

    /// Runs work on the background's connection, which is opened as `opening` says when it is not open.
    fn on_back<T>(&self, opening: Opening, work: impl FnOnce(&mut Connection) -> Result<T>) -> Result<T> {
        let mut guard = lock(&self.back);
        let result = self.held(&mut guard, opening).and_then(|held| {
            *lock(&self.back_file) = held.file;
            work(&mut held.connection)
        });
        if self.is_closing() {
            guard.take();
        }
        drop(guard);
        self.anew_after_refusal(result)
    }

    /// Where the disk refuses for a moment, SQLite may open a file for reading only, and all connections of the process
    /// keep to that until the last of them closes. So all are closed, and open again at their next use; one that is at
    /// work now is closed after its own refusal.
    fn anew_after_refusal<T>(&self, result: Result<T>) -> Result<T> {
        if result.as_ref().is_err_and(|error| error.kind() == Kind::Io) {
            for held in [&self.front, &self.back, &self.copier] {
                if let Ok(mut held) = held.try_lock() {
                    held.take();
                }
            }
        }
        result
    }

    /// The connection, opened anew when it is not open or its file is no longer the one at the store's path.
    fn held<'a>(&self, guard: &'a mut Option<Held>, opening: Opening) -> Result<&'a mut Held> {
        if guard.as_ref().is_some_and(|held| held.file != FileId::of(&self.path)) {
            *guard = None;
        }
        self.opened(guard, opening)
    }

    /// The connection, opened when it is not open.
    fn opened<'a>(&self, guard: &'a mut Option<Held>, opening: Opening) -> Result<&'a mut Held> {
        if self.is_closing() {
            return Err(closed());
        }
        if guard.is_none() {
            *guard = Some(Held::open(&self.path, opening, &self.upkeep)?);
        }
        guard.as_mut().ok_or_else(closed)
    }

    /// Closes the connections, waiting for who uses them; they open again at their next use.
    fn close_connections(&self) {
        for held in [&self.front, &self.back, &self.copier] {
            lock(held).take();
        }
    }

    /// One write transaction of the background. It begins when no capture waits; `work` is to look whether its
    /// [`turn::Slot`] is over, and to return then.
    fn slot<T>(
        &self,
        connection: &mut Connection,
        work: impl FnOnce(&Connection, &turn::Slot) -> Result<T>,
    ) -> Result<T> {
        let slot = self.turn.back();
        let transaction = Writing::begin(connection)?;
        if *lock(&self.back_file) != FileId::of(&self.path) {
            return Err(Error::new(Kind::Busy, "the memory store was replaced meanwhile; try again"));
        }
        let value = work(connection, &slot)?;
        transaction.commit()?;
        self.upkeep.note(&self.me);
        Ok(value)
    }
}

/// A write transaction, rolled back unless it is committed. Its statements are kept compiled: a capture is short.
struct Writing<'a>(&'a Connection);

impl<'a> Writing<'a> {
    fn begin(connection: &'a Connection) -> Result<Writing<'a>> {
        connection.prepare_cached("begin immediate")?.execute([])?;
        Ok(Writing(connection))
    }

    fn commit(self) -> Result<()> {
        self.0.prepare_cached("commit")?.execute([])?;
        Ok(())
    }
}

impl Drop for Writing<'_> {
    fn drop(&mut self) {
        if !self.0.is_autocommit() {
            // Should even this fail, SQLite rolls back when the connection is closed.
            let _ = self.0.execute_batch("rollback");
        }
    }
}

/// An open connection, and the file it was opened on.
struct Held {
    connection: Connection,
    file: Option<FileId>,
}

impl Held {
    fn open(path: &Path, opening: Opening, upkeep: &upkeep::Upkeep) -> Result<Held> {
        let _door = salvage::Door::enter(path, opening.wait)?;
        let mut connection = open::open(path, opening)?;
        upkeep.watch(&mut connection)?;
        Ok(Held { connection, file: FileId::of(path) })
    }
}

/// Which file a path leads to. A store that was repaired or deleted by someone else is another file: nothing may be
/// written into the one that was set aside.
#[derive(Clone, Copy, PartialEq, Eq)]
struct FileId(u64, u64);

impl FileId {
    #[cfg(unix)]
    fn of(path: &Path) -> Option<FileId> {
        use std::os::unix::fs::MetadataExt;
        std::fs::metadata(path).ok().map(|meta| FileId(meta.dev(), meta.ino()))
    }

    /// Elsewhere an open database can be neither moved nor deleted.
    #[cfg(not(unix))]
    fn of(_path: &Path) -> Option<FileId> {
        None
    }
}

fn closed() -> Error {
    Error::new(Kind::Closed, "the memory store is closed; open a new MemoryStore")
}

/// Locks. A poisoned lock only says that some other call panicked: SQLite's own state is sound, so go on.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}
