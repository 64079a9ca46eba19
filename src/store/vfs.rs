//! SQLite writes each frame of its log in two pieces, a dozen frames for a message. Here those of one commit are
//! gathered and written at once: a sixth of a capture's time went into these system calls.
//!
//! Everything else goes straight to SQLite's own file access. What is gathered reaches the file before anything else
//! happens to it, at the latest with the frame that commits, whose write reports what failed. Without a commit it is of
//! nobody's use once the write lock is given back, and others write to the same place then: it is dropped.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;
use std::sync::OnceLock;

use rusqlite::ffi::{
    SQLITE_IOERR, SQLITE_OK, SQLITE_OPEN_MAIN_DB, SQLITE_OPEN_WAL, SQLITE_SHM_EXCLUSIVE, SQLITE_SHM_UNLOCK,
    sqlite3_database_file_object, sqlite3_file, sqlite3_int64, sqlite3_io_methods, sqlite3_vfs, sqlite3_vfs_find,
    sqlite3_vfs_register,
};

const NAME: &CStr = c"pi-memory-sessions";
/// A frame's header.
const HEADER: usize = 24;
/// Bytes gathered before they are written at the latest, and written at once: SQLite takes less than 128 KB.
const MOST: usize = 256 << 10;
const AT_ONCE: usize = 64 << 10;

/// The file access to open a database with: SQLite's own where this one cannot be had.
pub(super) fn name() -> Option<&'static CStr> {
    own().map(|_| NAME)
}

/// SQLite's own file access, after ours was registered beside it.
fn own() -> Option<*mut sqlite3_vfs> {
    static OWN: OnceLock<usize> = OnceLock::new();
    let address = *OWN.get_or_init(|| {
        // SAFETY: null asks for the default, which is never taken away; the copy of it lives as long as the process.
        unsafe {
            let own = sqlite3_vfs_find(ptr::null());
            let Some(found) = own.as_ref() else { return 0 };
            let ours = Box::leak(Box::new(sqlite3_vfs {
                szOsFile: rounded(found.szOsFile) + size_of::<Extra>() as c_int,
                pNext: ptr::null_mut(),
                zName: NAME.as_ptr(),
                xOpen: Some(open),
                ..*found
            }));
            if sqlite3_vfs_register(ours, 0) == SQLITE_OK { own as usize } else { 0 }
        }
    });
    (address != 0).then_some(address as *mut sqlite3_vfs)
}

fn rounded(size: c_int) -> c_int {
    (size + 15) & !15
}

/// What stands behind SQLite's own part of an open file.
struct Extra {
    /// The methods in use: SQLite's, some replaced by those below.
    methods: sqlite3_io_methods,
    inner: *const sqlite3_io_methods,
    /// Of a database, its log; of a log, its database.
    other: *mut sqlite3_file,
    /// What a log gathers.
    gathered: *mut Gathered,
}

/// Frames on their way into a log.
#[derive(Default)]
struct Gathered {
    start: sqlite3_int64,
    bytes: Vec<u8>,
    /// The last that came was a header: its page comes next.
    header: bool,
    /// The last frame commits.
    commits: bool,
}

impl Gathered {
    fn end(&self) -> sqlite3_int64 {
        self.start + self.bytes.len() as sqlite3_int64
    }

    /// Takes one piece of a frame; false when it is none, and to be written as ever.
    fn take(&mut self, bytes: &[u8], offset: sqlite3_int64) -> bool {
        if bytes.len() == HEADER {
            let commits = bytes.get(4..8) != Some(&[0; 4]);
            // A header alone that commits may be one whose checksum is put right: no page follows it.
            if self.bytes.is_empty() && commits || !self.bytes.is_empty() && offset != self.end() {
                return false;
            }
            if self.bytes.is_empty() {
                self.start = offset;
            }
            (self.header, self.commits) = (true, commits);
        } else if self.header && offset == self.end() {
            self.header = false;
        } else {
            return false;
        }
        self.bytes.extend_from_slice(bytes);
        true
    }

    /// To be written now.
    fn is_due(&self) -> bool {
        !self.header && (self.commits || self.bytes.len() >= MOST)
    }

    fn clear(&mut self) {
        self.bytes.clear();
        (self.header, self.commits) = (false, false);
    }
}

/// # Safety
/// `file` is null or was opened by [`open`].
unsafe fn extra<'a>(file: *mut sqlite3_file) -> Option<&'a mut Extra> {
    let own = own().filter(|_| !file.is_null())?;
    // SAFETY: SQLite gives each file the room that ours asks for, and `open` filled it.
    unsafe { file.byte_add(rounded((*own).szOsFile) as usize).cast::<Extra>().as_mut() }
}

