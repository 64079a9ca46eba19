//! What SQLite would do inside somebody's commit, done elsewhere: merging the index's segments, and checkpoints, which
//! copy the log into the database. A thread of its own does it in short steps when nothing was written for a moment, and
//! now and then also when writes never pause, so that neither segments nor the log pile up. pi's exit does not wait for it.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex, Weak};
use std::time::{Duration, Instant};

use rusqlite::Connection;
use rusqlite::hooks::Wal;

use super::{Opening, Store, UPKEEP, Writing, index, lock};
use crate::error::{Kind, Result};

/// Nothing written for this long is a pause.
const PAUSE: Duration = Duration::from_millis(4);
/// Without a pause for this long, upkeep works between the writes.
const PATIENCE: Duration = Duration::from_millis(250);
/// Segments (each commit adds one) that captures without a pause may pile up. A merge step trims every segment it reads
/// from, which writes a page of each: only few segments make a step of a millisecond or two.
const SEGMENTS: u32 = 16;
/// Pages that a merge step writes.
const STEP: i32 = 8;
/// The same two during an import, where several steps share a transaction: small steps write little but those pages.
const IMPORTED_SEGMENTS: u32 = 96;
const IMPORTED_STEP: i32 = 16;
/// Pages of the log that are copied into the database together: copying many more would keep merges waiting.
const COPY: u32 = 1024;
/// Pages at which the log is begun anew.
const BEGIN_ANEW: u32 = 4096;
/// Bytes to which a log that grew longer is cut when it is begun anew: a page of 4,096 stands in it with 24 of a header.
const LONGEST: u32 = 2 * BEGIN_ANEW * (4096 + 24);
/// Pages that are few enough to copy while writers wait.
const FEW: u32 = 64;
/// How often the log is copied, at most, to come down to those few.
const ROUNDS: u32 = 4;

/// Free pages given back in one step.
const GIVEN_BACK: u32 = 64;

/// The connection for checkpoints. One that would have to wait for somebody is left to the next time: captures would
/// wait behind it.
const COPIER: Opening = Opening { wait: Duration::ZERO, ..UPKEEP };

/// A step that the disk or another process refused is tried again after this long, then after twice as long, and so on.
const RETRY: Duration = Duration::from_millis(250);
/// The longest of those pauses.
const LATEST_RETRY: Duration = Duration::from_secs(8);

/// What the thread is told, and what tells it.
#[derive(Default)]
pub(super) struct Upkeep {
    written: Mutex<Written>,
    /// Something was written after a rest, or the store closes.
    changed: Condvar,
    /// The thread was started.
    running: AtomicBool,
    /// Imports under way: they write without a pause, and tidy up themselves in the end.
    imports: AtomicU32,
    /// Pages in the log after the latest commit.
    log: Arc<AtomicU32>,
    /// How many of them were copied into the database.
    copied: AtomicU32,
}

/// The writes that upkeep has not seen to.
#[derive(Clone, Copy, Default)]
struct Written {
    /// When the first of them was; `None` when there are none.
    first: Option<Instant>,
    /// When the latest write was, seen to or not.
    latest: Option<Instant>,
    count: u32,
}

impl Upkeep {
    /// Notes a write; the first one starts the thread.
    pub(super) fn note(&self, store: &Weak<Store>) {
        let now = Instant::now();
        let begins = {
            let mut written = lock(&self.written);
            written.latest = Some(now);
            written.count = written.count.saturating_add(1);
            let begins = written.first.is_none();
            written.first = written.first.or(Some(now));
            begins
        };
        if begins {
            self.changed.notify_one();
        }
        if !self.running.swap(true, Ordering::Relaxed) {
            let store = store.clone();
            let thread = std::thread::Builder::new().name("memory-upkeep".to_owned());
            // Without a thread the next write tries again; until then the log and the segments grow.
            if thread.spawn(move || run(&store)).is_err() {
                self.running.store(false, Ordering::Relaxed);
            }
        }
    }

    /// Watches how long the log grows by this connection's commits.
    pub(super) fn watch(&self, connection: &mut Connection) -> Result<()> {
        let log = Arc::clone(&self.log);
        connection.wal_hook(Some(move |_: &mut Wal, pages: i32| {
            log.store(pages.unsigned_abs(), Ordering::Relaxed);
            Ok(())
        }))?;
        Ok(())
    }

