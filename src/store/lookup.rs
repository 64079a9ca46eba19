//! Rows as a search wants them: one by one, by number or place, as borrowed values where texts are long.

use rusqlite::{CachedStatement, Connection, OptionalExtension, Row};

use crate::error::Result;

/// A message's row, whose text is borrowed from SQLite while it is looked at.
pub(crate) struct MessageRow<'a>(&'a Row<'a>);

impl MessageRow<'_> {
    /// Its number, its session's, its place in that and its time.
    pub(crate) fn numbers(&self) -> Result<(i64, i64, i64, i64)> {
        Ok((self.0.get(0)?, self.0.get(1)?, self.0.get(2)?, self.0.get(3)?))
    }

    /// Its role's number.
    pub(crate) fn role(&self) -> Result<i64> {
        Ok(self.0.get(4)?)
    }

    /// See [`super::schema::PRIVATE`].
    pub(crate) fn flags(&self) -> Result<i64> {
        Ok(self.0.get(5)?)
    }

    /// pi's entry id, when known.
    pub(crate) fn entry(&self) -> Option<&str> {
        self.0.get_ref(6).ok()?.as_str_or_null().ok()?
    }

    /// Nothing for a copy, and for what is no text.
    pub(crate) fn text(&self) -> Option<&[u8]> {
        self.0.get_ref(7).ok()?.as_bytes_or_null().ok()?
    }
}

const MESSAGE: &str = "select id, session, seq, ts, role, flags, entry, text from msg";

/// Messages by their numbers.
pub(crate) struct Messages<'a>(CachedStatement<'a>);

impl<'a> Messages<'a> {
    pub(crate) fn new(connection: &'a Connection) -> Result<Self> {
        Ok(Messages(connection.prepare_cached(&format!("{MESSAGE} where id = ?"))?))
    }

    /// Looks at the message with this number; nothing when there is none.
    pub(crate) fn look<T>(
        &mut self,
        id: i64,
        look: impl FnOnce(&MessageRow<'_>) -> Result<Option<T>>,
    ) -> Result<Option<T>> {
        let mut rows = self.0.query([id])?;
        rows.next()?.map_or(Ok(None), |row| look(&MessageRow(row)))
    }
}

/// Looks at a session's message at a place; nothing when there is none.
pub(crate) fn at_place<T>(
    connection: &Connection,
    session: i64,
    seq: i64,
    look: impl FnOnce(&MessageRow<'_>) -> Result<Option<T>>,
) -> Result<Option<T>> {
    let mut select = connection.prepare_cached(&format!("{MESSAGE} where session = ? and seq = ?"))?;
    let mut rows = select.query([session, seq])?;
    rows.next()?.map_or(Ok(None), |row| look(&MessageRow(row)))
}

/// A message's text; nothing for a copy.
pub(crate) fn text(connection: &Connection, id: i64) -> Result<Option<String>> {
    Ok(connection.prepare_cached("select text from msg where id = ?")?.query_row([id], |row| row.get(0))?)
}

/// The highest number of a message, 0 where there is none.
pub(crate) fn last(connection: &Connection) -> Result<i64> {
    Ok(connection.prepare_cached("select coalesce(max(id), 0) from msg")?.query_row((), |row| row.get(0))?)
}

/// Time and role of as many messages, spread evenly.
pub(crate) fn sample(connection: &Connection, count: i64) -> Result<Vec<(i64, i64)>> {
    let last = last(connection)?;
    let mut select = connection.prepare_cached("select ts, role from msg where id > ? order by id limit 1")?;
    let mut rows = Vec::new();
    for number in 0..count {
        rows.extend(select.query_row([last * number / count], |row| Ok((row.get(0)?, row.get(1)?))).optional()?);
    }
    Ok(rows)
}

/// The sessions that hold a copy of a message.
pub(crate) fn copies(connection: &Connection, id: i64) -> Result<Vec<i64>> {
    let mut select = connection.prepare_cached("select session from msg where origin = ?")?;
    Ok(select.query_map([id], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?)
}

/// Tells of each copy in a session its place, its entry id and the message that has its text.
pub(crate) fn each_copy_in(
    connection: &Connection,
    session: i64,
    mut tell: impl FnMut(i64, Option<&str>, i64),
) -> Result<()> {
    let mut select =
        connection.prepare_cached("select seq, entry, origin from msg where session = ? and origin is not null")?;
    let mut rows = select.query([session])?;
    while let Some(row) = rows.next()? {
        tell(row.get(0)?, row.get_ref(1)?.as_str_or_null().unwrap_or_default(), row.get(2)?);
    }
    Ok(())
}

/// Where a message or a copy of it stands.
pub(crate) struct Standing {
    pub(crate) id: i64,
    pub(crate) session: i64,
    pub(crate) seq: i64,
    pub(crate) entry: Option<String>,
    pub(crate) project: i64,
}

/// Where a message and its copies stand, the session that began first first.
pub(crate) fn standings(connection: &Connection, id: i64) -> Result<Vec<Standing>> {
    let mut select = connection.prepare_cached(
        "select msg.id, session, seq, entry, project from msg join session on session.id = msg.session
         where msg.id in (select ?1 union all select id from msg where origin = ?1)
         order by started_at, msg.id",
    )?;
    let standing = |row: &Row<'_>| {
        Ok(Standing {
            id: row.get(0)?,
            session: row.get(1)?,
            seq: row.get(2)?,
            entry: row.get(3)?,
            project: row.get(4)?,
        })
    };
    Ok(select.query_map([id], standing)?.collect::<rusqlite::Result<_>>()?)
}

/// Every session and its project.
pub(crate) fn sessions(connection: &Connection) -> Result<Vec<(i64, i64)>> {
    let mut select = connection.prepare_cached("select id, project from session")?;
    Ok(select.query_map((), |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<rusqlite::Result<_>>()?)
}

/// When something was said last, unix milliseconds; 0 where nothing was.
pub(crate) fn newest(connection: &Connection) -> Result<i64> {
    Ok(connection
        .prepare_cached("select coalesce(max(last_at), 0) from session where messages > 0")?
        .query_row((), |row| row.get(0))?)
}

/// How many messages and sessions there are, of these projects and sessions where some are given, and when the first of
/// them began.
pub(crate) fn extent(
    connection: &Connection,
    projects: Option<&[i64]>,
    sessions: Option<&[i64]>,
) -> Result<(u64, u64, Option<i64>)> {
    let only = |numbers: Option<&[i64]>, column: &str| {
        numbers.map_or(String::new(), |numbers| {
            let numbers: Vec<String> = numbers.iter().map(i64::to_string).collect();
            format!(" and {column} in ({})", numbers.join(", "))
        })
    };
    let sql = format!(
        "select coalesce(sum(messages), 0), count(*), min(nullif(started_at, 0)) from session where messages > 0{}{}",
        only(projects, "project"),
        only(sessions, "id")
    );
    Ok(connection.prepare_cached(&sql)?.query_row((), |row| {
        Ok((row.get::<_, i64>(0)?.unsigned_abs(), row.get::<_, i64>(1)?.unsigned_abs(), row.get(2)?))
    })?)
}