unsafe extern "C" fn open(
    _: *mut sqlite3_vfs,
    name: *const c_char,
    file: *mut sqlite3_file,
    flags: c_int,
    out: *mut c_int,
) -> c_int {
    let Some(own) = own() else { return SQLITE_IOERR };
    // SAFETY: SQLite's own open, with what it would have been given; then its methods are copied, where it opened
    // the file. A log's name comes from SQLite, which finds its database by it.
    unsafe {
        let Some(inner) = (*own).xOpen else { return SQLITE_IOERR };
        let result = inner(own, name, file, flags, out);
        let is_log = flags & SQLITE_OPEN_WAL != 0;
        if result != SQLITE_OK || !is_log && flags & SQLITE_OPEN_MAIN_DB == 0 {
            return result;
        }
        let Some(methods) = (*file).pMethods.as_ref() else { return result };
        let place = file.byte_add(rounded((*own).szOsFile) as usize).cast::<Extra>();
        place.write(Extra { methods: *methods, inner: methods, other: ptr::null_mut(), gathered: ptr::null_mut() });
        let added = &mut *place;
        if is_log {
            let database = sqlite3_database_file_object(name);
            added.other = database;
            added.gathered = Box::into_raw(Box::default());
            added.methods.xClose = Some(close);
            added.methods.xRead = Some(read);
            added.methods.xWrite = Some(write);
            added.methods.xTruncate = Some(truncate);
            added.methods.xSync = Some(sync);
            added.methods.xFileSize = Some(file_size);
            if let Some(database) = extra(database) {
                database.other = file;
            }
        } else {
            added.methods.xShmLock = Some(shm_lock);
        }
        (*file).pMethods = &raw const added.methods;
        result
    }
}

/// Calls one of SQLite's own methods.
macro_rules! inner {
    ($extra:expr, $method:ident($($argument:expr),*)) => {
        // SAFETY: SQLite's own methods are static.
        match unsafe { $extra.inner.as_ref() }.and_then(|inner| inner.$method) {
            // SAFETY: the arguments are those SQLite gave.
            Some(method) => unsafe { method($($argument),*) },
            None => SQLITE_IOERR,
        }
    };
}

/// Writes what was gathered. What fails stays, unless it commits: a commit that failed must not come later.
fn flush(file: *mut sqlite3_file, extra: &Extra) -> c_int {
    // SAFETY: a log's, made by `open` and freed by `close`.
    let Some(gathered) = (unsafe { extra.gathered.as_mut() }) else { return SQLITE_OK };
    if gathered.bytes.is_empty() {
        return SQLITE_OK;
    }
    let mut offset = gathered.start;
    let mut result = SQLITE_OK;
    for bytes in gathered.bytes.chunks(AT_ONCE) {
        result = inner!(extra, xWrite(file, bytes.as_ptr().cast(), bytes.len() as c_int, offset));
        if result != SQLITE_OK {
            break;
        }
        offset += bytes.len() as sqlite3_int64;
    }
    if result == SQLITE_OK || gathered.commits {
        gathered.clear();
    }
    result
}

unsafe extern "C" fn write(
    file: *mut sqlite3_file,
    data: *const c_void,
    length: c_int,
    offset: sqlite3_int64,
) -> c_int {
    // SAFETY: a log's file and SQLite's data.
    let (extra, bytes) = unsafe {
        let Some(extra) = extra(file) else { return SQLITE_IOERR };
        (extra, std::slice::from_raw_parts(data.cast::<u8>(), length.max(0) as usize))
    };
    // SAFETY: made by `open` and freed by `close`.
    if let Some(gathered) = unsafe { extra.gathered.as_mut() }
        && gathered.take(bytes, offset)
    {
        return if gathered.is_due() { flush(file, extra) } else { SQLITE_OK };
    }
    match flush(file, extra) {
        SQLITE_OK => inner!(extra, xWrite(file, data, length, offset)),
        failed => failed,
    }
}

unsafe extern "C" fn read(file: *mut sqlite3_file, data: *mut c_void, length: c_int, offset: sqlite3_int64) -> c_int {
    // SAFETY: a log's file.
    let Some(extra) = (unsafe { extra(file) }) else { return SQLITE_IOERR };
    match flush(file, extra) {
        SQLITE_OK => inner!(extra, xRead(file, data, length, offset)),
        failed => failed,
    }
}

unsafe extern "C" fn truncate(file: *mut sqlite3_file, size: sqlite3_int64) -> c_int {
    // SAFETY: a log's file.
    let Some(extra) = (unsafe { extra(file) }) else { return SQLITE_IOERR };
    match flush(file, extra) {
        SQLITE_OK => inner!(extra, xTruncate(file, size)),
        failed => failed,
    }
}

unsafe extern "C" fn sync(file: *mut sqlite3_file, flags: c_int) -> c_int {
    // SAFETY: a log's file.
    let Some(extra) = (unsafe { extra(file) }) else { return SQLITE_IOERR };
    match flush(file, extra) {
        SQLITE_OK => inner!(extra, xSync(file, flags)),
        failed => failed,
    }
}

