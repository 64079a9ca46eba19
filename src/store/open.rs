//! Opens the database: where it is, who may read it, how SQLite is set, and which edition made it.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior, ffi};

use super::{Opening, folders, rebuild, schema, upgrade};
use crate::error::{Error, Kind, Result};

/// `PI_MEMORY_DB`, else `~/.pi/memory/sessions.db`.
pub(super) fn default_path() -> Result<PathBuf> {
    if let Some(path) = std::env::var_os("PI_MEMORY_DB").filter(|path| !path.is_empty()) {
        return absolute(&folders::expand_home(Path::new(&path)));
    }
    let home = folders::home().ok_or_else(|| {
        Error::new(Kind::Io, "there is no home folder to keep the memory store in; set PI_MEMORY_DB to a file's path")
    })?;
    Ok(home.join(".pi").join("memory").join("sessions.db"))
}

/// The whole path of a database that may be given from the folder pi runs in.
pub(super) fn absolute(path: &Path) -> Result<PathBuf> {
    std::path::absolute(path).map_err(|error| Error::io(path, "is no path of a file", &error))
}

/// A connection to the store at `path`.
pub(super) fn open(path: &Path, opening: Opening) -> Result<Connection> {
    let wait = opening.wait;
    let mut flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    if opening.creates {
        prepare_folder(path)?;
        flags |= OpenFlags::SQLITE_OPEN_CREATE;
    }
    let connect = || {
        let mut connection = Connection::open_with_flags(path, flags)?;
        configure(&mut connection, wait)?;
        Ok(connection)
    };
    let had_log = has_log(path);
    let connected = match connect() {
        Err(error) if opening.creates && is_about_shared_memory(&error) && !had_log && do_without_log(path).is_ok() => {
            connect()
        }
        other => other,
    };
    let mut connection = connected.map_err(|error| at(path, error))?;
    if is_foreign(&connection)? {
        return Err(foreign(path));
    }
    keep_private(path);
    settle_schema(&mut connection, path)?;
    Ok(connection)
}

fn at(path: &Path, error: rusqlite::Error) -> Error {
    let error = Error::from(error);
    Error::new(error.kind(), format!("{}: {error}", path.display()))
}

fn configure(connection: &mut Connection, wait: Duration) -> rusqlite::Result<()> {
    // Checkpoints are upkeep's work: neither a commit nor a close of pi's is to wait for one, least of all a close
    // after an error.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    connection.busy_timeout(Duration::from_secs(5))?;
    choose_journal(connection)?;
    connection.pragma_update(None, "synchronous", "normal")?;
    // Forgotten text must be gone from the file, not just unlinked.
    connection.pragma_update(None, "secure_delete", "on")?;
    connection.pragma_update(None, "temp_store", "memory")?;
    connection.pragma_update(None, "cache_size", -16_000)?;
    connection.pragma_update(None, "wal_autocheckpoint", 0)?;
    // Plans do not hang on what is bound: else half of our statements are compiled anew at every use.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    wait_for_lock(connection, wait)?;
    connection.set_prepared_statement_cache_capacity(128);
    Ok(())
}

/// A write-ahead log, which lets many read while one writes; a store that was made without one stays as it is.
fn choose_journal(connection: &Connection) -> rusqlite::Result<()> {
    if is_foreign(connection)? {
        return Ok(());
    }
    if version(connection)? == 0 {
        // Of a new store only: pages that merges leave free can be given back in steps.
        connection.pragma_update(None, "auto_vacuum", "incremental")?;
    }
    if version(connection)? == 0 || !lacks_log(connection)? {
        connection.query_row("pragma journal_mode = wal", [], |_| Ok(()))?;
    }
    // The shared memory a log needs is opened at the first look into the database, not when the mode is set.
    connection.query_row("select count(*) from sqlite_schema", [], |_| Ok(()))
}

/// Where the file system lacks that shared memory, a plain journal has to do. Alone, SQLite reads a log without it.
fn do_without_log(path: &Path) -> Result<()> {
    let connection = Connection::open(path)?;
    connection.query_row("pragma locking_mode = exclusive", [], |_| Ok(()))?;
    connection.query_row("pragma journal_mode = truncate", [], |_| Ok(()))?;
    // Made now, so that the next to open it finds a store and not an empty file to choose for.
    if version(&connection)? == 0 && is_empty(&connection)? {
        create(&connection)?;
    }
    Ok(())
}

/// Endings of the database's own name and of the files SQLite keeps beside it.
pub(super) const FILES: [&str; 4] = ["", "-wal", "-shm", "-journal"];

/// The file beside the database whose name is the database's with this ending.
pub(super) fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

/// A log that holds something: a store that worked with one is never turned into one without, for what looks like
/// missing shared memory may be a disk that is full for a moment, and the log's messages would go.
fn has_log(path: &Path) -> bool {
    fs::metadata(beside(path, "-wal")).is_ok_and(|meta| meta.len() > 0)
}