    /// Wakes the thread, to see that the store closes.
    pub(super) fn wake(&self) {
        self.changed.notify_all();
    }

    fn is_importing(&self) -> bool {
        self.imports.load(Ordering::Relaxed) > 0
    }

    /// Waits for a pause after a write, for many writes or for patience to end; nothing when there was no write.
    fn wait(&self) -> Option<Occasion> {
        let written = lock(&self.written);
        let (Some(first), Some(latest)) = (written.first, written.latest) else {
            drop(self.changed.wait_timeout(written, Duration::from_secs(1)));
            return None;
        };
        let now = Instant::now();
        let (rested, waited) = (now.duration_since(latest), now.duration_since(first));
        let captures = !self.is_importing();
        if captures && rested >= PAUSE {
            return Some(Occasion::Pause);
        }
        if waited >= PATIENCE || captures && written.count >= SEGMENTS {
            return Some(Occasion::Between);
        }
        drop(self.changed.wait_timeout(written, PAUSE));
        None
    }

    /// Waits for a while, or for the store to close.
    fn rest(&self, time: Duration) {
        drop(self.changed.wait_timeout(lock(&self.written), time));
    }

    /// Forgets the writes seen to, unless others came meanwhile.
    fn done(&self, since: Instant) {
        let mut written = lock(&self.written);
        written.first = written.latest.filter(|latest| *latest > since);
        written.count = 0;
    }
}

/// An import under way.
pub(crate) struct Importing<'a>(&'a Store);

impl Drop for Importing<'_> {
    fn drop(&mut self) {
        self.0.upkeep.imports.fetch_sub(1, Ordering::Relaxed);
    }
}

/// When upkeep works.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Occasion {
    /// Nothing was written for a moment.
    Pause,
    /// Between writes that do not pause.
    Between,
}

/// The thread: it works as long as the store is used, and ends with it. A panic in here must not become pi's.
fn run(store: &Weak<Store>) {
    let mut retry = RETRY;
    loop {
        let Some(store) = store.upgrade() else { return };
        if store.is_closing() {
            return;
        }
        let Some(occasion) = store.upkeep.wait() else { continue };
        let since = Instant::now();
        let worked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| store.keep_up(occasion)));
        match worked {
            Ok(Ok(more)) => {
                retry = RETRY;
                if !more {
                    store.upkeep.done(since);
                }
            }
            // The cause may go away, and what waits (a capture that found the store locked, half an index) must not wait
            // for the next write. Where the file itself is gone, there is nothing to keep up until somebody writes.
            Ok(Err(error)) if matches!(error.kind(), Kind::Busy | Kind::Io) && store.path.exists() => {
                store.upkeep.rest(retry);
                retry = LATEST_RETRY.min(2 * retry);
            }
            // The next write meets the same error, and tells it.
            _ => store.upkeep.done(since),
        }
    }
}

impl Store {
    /// One step; true when there is more to do.
    fn keep_up(&self, occasion: Occasion) -> Result<bool> {
        self.capture_late()?;
        let importing = self.upkeep.is_importing();
        let few = if importing { IMPORTED_SEGMENTS } else { SEGMENTS };
        let more = self.on_back(UPKEEP, |connection| {
            if self.rebuild_step(connection)? {
                return Ok(true);
            }
            if occasion == Occasion::Between && index::segments(connection)? <= few {
                return Ok(false);
            }
            self.merge(connection)
        })?;
        let log = self.upkeep.log.load(Ordering::Relaxed);
        let copied = self.upkeep.copied.load(Ordering::Relaxed);
        // A log shorter than what was copied of it was begun anew since.
        let uncopied = if log < copied { log } else { log - copied };
        let waits = match occasion {
            Occasion::Pause => !more,
            Occasion::Between => !importing,
        };
        if log >= BEGIN_ANEW || uncopied >= COPY && waits {
            self.copy_log()?;
        }
        Ok(more)
    }

