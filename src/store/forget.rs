//! Forgets for good: rows, terms and free pages go, and what is left keeps them from coming back.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::{Connection, OptionalExtension, ToSql};

use super::{Store, salvage, session, time, write};
use crate::error::{Error, Kind, Result};
use crate::message::Role;

/// What to forget: every condition given must hold.
#[derive(Clone, Debug, Default)]
pub struct Conditions {
    /// pi's session id or an unambiguous prefix of it.
    pub session: Option<String>,
    /// A message's id.
    pub message: Option<i64>,
    /// An absolute folder, one with `~`, or a bare folder name, which takes every project of that name.
    pub project: Option<String>,
    /// From this time on, unix milliseconds.
    pub since: Option<i64>,
    /// Before this time, unix milliseconds.
    pub until: Option<i64>,
    /// Only say what would go.
    pub dry_run: bool,
}

/// What went, or would go.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Forgotten {
    /// Sessions of which nothing is left.
    pub sessions: u64,
    /// Messages, their copies in other sessions among them.
    pub messages: u64,
    /// pi's own files that still hold the text, and damaged stores set aside, which may.
    pub still_in: Vec<String>,
}

impl Store {
    /// Forgets the messages meant and every copy of them, in steps that give way to captures.
    pub fn forget(&self, conditions: &Conditions) -> Result<Forgotten> {
        let report = self.in_background(|connection| {
            let ids = meant(connection, conditions)?;
            let mut report = report(connection, &ids)?;
            if !ids.is_empty() {
                report.still_in.extend(salvage::set_aside(&self.path));
            }
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
                    forget_name(connection, number)
                })?;
            }
            self.forget_all(connection, &ids)?;
            Ok(report)
        })?;
        if !conditions.dry_run {
            // The log still has the pages as they were.
            self.tidy()?;
        }
        Ok(report)
    }

    /// Forgets these texts with all their copies, in transactions that give way to captures.
    pub(super) fn forget_all(&self, connection: &mut Connection, ids: &[i64]) -> Result<()> {
        let mut rest = ids;
        while !rest.is_empty() {
            self.shorten_log()?;
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
                    forget_name(connection, session)?;
                }
                Ok(left)
            })?;
        }
        Ok(())
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
        let role = Role::from_code(role);
        connection
            .prepare_cached("insert or ignore into forgotten (hash) values (?1), (?2)")?
            .execute((hash, write::slot_hash(&key, role, ts)))?;
        unlink(connection, row)?;
        connection.prepare_cached("delete from msg where id = ?1")?.execute([row])?;
        touched.push(session);
    }
    Ok(touched)
}

/// A session's name is text, too: it goes with the last message.
fn forget_name(connection: &Connection, session: i64) -> Result<()> {
    connection.prepare_cached("update session set name = null where id = ?1 and messages = 0")?.execute([session])?;
    Ok(())
}