/// Memory that cannot grow is none of it: the disk is full.
fn is_about_shared_memory(error: &rusqlite::Error) -> bool {
    const SHM: [i32; 3] = [ffi::SQLITE_IOERR_SHMOPEN, ffi::SQLITE_IOERR_SHMLOCK, ffi::SQLITE_IOERR_SHMMAP];
    error.sqlite_error().is_some_and(|error| error.code == ErrorCode::CannotOpen || SHM.contains(&error.extended_code))
}

/// True when the store has no write-ahead log, because its file system cannot have one.
pub(super) fn lacks_log(connection: &Connection) -> rusqlite::Result<bool> {
    Ok(connection.query_row("pragma journal_mode", [], |row| row.get::<_, String>(0))? != "wal")
}

/// Tries again every millisecond: SQLite's own pauses grow, and among busy writers a patient one never gets its turn.
fn wait_for_lock(connection: &mut Connection, wait: Duration) -> rusqlite::Result<()> {
    let mut since = Instant::now();
    connection.busy_handler(Some(move |tries| {
        if tries == 0 {
            since = Instant::now();
        }
        std::thread::sleep(Duration::from_millis(1));
        since.elapsed() < wait
    }))
}

/// Creates the folder for its owner alone, and the file before SQLite does, so that its side files take its rights.
fn prepare_folder(path: &Path) -> Result<()> {
    let refuse = |what: &str, error: std::io::Error| {
        Error::new(
            Kind::Io,
            format!("{}: {what} ({error}); set PI_MEMORY_DB to a place that can be written", path.display()),
        )
    };
    if let Some(folder) = path.parent() {
        if !folder.is_dir() {
            let mut builder = fs::DirBuilder::new();
            builder.recursive(true);
            #[cfg(unix)]
            std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
            builder.create(folder).map_err(|error| refuse("the folder cannot be made", error))?;
        }
        // Only a folder of our own is tightened: a store put elsewhere must not take others' rights away.
        #[cfg(unix)]
        if folder.ends_with(".pi/memory") {
            restrict(folder, 0o700);
        }
    }
    if !path.exists() {
        create_private(path).map_err(|error| refuse("the file cannot be made", error))?;
    }
    Ok(())
}

/// Makes an empty file that only its owner can read.
pub(super) fn create_private(path: &Path) -> std::io::Result<()> {
    let mut options = fs::OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map(drop)
}

/// Takes others' rights away from the database and its side files, also where they existed with wider ones.
fn keep_private(path: &Path) {
    #[cfg(unix)]
    for ending in FILES {
        restrict(&beside(path, ending), 0o600);
    }
    #[cfg(not(unix))]
    let _ = path;
}

/// A file system without rights, or a file of another owner, is no reason to fail.
#[cfg(unix)]
fn restrict(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt;
    if let Ok(meta) = fs::metadata(path)
        && meta.permissions().mode() & 0o777 & !mode != 0
    {
        let _ = fs::set_permissions(path, fs::Permissions::from_mode(mode));
    }
}

fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

fn is_empty(connection: &Connection) -> rusqlite::Result<bool> {
    connection.query_row("select not exists (select 1 from sqlite_schema)", [], |row| row.get(0))
}

/// True for a database of another program, of which nothing may be changed. Every edition's messages have a hash.
fn is_foreign(connection: &Connection) -> rusqlite::Result<bool> {
    Ok(!is_empty(connection)?
        && !connection.prepare("select 1 from pragma_table_info('msg') where name = 'hash'")?.exists([])?)
}

fn foreign(path: &Path) -> Error {
    Error::new(
        Kind::InvalidArgument,
        format!("{} is a database of another program; set PI_MEMORY_DB to another file", path.display()),
    )
}

/// Makes an empty store: tables, and an index that holds all there is.
fn create(connection: &Connection) -> Result<()> {
    schema::create(connection)?;
    rebuild::stamp(connection)
}