    /// Says that an import is under way.
    pub(crate) fn importing(&self) -> Importing<'_> {
        self.upkeep.imports.fetch_add(1, Ordering::Relaxed);
        Importing(self)
    }

    /// One step in a pause, and as many as fit into one transaction during an import; true while there is more to merge.
    fn merge(&self, connection: &mut Connection) -> Result<bool> {
        let importing = self.upkeep.is_importing();
        let slot = self.turn.back();
        let transaction = Writing::begin(connection)?;
        let mut more = index::merge_step(connection, if importing { IMPORTED_STEP } else { STEP })?;
        while more && importing && !slot.is_over() {
            more = index::merge_step(connection, IMPORTED_STEP)?;
        }
        transaction.commit()?;
        Ok(more)
    }

    /// Runs work on the connection that copies the log: one of its own, so that no reader or writer waits for it, and one
    /// for all, because of two that copy at once neither begins the log anew.
    fn copying<T>(&self, work: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        let mut guard = lock(&self.copier);
        let result = self.held(&mut guard, COPIER).and_then(|held| {
            held.connection.pragma_update(None, "journal_size_limit", LONGEST)?;
            work(&held.connection)
        });
        if self.is_closing() || result.is_err() {
            guard.take();
        }
        result
    }

    /// Keeps the log short during background work of many transactions, for which upkeep has to wait.
    pub(super) fn shorten_log(&self) -> Result<()> {
        if self.upkeep.log.load(Ordering::Relaxed) < BEGIN_ANEW {
            return Ok(());
        }
        unless_busy(self.copy_log()).map(drop)
    }

    /// Copies the log while others write, and begins it anew when it grew long.
    fn copy_log(&self) -> Result<()> {
        self.copying(|connection| self.copy_log_by(connection))
    }

    fn copy_log_by(&self, connection: &Connection) -> Result<()> {
        let mut pages = self.upkeep.log.load(Ordering::Relaxed);
        let anew = pages >= BEGIN_ANEW;
        let mut whole = false;
        for _ in 0..ROUNDS {
            whole = checkpoint(connection, "passive")?;
            self.upkeep.copied.store(pages, Ordering::Relaxed);
            let copied = std::mem::replace(&mut pages, self.upkeep.log.load(Ordering::Relaxed));
            if !anew || pages.saturating_sub(copied) < FEW {
                break;
            }
        }
        if anew || whole {
            let _slot = self.turn.back();
            // Writers wait for the little that came since to be copied. They need not wait for the file to be cut: it is
            // written over from its start.
            if !anew || checkpoint(connection, "restart")? {
                begin_log(connection)?;
            }
        }
        Ok(())
    }

    /// Gives free pages back to the file system while they are more than a two-hundredth of all; true while that is so.
    fn give_back(&self, connection: &mut Connection) -> Result<bool> {
        let count = |what: &str| -> rusqlite::Result<i64> {
            connection.query_row(&format!("pragma {what}"), [], |row| row.get(0))
        };
        let free = count("freelist_count")?;
        if free * 200 <= count("page_count")? {
            return Ok(false);
        }
        let slot = self.turn.back();
        let mut step = connection.prepare(&format!("pragma incremental_vacuum({GIVEN_BACK})"))?;
        let mut rows = step.query([])?;
        while rows.next()?.is_some() {}
        drop(slot);
        // A store that was not made for it keeps its free pages for what comes.
        Ok(count("freelist_count")? < free)
    }

    /// Leaves as few segments as there can be after an import, and then nothing to do.
    pub(crate) fn tidy_up(&self) -> Result<()> {
        self.set_usermerge(index::LEAST_USERMERGE)?;
        self.repeat(Store::merge)?;
        self.set_usermerge(index::USERMERGE)?;
        self.tidy()
    }

    fn set_usermerge(&self, segments: i64) -> Result<()> {
        if self.is_closing() {
            return Ok(());
        }
        self.in_background(|connection| {
            self.slot(connection, |connection, _| index::set_usermerge(connection, segments))
        })
    }

    /// Takes a step in the background until there is no more to do, or the store closes.
    fn repeat(&self, step: impl Fn(&Store, &mut Connection) -> Result<bool>) -> Result<()> {
        while !self.is_closing() && self.in_background(|connection| step(self, connection))? {
            self.shorten_log()?;
        }
        Ok(())
    }

    /// Leaves nothing to do: every merge done, the log empty. What was forgotten is gone from both then. A reader that
    /// holds on to the log is waited for, but never with the writers' turn in hand.
    pub(crate) fn tidy(&self) -> Result<()> {
        self.repeat(Store::merge)?;
        self.repeat(Store::give_back)?;
        let since = Instant::now();
        loop {
            let done = self.copying(|connection| {
                checkpoint(connection, "passive")?;
                let _slot = self.turn.back();
                checkpoint(connection, "truncate")
            })?;
            if done || since.elapsed() >= super::WAIT {
                return Ok(());
            }
            std::thread::sleep(PAUSE);
        }
    }
}