/// Refuses what has that identity from now on: another store forgot it. The texts that are here are returned.
pub(super) fn refuse(connection: &Connection, hash: i64) -> Result<Vec<i64>> {
    connection.prepare_cached("insert or ignore into forgotten (hash) values (?1)")?.execute([hash])?;
    Ok(connection
        .prepare_cached("select distinct coalesce(origin, id) from msg where hash = ?1")?
        .query_map([hash], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?)
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

#[cfg(test)]
mod tests {
    use super::Conditions;
    use crate::error::Kind;
    use crate::store::open::beside;
    use crate::store::testing::{Place, bare, user, watch_log};

    fn of_session(id: &str) -> Conditions {
        Conditions { session: Some(id.to_owned()), ..Conditions::default() }
    }

    fn bytes(place: &Place) -> Vec<u8> {
        ["", "-wal"]
            .iter()
            .flat_map(|suffix| std::fs::read(beside(place.store.path(), suffix)).unwrap_or_default())
            .collect()
    }

    fn holds(place: &Place, needle: &str) -> bool {
        bytes(place).windows(needle.len()).any(|window| window == needle.as_bytes())
    }

    #[test]
    fn a_forgotten_session_leaves_no_byte_and_does_not_come_back() {
        let place = Place::new();
        for at in 1..50 {
            place.capture("other", &bare(at, &format!("common words number {at}")));
        }
        let secret = "xylophonequartz 龘靐齉 password";
        let file = place.file("s.jsonl", "s", &[user("a", None, 1, secret)]);
        place.import(&file);
        assert!(holds(&place, "xylophonequartz") && place.finds("龘靐") == 1);

        let report = place.store.forget(&of_session("s")).unwrap();
        assert_eq!((report.sessions, report.messages), (1, 1));
        assert_eq!(report.still_in, [file.canonicalize().unwrap().to_string_lossy().into_owned()]);
        assert!(holds(&place, "common"));
        assert!(!holds(&place, "xylophone") && !holds(&place, "ylophonequartz") && !holds(&place, "龘靐"));

        place.append(&file, &(user("b", Some("a"), 2, secret) + "\n"));
        std::fs::copy(&file, place.path("again.jsonl")).unwrap();
        assert_eq!(place.import(&place.path("again.jsonl")).stored, 0);
        assert!(!place.capture("s", &bare(1, secret)).stored);
        assert_eq!(place.finds("龘靐"), 0);
    }

    #[test]
    fn damaged_stores_set_aside_are_named_where_they_may_hold_the_text() {
        let place = Place::new();
        place.capture("s", &bare(1, "a secret"));
        let beside = |suffix: &str| beside(place.store.path(), suffix);
        for suffix in [".corrupt-17", ".corrupt-17-wal", ".corrupt-17-shm", ".other"] {
            std::fs::write(beside(suffix), "a secret").unwrap();
        }
        let named = [".corrupt-17", ".corrupt-17-wal"].map(|suffix| beside(suffix).to_string_lossy().into_owned());
        let dry = Conditions { dry_run: true, ..of_session("s") };
        assert_eq!(place.store.forget(&dry).unwrap().still_in, named);
        assert_eq!(place.store.forget(&of_session("s")).unwrap().still_in, named);
        assert_eq!(place.store.forget(&of_session("s")).unwrap().still_in, Vec::<String>::new());
    }

    #[test]
    fn what_is_said_after_a_session_was_forgotten_is_kept() {
        let place = Place::new();
        place.capture("s", &bare(1, "before"));
        place.store.forget(&of_session("s")).unwrap();
        let later = crate::store::time::now() + 60_000;
        assert!(place.capture("s", &bare(later, "after")).stored);
    }

    #[test]
    fn a_dry_run_changes_nothing() {
        let place = Place::new();
        place.capture("s", &bare(1, "zebra"));
        let report = place.store.forget(&Conditions { dry_run: true, ..of_session("s") }).unwrap();
        assert_eq!((report.messages, place.finds("zebra")), (1, 1));
    }

    #[test]
    fn forgetting_a_message_takes_its_copies_along_also_those_to_come() {
        let place = Place::new();
        let origin = place.file("o.jsonl", "origin", &[user("a", None, 1, "zebra"), user("b", Some("a"), 2, "rest")]);
        place.import(&origin);
        let id = place.messages("origin").first().map(|row| row.id);
        let fork = place.file("f.jsonl", "fork", &[user("a", None, 1, "zebra")]);
        place.import(&fork);
        place.store.forget(&Conditions { message: id, ..Conditions::default() }).unwrap();
        let late = place.file("l.jsonl", "late", &[user("a", None, 1, "zebra")]);
        assert_eq!(place.import(&late).stored, 0);
        assert_eq!(place.finds("zebra"), 0);
        assert_eq!(place.rows("origin"), ["2 b rest"]);
    }

    #[test]
    fn the_log_stays_short_however_much_is_forgotten() {
        let place = Place::new();
        let word = |number: usize| format!("w{}", number * 7919 % 40_009);
        let text = |at: usize| (0..150).map(|n| word(at * 150 + n)).collect::<Vec<_>>().join(" ");
        let entries: Vec<String> = (1..500).map(|at| user(&format!("e{at}"), None, 1, &text(at))).collect();
        place.import(&place.file("s.jsonl", "s", &entries));
        let longest = watch_log(&place, || {
            place.store.forget(&of_session("s")).unwrap();
        });
        assert!(longest < 40 << 20, "{longest} bytes");
    }

    #[test]
    fn conditions_are_combined_and_none_is_refused() {
        let place = Place::new();
        for ts in 1..=3 {
            place.capture("s", &bare(ts, "zebra"));
            place.capture("t", &bare(ts, "zebra"));
        }
        place.store.forget(&Conditions { since: Some(2), until: Some(3), ..of_session("s") }).unwrap();
        assert_eq!((place.messages("s").len(), place.messages("t").len()), (2, 3));
        assert_eq!(place.store.forget(&Conditions::default()).unwrap_err().kind(), Kind::InvalidArgument);
    }
}
