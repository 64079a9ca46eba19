//! Opens the database: where it is, who may read it, how SQLite is set, and which edition made it.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use super::{rebuild, schema, upgrade};
use crate::error::{Error, Kind, Result};

/// `PI_MEMORY_DB`, else `~/.pi/memory/sessions.db`.
pub(super) fn default_path() -> Result<PathBuf> {
    if let Some(path) = std::env::var_os("PI_MEMORY_DB").filter(|path| !path.is_empty()) {
        return Ok(std::path::absolute(super::session::expand_home(Path::new(&path)))?);
    }
    let home = super::session::home().ok_or_else(|| {
        Error::new(Kind::Io, "there is no home folder to keep the memory store in; set PI_MEMORY_DB to a file's path")
    })?;
    Ok(home.join(".pi").join("memory").join("sessions.db"))
}

/// A connection to the store at `path`, which is created when it is not there.
pub(super) fn open(path: &Path, wait: Duration) -> Result<Connection> {
    prepare_folder(path)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags).map_err(|error| at(path, error))?;
    configure(&mut connection, wait).map_err(|error| at(path, error))?;
    keep_private(path);
    settle_schema(&mut connection, path)?;
    Ok(connection)
}

fn at(path: &Path, error: rusqlite::Error) -> Error {
    let error = Error::from(error);
    Error::new(error.kind(), format!("{}: {error}", path.display()))
}

fn configure(connection: &mut Connection, wait: Duration) -> rusqlite::Result<()> {
    connection.busy_timeout(Duration::from_secs(5))?;
    connection.pragma_update(None, "journal_mode", "wal")?;
    connection.pragma_update(None, "synchronous", "normal")?;
    // Forgotten text must be gone from the file, not just unlinked.
    connection.pragma_update(None, "secure_delete", "on")?;
    connection.pragma_update(None, "temp_store", "memory")?;
    connection.pragma_update(None, "cache_size", -16_000)?;
    // Checkpoints are upkeep's work: neither a commit nor a close of pi's is to wait for one.
    connection.pragma_update(None, "wal_autocheckpoint", 0)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    wait_for_lock(connection, wait)?;
    connection.set_prepared_statement_cache_capacity(128);
    Ok(())
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
        let mut options = fs::OpenOptions::new();
        options.create(true).append(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.open(path).map_err(|error| refuse("the file cannot be made", error))?;
    }
    Ok(())
}

/// Takes others' rights away from the database and its side files, also where they existed with wider ones.
fn keep_private(path: &Path) {
    #[cfg(unix)]
    for suffix in ["", "-wal", "-shm", "-journal"] {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        restrict(Path::new(&name), 0o600);
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

fn version(connection: &Connection) -> Result<i64> {
    Ok(connection.pragma_query_value(None, "user_version", |row| row.get(0))?)
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
        0 => {
            schema::create(&transaction)?;
            rebuild::complete(&transaction)?;
        }
        1 if upgrade::is_old_edition(&transaction)? => upgrade::upgrade(&transaction)?,
        schema::VERSION => {}
        other => {
            return Err(Error::new(
                Kind::Corrupt,
                format!(
                    "{} is a database of something else (user_version {other}); set PI_MEMORY_DB to another file",
                    path.display()
                ),
            ));
        }
    }
    transaction.commit()?;
    Ok(())
}