/// Copies the log; false when a reader or another process in the way leaves some of it for the next time.
fn checkpoint(connection: &Connection, kind: &str) -> Result<bool> {
    let outcome = connection.query_row(&format!("pragma wal_checkpoint({kind})"), [], |row| {
        Ok(row.get::<_, i64>(0)? == 0 && row.get::<_, i64>(1)? == row.get::<_, i64>(2)?)
    });
    unless_busy(outcome.map_err(Into::into)).map(|done| done.unwrap_or(false))
}

/// A log that was copied whole begins anew with the next write, and that write waits for the disk. It is to be this one,
/// which changes nothing, and not somebody's capture.
fn begin_log(connection: &Connection) -> Result<()> {
    unless_busy(Writing::begin(connection).and_then(|transaction| {
        let id: i64 = connection.pragma_query_value(None, "application_id", |row| row.get(0))?;
        connection.pragma_update(None, "application_id", id)?;
        transaction.commit()
    }))
    .map(drop)
}

/// Nothing when somebody else is at work: there is a next time.
fn unless_busy<T>(result: Result<T>) -> Result<Option<T>> {
    match result {
        Err(error) if error.kind() == Kind::Busy => Ok(None),
        other => other.map(Some),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Role;
    use crate::store::rebuild;
    use crate::store::testing::{Place, bare, eventually, log_size, user, watch_log};

    #[test]
    fn half_an_index_goes_on_by_itself_when_what_refused_a_step_is_gone() {
        let place = Place::new();
        place.capture("s", &bare(1, "zebra"));
        assert!(eventually(|| lock(&place.store.upkeep.written).first.is_none()));
        let (path, aside) = (place.store.path().to_owned(), place.path("aside.db"));
        let upkeep_waits = lock(&place.store.back);
        place.store.writing(rebuild::begin).unwrap();
        std::fs::rename(&path, &aside).unwrap();
        std::fs::create_dir(&path).unwrap();
        drop(upkeep_waits);
        std::thread::sleep(2 * RETRY);
        std::fs::remove_dir(&path).unwrap();
        std::fs::rename(&aside, &path).unwrap();
        assert!(eventually(|| place.finds("zebra") == 1));
    }

    #[test]
    fn the_log_stays_short_however_much_is_merged() {
        let place = Place::new();
        let upkeep_waits = lock(&place.store.back);
        for id in 1..100 {
            let terms: String = (0..4000).map(|n| format!("w{} ", (id * 4000 + n) * 7919 % 1_000_003)).collect();
            let doc =
                index::Doc { text: "", terms: Some(&terms), role: Role::User, ts: 0, sessions: &[], projects: &[] };
            place.store.writing(|connection| index::add(connection, id, &doc)).unwrap();
        }
        drop(upkeep_waits);
        let before = log_size(&place);
        let longest = watch_log(&place, || place.store.tidy_up().unwrap());
        assert!(longest < before + (40 << 20), "{longest} bytes after {before}");
    }

    #[test]
    fn an_import_leaves_one_segment_of_a_level_at_most() {
        let place = Place::new();
        for n in 0..3 {
            let name = format!("s{n}");
            place.import(&place.file(&format!("{name}.jsonl"), &name, &[user("e", None, n, &name)]));
        }
        let segments = place.store.reading(index::segments).unwrap();
        // Two imports' in one, and the last one's.
        assert!(segments <= 2, "{segments} segments");
    }

    #[test]
    fn a_folder_that_is_removed_is_not_made_anew() {
        let place = Place::new();
        place.capture("s", &bare(1, "one"));
        let folder = place.store.path().parent().unwrap().to_owned();
        place.store.close_connections();
        std::fs::remove_dir_all(&folder).unwrap();
        place.store.upkeep.note(&place.store.me);
        assert!(eventually(|| lock(&place.store.upkeep.written).first.is_none()));
        assert!(!folder.exists());
    }
}