fn settle_schema(connection: &mut Connection, path: &Path) -> Result<()> {
    match version(connection)? {
        schema::VERSION if rebuild::is_current(connection)? => return Ok(()),
        schema::VERSION => {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            if !rebuild::is_current(&transaction)? {
                rebuild::begin(&transaction)?;
            }
            transaction.commit()?;
            return Ok(());
        }
        newer if newer > schema::VERSION => {
            return Err(Error::new(
                Kind::NewerSchema,
                format!(
                    "{} was written by a newer edition of pi-memory-sessions (schema {newer}, this one knows {}); \
                     update the package: pi install npm:pi-memory-sessions",
                    path.display(),
                    schema::VERSION
                ),
            ));
        }
        _ => {}
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another process may have been first while we waited for the lock.
    match version(&transaction)? {
        0 if is_empty(&transaction)? => create(&transaction)?,
        1 if upgrade::is_old_edition(&transaction)? => upgrade::upgrade(&transaction)?,
        schema::VERSION => {}
        _ => return Err(foreign(path)),
    }
    transaction.commit()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::beside;
    use crate::error::Kind;
    use crate::store::testing::{Place, bare, eventually, open};
    use crate::store::{Options, Store};

    #[test]
    fn a_store_opens_again_with_what_it_held() {
        let place = Place::new();
        place.capture("s", &bare(1, "zebra"));
        place.store.close();
        assert_eq!(open(place.store.path()).stats().unwrap().messages, 1);
    }

    #[test]
    fn a_newer_schema_is_refused_with_what_to_do() {
        let place = Place::new();
        let path = place.path("newer.db");
        rusqlite::Connection::open(&path).unwrap().pragma_update(None, "user_version", 99).unwrap();
        let error = Store::open(Options { path: Some(path), ..Options::default() }).err().unwrap();
        assert_eq!(error.kind(), Kind::NewerSchema);
        assert!(error.to_string().contains("pi install npm:pi-memory-sessions"));
    }

    #[test]
    fn another_programs_database_is_left_as_it_is() {
        for version in 0..4 {
            let place = Place::new();
            let path = place.path("theirs.db");
            let theirs = rusqlite::Connection::open(&path).unwrap();
            theirs.execute_batch(&format!("create table session (a); pragma user_version = {version}")).unwrap();
            drop(theirs);
            let state = || (std::fs::read(&path).unwrap(), std::fs::metadata(&path).unwrap().permissions());
            let before = state();
            let error = Store::open(Options { path: Some(path.clone()), ..Options::default() }).err().unwrap();
            assert_eq!(error.kind(), Kind::InvalidArgument, "{error}");
            assert!(error.to_string().contains("PI_MEMORY_DB"));
            assert!(state() == before, "user_version {version}");
            assert!(["-wal", "-shm", "-repair"].iter().all(|ending| !beside(&path, ending).exists()));
        }
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_an_error_that_names_it() {
        let place = Place::new();
        let file = place.path("file");
        std::fs::write(&file, "").unwrap();
        let path = file.join("below").join("sessions.db");
        let error = Store::open(Options { path: Some(path.clone()), ..Options::default() }).err().unwrap();
        assert_eq!(error.kind(), Kind::Io);
        assert!(error.to_string().contains(&*path.to_string_lossy()));
    }

    #[cfg(unix)]
    #[test]
    fn wider_rights_of_before_are_taken_away() {
        use std::os::unix::fs::PermissionsExt;
        let place = Place::new();
        let path = place.path("open.db");
        open(&path).close();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o666)).unwrap();
        open(&path).close();
        for suffix in ["", "-wal", "-shm"] {
            assert_eq!(
                std::fs::metadata(beside(&path, suffix)).unwrap().permissions().mode() & 0o777,
                0o600,
                "{suffix}"
            );
        }
    }

    #[cfg(unix)]
    #[test]
    fn without_shared_memory_a_plain_journal_has_to_do() {
        let place = Place::new();
        let path = place.path("plain.db");
        // SQLite follows no link to its shared memory.
        std::os::unix::fs::symlink("nowhere/at/all", place.path("plain.db-shm")).unwrap();
        let store = open(&path);
        let entry = crate::message::parse(bare(1, "zebra").as_bytes(), store.rules()).unwrap();
        assert!(store.capture("s", &entry).unwrap().stored);
        assert!(store.notice().is_some_and(|notice| notice.contains("write-ahead log")));
    }

    #[cfg(unix)]
    #[test]
    fn a_log_that_holds_messages_is_never_done_without() {
        let place = Place::new();
        place.capture("s", &bare(1, "zebra"));
        let path = place.path("copied.db");
        for suffix in ["", "-wal"] {
            std::fs::copy(beside(place.store.path(), suffix), beside(&path, suffix)).unwrap();
        }
        let memory = place.path("copied.db-shm");
        std::os::unix::fs::symlink("nowhere/at/all", &memory).unwrap();
        let refused = Store::open(Options { path: Some(path.clone()), ..Options::default() }).err().unwrap();
        assert_eq!(refused.kind(), Kind::Io);
        std::fs::remove_file(&memory).unwrap();
        assert_eq!(open(&path).stats().unwrap().messages, 1);
    }

    #[test]
    fn a_capture_that_finds_the_store_locked_is_stored_in_the_background() {
        let place = Place::new();
        place.capture("s", &bare(1, "one"));
        let other = rusqlite::Connection::open(place.store.path()).unwrap();
        other.execute_batch("begin immediate").unwrap();
        assert!(!place.capture("s", &bare(2, "two")).stored);
        other.execute_batch("commit").unwrap();
        assert!(eventually(|| place.messages("s").len() == 2));
    }
}
