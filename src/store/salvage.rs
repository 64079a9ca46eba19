//! A damaged database is copied, row by row as far as rows can be read, into a new one that takes its place. The damaged
//! file stays beside it as `.corrupt-<time>`. One process does it, the others wait.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::types::Value;
use rusqlite::{Connection, OpenFlags, params_from_iter};

use super::open::{FILES, beside, create_private};
use super::{check, rebuild, schema, session, time};
use crate::error::{Error, Kind, Result};

/// Tables in the order their rows refer to each other. What was read of files is not copied: reading them again, which
/// stores nothing twice, brings back what could not be read here.
const TABLES: [&str; 6] = ["project", "session", "msg", "forgotten", "silence", "setting"];

/// A new store on its way, and one that is whole and only has to take its place.
const NEW: &str = ".new";
const REPAIRED: &str = ".repaired";

/// Held by whoever opens the store (shared) or puts another file in its place (alone).
pub(super) struct Door(#[expect(dead_code, reason = "holds the lock")] Option<File>);

impl Door {
    /// Waits while another process repairs, but not for long: a large store takes its time, and pi goes on without.
    /// Without a repair ever, there is no lock to wait for.
    pub(super) fn enter(path: &Path, wait: Duration) -> Result<Door> {
        let Ok(file) = File::open(beside(path, "-repair")) else { return Ok(Door(None)) };
        if beside(path, REPAIRED).exists() {
            // Whoever repaired was killed a moment before the end.
            file.lock().map_err(|error| refused(path, &error))?;
            finish(path)?;
        }
        let since = Instant::now();
        while let Err(fs::TryLockError::WouldBlock) = file.try_lock_shared() {
            if since.elapsed() >= wait {
                return Err(Error::new(Kind::Busy, "the memory store is being repaired; it is tried again"));
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(Door(Some(file)))
    }
}

/// Puts a new store in the damaged one's place and says what was saved.
pub(super) fn salvage(path: &Path) -> Result<String> {
    let lock = File::create(beside(path, "-repair")).map_err(|error| refused(path, &error))?;
    lock.lock().map_err(|error| refused(path, &error))?;
    finish(path)?;
    if is_sound(path) {
        return Ok("another process has repaired the memory store already".to_owned());
    }
    let fresh = beside(path, NEW);
    for ending in FILES {
        let _ = fs::remove_file(beside(&fresh, ending));
    }
    create_private(&fresh).map_err(|error| refused(path, &error))?;
    // Nothing can be read of a file that is no database; the new store is empty then.
    let damaged = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE).ok();
    if let Some(damaged) = &damaged {
        // Who writes meanwhile waits, and finds then that its file is not the store any more.
        let _ = damaged.execute_batch("begin immediate");
    }
    let saved = copy(damaged.as_ref(), &fresh)?;
    fs::rename(&fresh, beside(path, REPAIRED)).map_err(|error| refused(path, &error))?;
    let kept = put_in_place(path)?;
    Ok(format!(
        "the memory store was damaged: {saved} messages were saved into a new one and the damaged file is kept as {}; \
         run /recall import to bring back what pi's own files still have",
        kept.display()
    ))
}

/// True when the store opens and its tables can be read through, or when it is none of ours to repair.
fn is_sound(path: &Path) -> bool {
    let check = || -> rusqlite::Result<bool> {
        let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        let answer: String = connection.query_row("pragma quick_check(1)", [], |row| row.get(0))?;
        let version: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
        if version == schema::VERSION {
            connection.query_row("select count(*) from term where term match 'a'", [], |_| Ok(()))?;
        }
        Ok(answer == "ok" && (version != schema::VERSION || check::damage(&connection).is_empty()))
    };
    check().unwrap_or(false)
}

fn copy(damaged: Option<&Connection>, to: &Path) -> Result<i64> {
    let mut connection = Connection::open(to)?;
    connection.pragma_update(None, "auto_vacuum", "incremental")?;
    connection.pragma_update(None, "journal_mode", "off")?;
    let fresh = connection.transaction()?;
    let saved = match damaged {
        Some(damaged) if is_old_edition(damaged) => copy_old_edition(damaged, &fresh)?,
        _ => copy_ours(damaged, &fresh)?,
    };
    fresh.commit()?;
    connection.query_row("pragma journal_mode = wal", [], |_| Ok(()))?;
    Ok(saved)
}

fn is_old_edition(damaged: &Connection) -> bool {
    damaged.pragma_query_value(None, "user_version", |row| row.get(0)).is_ok_and(|version: i64| version == 1)
}

/// A store of the JavaScript edition stays one: it is upgraded when it is opened.
fn copy_old_edition(damaged: &Connection, fresh: &Connection) -> Result<i64> {
    fresh.execute_batch(
        "pragma user_version = 1;
         create table session (id text primary key, cwd text not null, project text not null,
             started_at integer not null, last_at integer not null, name text);
         create table msg (id integer primary key, session_id text not null, seq integer not null,
             ts integer not null, role text not null, text text not null, nchars integer not null, meta text,
             hash text not null, unique (session_id, hash));",
    )?;
    copy_table(damaged, fresh, "session");
    copy_table(damaged, fresh, "msg");
    fresh.execute_batch(
        "insert or ignore into session (id, cwd, project, started_at, last_at)
             select session_id, '', '', min(ts), max(ts) from msg group by session_id",
    )?;
    Ok(fresh.query_row("select count(*) from msg", [], |row| row.get(0))?)
}

fn copy_ours(damaged: Option<&Connection>, fresh: &Connection) -> Result<i64> {
    schema::create(fresh)?;
    if let Some(damaged) = damaged {
        for table in TABLES {
            copy_table(damaged, fresh, table);
        }
    }
    // Rows whose session or text could not be read, and sessions whose rows could not.
    fresh.execute_batch(
        "insert or ignore into project (id, cwd, name) select distinct project, '?' || project, '?' from session
             where project not in (select id from project);
         insert or ignore into project (cwd, name) values ('', '');
         insert or ignore into session (id, key, project, started_at)
             select session, 'lost-' || session, (select id from project where cwd = ''), min(ts) from msg
             where session not in (select id from session) group by session;
         delete from msg where text is null and (origin is null or origin not in (select id from msg));
         update msg set parent = null where parent > 0 and parent not in (select id from msg);",
    )?;
    let sessions: Vec<i64> =
        fresh.prepare("select id from session")?.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    for number in sessions {
        session::recount(fresh, number)?;
    }
    rebuild::begin(fresh)?;
    Ok(fresh.query_row("select count(*) from msg", [], |row| row.get(0))?)
}

/// Copies what can be read: a row that cannot is passed over, from both ends of the table towards the damage.
fn copy_table(damaged: &Connection, fresh: &Connection, table: &str) {
    let Ok(columns) = fresh.prepare(&format!("select * from {table}")).map(|select| select.column_count()) else {
        return;
    };
    let marks = vec!["?"; columns].join(", ");
    let Ok(mut insert) = fresh.prepare(&format!("insert or ignore into {table} values ({marks})")) else { return };
    let keyed = matches!(table, "project" | "session" | "msg");
    let mut orders = vec![if keyed { "where id > ?1 order by id" } else { "where ?1 is not null" }];
    if keyed {
        orders.push("where id > ?1 order by id desc");
    }
    for order in orders {
        let mut after = i64::MIN;
        // Behind a row that cannot be read the scan begins again, further and further on.
        let mut jump = 1;
        loop {
            let Ok(mut select) = damaged.prepare(&format!("select * from {table} {order}")) else { break };
            let Ok(mut rows) = select.query([after]) else { break };
            let ended = loop {
                match rows.next() {
                    Ok(Some(row)) => {
                        let values: rusqlite::Result<Vec<Value>> = (0..columns).map(|at| row.get(at)).collect();
                        if let Ok(values) = values {
                            if let (true, Some(Value::Integer(id))) = (keyed, values.first()) {
                                after = *id;
                                jump = 1;
                            }
                            let _ = insert.execute(params_from_iter(values));
                        }
                    }
                    Ok(None) => break true,
                    Err(_) => break false,
                }
            };
            if ended || !keyed || order.ends_with("desc") || jump > 1 << 20 {
                break;
            }
            after = after.saturating_add(jump).max(0);
            jump *= 2;
        }
    }
}

/// Ends a repair that was killed when its new store was whole.
fn finish(path: &Path) -> Result<()> {
    if beside(path, REPAIRED).exists() {
        put_in_place(path)?;
    }
    Ok(())
}

/// Moves the damaged file aside, after its log (which the new store must not read), and the new store in its place. Other
/// processes that still have the damaged file open notice before they write.
fn put_in_place(path: &Path) -> Result<PathBuf> {
    let kept = beside(path, &format!(".corrupt-{}", time::now()));
    for ending in FILES.into_iter().rev() {
        let from = beside(path, ending);
        if from.exists() {
            fs::rename(&from, beside(&kept, ending))
                .map_err(|error| Error::io(&from, "the damaged store cannot be moved aside", &error))?;
        }
    }
    fs::rename(beside(path, REPAIRED), path).map_err(|error| refused(path, &error))?;
    Ok(kept)
}

fn refused(path: &Path, error: &std::io::Error) -> Error {
    Error::io(path, "the damaged store cannot be repaired in its folder", error)
}

/// The damaged files kept beside the store, and their logs.
pub(super) fn set_aside(path: &Path) -> Vec<String> {
    let kept = beside(path, ".corrupt-");
    let (Some(folder), Some(kept)) = (path.parent(), kept.file_name()) else { return Vec::new() };
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut found: Vec<String> = entries
        .flatten()
        .filter(|entry| {
            let name = entry.file_name();
            let (name, kept) = (name.as_encoded_bytes(), kept.as_encoded_bytes());
            name.starts_with(kept) && !name.ends_with(b"-shm")
        })
        .map(|entry| entry.path().to_string_lossy().into_owned())
        .collect();
    found.sort();
    found
}
