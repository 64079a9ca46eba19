//! Forgets for good: rows, terms and free pages go, and what is left keeps them from coming back.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::{Connection, OptionalExtension, ToSql};

use super::{Store, session, time, write};
use crate::error::{Error, Kind, Result};
use crate::message::Role;

/// What to forget: every condition given must hold.
#[derive(Clone, Debug, Default)]
pub struct Conditions {
    pub session: Option<String>,
    pub message: Option<i64>,
    pub project: Option<String>,
    /// Half-open, unix milliseconds.
    pub since: Option<i64>,
    pub until: Option<i64>,
    /// Only say what would go.
    pub dry_run: bool,
}

/// What went, or would go.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Forgotten {
    pub sessions: u64,
    pub messages: u64,
    /// pi's own files that still hold the text.
    pub still_in: Vec<String>,
}

impl Store {
    /// Forgets the messages meant and every copy of them, in steps that give way to captures.
    pub fn forget(&self, conditions: &Conditions) -> Result<Forgotten> {
        let report = self.in_background(|connection| {
            let ids = meant(connection, conditions)?;
            let report = report(connection, &ids)?;
            if conditions.dry_run {
                return Ok(report);
            }
            if let Some(id) = &conditions.session
                && conditions.message.is_none()
                && conditions.since.is_none()
                && conditions.until.is_none()
            {
                // What of it lies in pi's file and was never read stays out, too.
                let number = session::resolve(connection, id)?;
                self.slot(connection, |connection, _| {
                    connection.execute(
                        "insert or replace into silence (session, since, until)
                         select key, 0, ?2 from session where id = ?1",
                        (number, time::now() + 1),
                    )?;
                    Ok(())
                })?;
            }
            let mut rest = ids.as_slice();
            while !rest.is_empty() {
                rest = self.slot(connection, |connection, slot| {
                    let mut left = rest;
                    let mut touched = BTreeSet::new();
                    while let [id, others @ ..] = left {
                        touched.extend(forget(connection, *id)?);
                        left = others;
                        if slot.is_over() {
                            break;
                        }
                    }
                    for session in touched {
                        session::recount(connection, session)?;
                    }
                    // A session's name is text, too.
                    connection.execute("update session set name = null where messages = 0", [])?;
                    Ok(left)
                })?;
            }
            Ok(report)
        })?;
        if !conditions.dry_run {
            // The log still has the pages as they were.
            self.tidy()?;
        }
        Ok(report)
    }
}

/// The rows meant, copies left out: a row and its copies go together.
fn meant(connection: &Connection, conditions: &Conditions) -> Result<Vec<i64>> {
    let mut wheres = Vec::new();
    let mut values: Vec<Box<dyn ToSql>> = Vec::new();
    if let Some(id) = &conditions.session {
        values.push(Box::new(session::resolve(connection, id)?));
        wheres.push(format!("session = ?{}", values.len()));
    }
    if let Some(message) = conditions.message {
        let exists = connection.query_row("select 1 from msg where id = ?1", [message], |_| Ok(())).optional()?;
        exists.ok_or_else(|| {
            Error::new(
                Kind::NotFound,
                format!("no message {message} in the memory store; take an id a search returned"),
            )
        })?;
        values.push(Box::new(message));
        wheres.push(format!("id = ?{}", values.len()));
    }
    if let Some(project) = &conditions.project {
        let projects = session::resolve_project(connection, project)?;
        if projects.is_empty() {
            return Err(Error::new(Kind::NotFound, format!("no project {project:?} in the memory store")));
        }
        let list: Vec<String> = projects.iter().map(i64::to_string).collect();
        wheres.push(format!("session in (select id from session where project in ({}))", list.join(",")));
    }
    for (bound, sign) in [(conditions.since, ">="), (conditions.until, "<")] {
        if let Some(bound) = bound {
            values.push(Box::new(bound));
            wheres.push(format!("ts {sign} ?{}", values.len()));
        }
    }
    if wheres.is_empty() {
        return Err(Error::new(
            Kind::InvalidArgument,
            "forget needs a condition: a session, a message, a project, since or until",
        ));
    }
    let sql = format!("select distinct coalesce(origin, id) from msg where {} order by 1", wheres.join(" and "));
    let mut statement = connection.prepare(&sql)?;
    let rows = statement.query_map(rusqlite::params_from_iter(values), |row| row.get(0))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

fn report(connection: &Connection, ids: &[i64]) -> Result<Forgotten> {
    let mut sessions = BTreeMap::<i64, u64>::new();
    let mut statement = connection.prepare("select session from msg where id = ?1 or origin = ?1")?;
    for id in ids {
        for session in statement.query_map([id], |row| row.get(0))? {
            *sessions.entry(session?).or_default() += 1;
        }
    }
    let mut still_in = Vec::new();
    let mut whole = 0;
    for (number, count) in &sessions {
        let (file, messages): (Option<String>, u64) =
            connection.query_row("select file, messages from session where id = ?1", [number], |row| {
                Ok((row.get(0)?, row.get::<_, i64>(1)?.unsigned_abs()))
            })?;
        whole += u64::from(*count >= messages);
        still_in.extend(file.filter(|file| std::path::Path::new(file).is_file()));
    }
    Ok(Forgotten { sessions: whole, messages: sessions.values().sum(), still_in })
}

/// Removes one text with all its copies, remembers enough to refuse it when it comes again, and names the sessions.
fn forget(connection: &Connection, id: i64) -> Result<Vec<i64>> {
    let mut rows = connection.prepare_cached(
        "select m.id, m.hash, m.role, m.ts, m.session, s.key from msg m join session s on s.id = m.session
         where m.id = ?1 or m.origin = ?1 order by m.origin is null",
    )?;
    let rows: Vec<(i64, i64, i64, i64, i64, String)> = rows
        .query_map([id], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?, row.get(5)?)))?
        .collect::<rusqlite::Result<_>>()?;
    write::unindex(connection, id)?;
    let mut touched = Vec::new();
    for (row, hash, role, ts, session, key) in rows {
        let role = Role::from_code(role).unwrap_or(Role::Assistant);
        connection
            .prepare_cached("insert or ignore into forgotten (hash) values (?1), (?2)")?
            .execute((hash, write::slot_hash(&key, role, ts)))?;
        unlink(connection, row)?;
        connection.prepare_cached("delete from msg where id = ?1")?.execute([row])?;
        touched.push(session);
    }
    Ok(touched)
}

/// Rows that followed this one follow what it followed.
fn unlink(connection: &Connection, id: i64) -> Result<()> {
    let (session, seq, parent): (i64, i64, Option<i64>) = connection
        .prepare_cached("select session, seq, parent from msg where id = ?1")?
        .query_row([id], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    let before = connection
        .prepare_cached("select id from msg where session = ?1 and seq < ?2 order by seq desc limit 1")?
        .query_row((session, seq), |row| row.get(0))
        .optional()?
        .unwrap_or(0);
    connection
        .prepare_cached("update msg set parent = ?2 where parent = ?1")?
        .execute((id, parent.unwrap_or(before)))?;
    if parent.is_some() {
        connection
            .prepare_cached(
                "update msg set parent = ?3 where parent is null
                 and id = (select id from msg where session = ?1 and seq > ?2 order by seq limit 1)",
            )?
            .execute((session, seq, parent))?;
    }
    Ok(())
}