unsafe extern "C" fn file_size(file: *mut sqlite3_file, size: *mut sqlite3_int64) -> c_int {
    // SAFETY: a log's file.
    let Some(extra) = (unsafe { extra(file) }) else { return SQLITE_IOERR };
    match flush(file, extra) {
        SQLITE_OK => inner!(extra, xFileSize(file, size)),
        failed => failed,
    }
}

unsafe extern "C" fn close(file: *mut sqlite3_file) -> c_int {
    // SAFETY: a log's file; SQLite closes it before its database, and once.
    let Some(added) = (unsafe { extra(file) }) else { return SQLITE_IOERR };
    unsafe {
        if let Some(database) = extra(added.other) {
            database.other = ptr::null_mut();
        }
        drop(Box::from_raw(added.gathered));
    }
    added.gathered = ptr::null_mut();
    inner!(added, xClose(file))
}

/// A database's: giving back the write lock, the first of the log's, ends the transaction.
unsafe extern "C" fn shm_lock(file: *mut sqlite3_file, offset: c_int, count: c_int, flags: c_int) -> c_int {
    const ENDS: c_int = SQLITE_SHM_UNLOCK | SQLITE_SHM_EXCLUSIVE;
    // SAFETY: a database's file, and its log's while that is open.
    let Some(added) = (unsafe { extra(file) }) else { return SQLITE_IOERR };
    if offset == 0
        && flags & ENDS == ENDS
        && let Some(gathered) = unsafe { extra(added.other).and_then(|log| log.gathered.as_mut()) }
    {
        gathered.clear();
    }
    inner!(added, xShmLock(file, offset, count, flags))
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use crate::store::testing::Place;

    /// A connection whose changes spill into the log long before they are committed.
    fn cramped(path: &std::path::Path) -> Connection {
        let flags = rusqlite::OpenFlags::default();
        let connection = Connection::open_with_flags_and_vfs(path, flags, super::name().unwrap()).unwrap();
        connection
            .execute_batch(
                "pragma journal_mode = wal; pragma synchronous = normal; pragma wal_autocheckpoint = 0;
                 pragma cache_size = 10; pragma cache_spill = 10; create table if not exists t (n integer, filler)",
            )
            .unwrap();
        connection
    }

    fn fill(connection: &Connection, rounds: i64) {
        for n in 0..rounds {
            connection.execute("insert into t values (?1, randomblob(900))", [n]).unwrap();
            connection.execute("update t set filler = randomblob(901) where n = ?1 % 50", [n]).unwrap();
        }
    }

    fn sum(connection: &Connection) -> (i64, i64, String) {
        let sum = "select count(*), sum(length(filler)), (select * from pragma_integrity_check) from t";
        connection.query_row(sum, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap()
    }

    /// What another process finds after this one was killed: the files alone, without the shared memory.
    fn after_a_crash(place: &Place, path: &std::path::Path) -> (i64, i64, String) {
        let copy = place.path("copy.db");
        std::fs::copy(path, &copy).unwrap();
        std::fs::copy(path.with_extension("db-wal"), copy.with_extension("db-wal")).unwrap();
        let _ = std::fs::remove_file(copy.with_extension("db-shm"));
        sum(&Connection::open(copy).unwrap())
    }

    #[test]
    fn what_spilled_and_was_written_over_is_whole_after_a_crash() {
        let place = Place::new();
        let path = place.path("spill.db");
        let connection = cramped(&path);
        for _ in 0..3 {
            connection.execute_batch("begin immediate").unwrap();
            fill(&connection, 200);
            connection.execute_batch("commit").unwrap();
            assert_eq!(after_a_crash(&place, &path), sum(&connection));
        }
    }

    #[test]
    fn what_spilled_and_was_rolled_back_disturbs_nobody() {
        let place = Place::new();
        let path = place.path("rolled.db");
        let [one, other] = [cramped(&path), cramped(&path)];
        for round in 1..4 {
            // Nothing of the log is read at the end of a transaction then.
            let emptied: i64 = one.query_row("pragma wal_checkpoint(truncate)", [], |row| row.get(0)).unwrap();
            assert_eq!(emptied, 0);
            one.execute_batch("begin immediate; savepoint s").unwrap();
            fill(&one, 100);
            one.execute_batch("rollback to s").unwrap();
            // Last come frames that nothing is read after.
            one.execute("insert into t values (0, randomblob(400000))", []).unwrap();
            one.execute_batch("rollback").unwrap();
            other.execute_batch("begin immediate").unwrap();
            fill(&other, 100);
            other.execute_batch("commit").unwrap();
            assert_eq!(sum(&one), sum(&other));
            assert_eq!(after_a_crash(&place, &path).0, 100 * round);
        }
    }
}
