//! A damaged database is copied, row by row as far as rows can be read, into a new one that takes its place. The damaged
//! file stays beside it as `.corrupt-<time>`. One process does it, the others wait.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use rusqlite::types::Value;
use rusqlite::{Connection, OpenFlags, params_from_iter};

use super::{rebuild, schema, session, time};
use crate::error::{Error, Kind, Result};

/// Tables in the order their rows refer to each other. What was read of files is not copied: reading them again, which
/// stores nothing twice, brings back what could not be read here.
const TABLES: [(&str, usize); 6] =
    [("project", 3), ("session", 11), ("msg", 11), ("forgotten", 1), ("silence", 3), ("setting", 2)];

/// Held by whoever opens the store (shared) or puts another file in its place (alone).
pub(super) struct Door(#[expect(dead_code, reason = "holds the lock")] Option<File>);

impl Door {
    /// Waits while another process repairs. Without a repair ever, there is no lock to wait for.
    pub(super) fn enter(path: &Path) -> Door {
        let file = File::open(beside(path, "-repair")).ok();
        if let Some(file) = &file {
            let _ = file.lock_shared();
        }
        Door(file)
    }
}

/// Puts a new store in the damaged one's place and says what was saved.
pub(super) fn salvage(path: &Path) -> Result<String> {
    let lock = File::create(beside(path, "-repair"))?;
    lock.lock()?;
    if is_sound(path) {
        return Ok("another process has repaired the memory store already".to_owned());
    }
    let fresh = beside(path, &format!(".new-{}", std::process::id()));
    let _ = fs::remove_file(&fresh);
    super::open::create_private(&fresh)?;
    let saved = copy(path, &fresh)?;
    let kept = put_aside(path)?;
    fs::rename(&fresh, path)?;
    Ok(format!(
        "the memory store was damaged: {saved} messages were saved into a new one and the damaged file is kept as {}; \
         run /recall import to bring back what pi's own files still have",
        kept.display()
    ))
}

/// True when the store opens and its tables can be read through.
fn is_sound(path: &Path) -> bool {
    let check = || -> rusqlite::Result<bool> {
        let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        let answer: String = connection.query_row("pragma quick_check(1)", [], |row| row.get(0))?;
        Ok(answer == "ok")
    };
    check().unwrap_or(false)
}

fn copy(from: &Path, to: &Path) -> Result<i64> {
    let mut fresh = Connection::open(to)?;
    fresh.pragma_update(None, "journal_mode", "off")?;
    let fresh = fresh.transaction()?;
    schema::create(&fresh)?;
    // Nothing can be read of a file that is no database; the new store is empty then.
    if let Ok(damaged) = Connection::open_with_flags(from, OpenFlags::SQLITE_OPEN_READ_WRITE) {
        for (table, columns) in TABLES {
            copy_table(&damaged, &fresh, table, columns);
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
        session::recount(&fresh, number)?;
    }
    rebuild::begin(&fresh)?;
    let saved = fresh.query_row("select count(*) from msg", [], |row| row.get(0))?;
    fresh.commit()?;
    Ok(saved)
}

/// Copies what can be read: a row that cannot is passed over, from both ends of the table towards the damage.
fn copy_table(damaged: &Connection, fresh: &Connection, table: &str, columns: usize) {
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

/// Moves the damaged file and its log aside; other processes that still have them open write there until they notice.
fn put_aside(path: &Path) -> Result<PathBuf> {
    let kept = beside(path, &format!(".corrupt-{}", time::now()));
    for suffix in ["-wal", "-shm"] {
        let from = beside(path, suffix);
        if from.exists() {
            fs::rename(&from, beside(&kept, suffix))?;
        }
    }
    fs::rename(path, &kept).map_err(|error| {
        Error::new(Kind::Io, format!("{}: the damaged store cannot be moved aside ({error})", path.display()))
    })?;
    Ok(kept)
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}
