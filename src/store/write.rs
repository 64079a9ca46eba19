//! One way in: an entry becomes a message row, its terms and its session's counts, once, whatever path it comes by.

use std::num::NonZeroUsize;

use lru::LruCache;
use rusqlite::{Connection, OptionalExtension, named_params};
use sha1::{Digest, Sha1};

use super::{Store, UPKEEP, index, rebuild, schema, session, silence};
use crate::error::{Error, Kind, Result};
use crate::message::{Body, Entry, Kept, Role};

/// What [`Store::capture`] did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Captured {
    /// This call stored a message.
    pub stored: bool,
    /// The message's id; `None` when nothing is kept.
    pub id: Option<i64>,
}

/// The calls behind tool errors captured lately, which share role, time and often text: the n-th call is the n-th row.
pub(super) struct Calls(LruCache<(i64, i64), Vec<String>>);

impl Default for Calls {
    fn default() -> Self {
        Calls(LruCache::new(NonZeroUsize::MIN.saturating_add(255)))
    }
}

impl Calls {
    /// The place of `call` among the equals of its key.
    fn nth(&mut self, key: (i64, i64), call: &str) -> usize {
        let calls = self.0.get_or_insert_mut(key, Vec::new);
        calls.iter().position(|known| known == call).unwrap_or_else(|| {
            calls.push(call.to_owned());
            calls.len() - 1
        })
    }
}

impl Store {
    /// Stores one entry at once, in one transaction. When another process holds the store for too long, the
    /// background stores it a little later, and failing that the session file's tail does.
    pub fn capture(&self, session: &str, entry: &Entry) -> Result<Captured> {
        if session.is_empty() {
            return Err(Error::new(Kind::InvalidArgument, "the session id is empty; give pi's session id"));
        }
        // Most entries are results of tools that succeeded: what keeps nothing needs no transaction.
        if matches!(entry.body, Body::Nothing(_) | Body::Unknown(_)) {
            return Ok(Captured::default());
        }
        let terms = match &entry.body {
            Body::Kept(kept) => Some(crate::text::terms::index_terms(&kept.text)),
            _ => None,
        };
        match self.writing(|connection| self.take_in(connection, session, entry, terms.as_deref())) {
            Err(error) if error.kind() == Kind::Busy => {
                super::lock(&self.late).push((session.to_owned(), entry.clone()));
                self.upkeep.note(&self.me);
                Ok(Captured::default())
            }
            other => other,
        }
    }

    /// Stores the captures that found the store locked.
    pub(super) fn capture_late(&self) -> Result<()> {
        loop {
            let Some((session, entry)) = super::lock(&self.late).first().cloned() else { return Ok(()) };
            self.on_back(UPKEEP, |connection| {
                self.slot(connection, |connection, _| self.take_in(connection, &session, &entry, None))
            })?;
            // Only now: what could not be stored stays for the next time.
            super::lock(&self.late).remove(0);
        }
    }

    /// What an entry says, within the caller's transaction.
    fn take_in(&self, connection: &Connection, session: &str, entry: &Entry, terms: Option<&str>) -> Result<Captured> {
        let ts = if entry.ts == 0 { super::time::now() } else { entry.ts };
        match &entry.body {
            Body::Kept(kept) => {
                let home = Home::named(connection, session, ts)?;
                if self.is_excluded(connection, home.session)? {
                    return Ok(Captured::default());
                }
                let new = New { terms, ..New::of(entry.id.as_deref(), ts, kept, entry.id.is_some()) };
                return self.capture_one(connection, &home, &new);
            }
            Body::Header(header) => {
                let session = session::Session {
                    id: session.to_owned(),
                    cwd: header.cwd.clone(),
                    started_at: header.started_at,
                    name: header.name.clone(),
                    parent_file: header.parent_file.clone(),
                    ..session::Session::default()
                };
                session::begin(connection, &session, ts)?;
            }
            Body::Name(name) => {
                let number = session::number(connection, session, ts)?;
                session::rename(connection, number, session, name.as_deref(), ts)?;
            }
            Body::Nothing(_) | Body::Unknown(_) => {}
        }
        Ok(Captured::default())
    }

    fn capture_one(&self, connection: &Connection, home: &Home<'_>, new: &New<'_>) -> Result<Captured> {
        let nth = match (&new.entry, &new.kept.call) {
            (None, Some(call)) => super::lock(&self.calls).nth((home.session, new.hash), call),
            _ => 0,
        };
        match find(connection, home, new, 0, nth)? {
            Found::Row(row) => {
                if claim(connection, home.session, &row, new)? {
                    session::recount(connection, home.session)?;
                }
                Ok(Captured { stored: false, id: Some(row.id) })
            }
            Found::Unwanted => Ok(Captured::default()),
            Found::New => {
                let seq = last_seq(connection, home.session)? + 1;
                let id = insert(connection, home, seq, None, new)?;
                session::count_added(connection, home.session, 1, new.ts, session::opening(new.kept).as_deref())?;
                Ok(Captured { stored: true, id: Some(id) })
            }
        }
    }

    /// True when the person keeps this session's folder out of the store.
    pub(super) fn is_excluded(&self, connection: &Connection, session: i64) -> Result<bool> {
        if self.excluded.is_empty() {
            return Ok(false);
        }
        let cwd: String = connection
            .prepare_cached("select p.cwd from session s join project p on p.id = s.project where s.id = ?1")?
            .query_row([session], |row| row.get(0))?;
        Ok(self.excluded.covers(&cwd))
    }
}

/// The session a message goes into: its number, pi's id for it, and its project's number.
pub(super) struct Home<'a> {
    pub(super) session: i64,
    pub(super) key: &'a str,
    project: i64,
}

impl<'a> Home<'a> {
    pub(super) fn of(connection: &Connection, key: &'a str, session: i64) -> Result<Home<'a>> {
        Ok(Home { session, key, project: project_of(connection, session)? })
    }

    /// The session of that key; one that nobody named yet is created.
    fn named(connection: &Connection, key: &'a str, started_at: i64) -> Result<Home<'a>> {
        let known = connection
            .prepare_cached("select id, project from session where key = ?1")?
            .query_row([key], |row| Ok(Home { key, session: row.get(0)?, project: row.get(1)? }))
            .optional()?;
        match known {
            Some(home) => Ok(home),
            None => Home::of(connection, key, session::number(connection, key, started_at)?),
        }
    }
}

/// A message on its way into a session.
pub(super) struct New<'a> {
    pub(super) entry: Option<&'a str>,
    pub(super) ts: i64,
    pub(super) kept: &'a Kept,
    pub(super) hash: i64,
    /// pi's file says so: it corrects a row that came from an event.
    pub(super) from_file: bool,
    /// Its terms, when they were cut ahead.
    pub(super) terms: Option<&'a str>,
}

impl<'a> New<'a> {
    pub(super) fn of(entry: Option<&'a str>, ts: i64, kept: &'a Kept, from_file: bool) -> New<'a> {
        New { entry, ts, kept, hash: content_hash(kept.role, ts, &kept.text), from_file, terms: None }
    }

    fn flags(&self) -> i64 {
        i64::from(self.kept.truncated) * schema::TRUNCATED + i64::from(self.kept.private) * schema::PRIVATE
    }
}

/// A row that stands for an entry.
pub(super) struct Row {
    pub(super) id: i64,
    pub(super) seq: i64,
    pub(super) parent: Option<i64>,
    entry: Option<String>,
    /// It was found by role and time alone: the file's text replaces it.
    rewritten: bool,
}

/// A message's identity before pi's entry id is known. The design note's key is
/// `sha1(session ":" role ":" timestamp ":" sha1(text))`, its first 16 hex digits; the session is a column of its own
/// here, so that the same digits find a message's copies in other sessions.
pub(super) fn content_hash(role: Role, ts: i64, text: &str) -> i64 {
    let text = Sha1::digest(text);
    digits(&[role.as_str().as_bytes(), b":", ts.to_string().as_bytes(), b":", &text])
}

/// What is remembered of a forgotten message when its text may come back in another wording.
pub(super) fn slot_hash(session: &str, role: Role, ts: i64) -> i64 {
    digits(&[b"slot:", session.as_bytes(), b":", role.as_str().as_bytes(), b":", ts.to_string().as_bytes()])
}

/// The first 16 hex digits of the SHA-1 of all parts, as a number.
pub(crate) fn digits(parts: &[&[u8]]) -> i64 {
    let mut sha = Sha1::new();
    for part in parts {
        sha.update(part);
    }
    let digest: [u8; 20] = sha.finalize().into();
    let [a, b, c, d, e, f, g, h, ..] = digest;
    i64::from_be_bytes([a, b, c, d, e, f, g, h])
}

/// What the store already has of a message.
pub(super) enum Found {
    Row(Row),
    /// It was forgotten, or said while memory was paused.
    Unwanted,
    New,
}

/// Looks for the row that stands for this message among those after `placed`: by pi's entry id, else by content, else
/// (for what pi's file says) the next row without entry id of the same role and time, whose text the entry corrects.
/// The index is named, here and below: SQLite would rather walk the whole session, which is in order already.
pub(super) fn find(connection: &Connection, home: &Home<'_>, new: &New<'_>, placed: i64, nth: usize) -> Result<Found> {
    let session = home.session;
    let mut equals: Vec<Row> = connection
        .prepare_cached(
            "select id, seq, parent, entry from msg indexed by msg_hash
             where hash = ?1 and session = ?2 and seq > ?3 order by seq",
        )?
        .query_map((new.hash, session, placed), |row| {
            Ok(Row { id: row.get(0)?, seq: row.get(1)?, parent: row.get(2)?, entry: row.get(3)?, rewritten: false })
        })?
        .collect::<rusqlite::Result<_>>()?;
    let at = match new.entry {
        None => (equals.len() > nth).then_some(nth),
        Some(entry) => equals
            .iter()
            .position(|row| row.entry.as_deref() == Some(entry))
            .or_else(|| equals.iter().position(|row| row.entry.is_none())),
    };
    if let Some(at) = at {
        return Ok(Found::Row(equals.swap_remove(at)));
    }
    if is_unwanted(connection, home.key, new)? {
        return Ok(Found::Unwanted);
    }
    let row = if new.from_file { unclaimed(connection, session, new.kept.role, new.ts, placed)? } else { None };
    Ok(row.map_or(Found::New, Found::Row))
}

/// The first row of that role and time whose entry id is not known yet.
pub(super) fn unclaimed(
    connection: &Connection,
    session: i64,
    role: Role,
    ts: i64,
    placed: i64,
) -> Result<Option<Row>> {
    Ok(connection
        .prepare_cached(
            "select id, seq, parent from msg indexed by msg_unclaimed
             where session = ?1 and role = ?2 and ts = ?3 and entry is null and seq > ?4 order by seq limit 1",
        )?
        .query_row((session, role.code(), ts, placed), |row| {
            Ok(Row { id: row.get(0)?, seq: row.get(1)?, parent: row.get(2)?, entry: None, rewritten: true })
        })
        .optional()?)
}

/// What [`find`] would say where no row is left that could stand for a message.
pub(super) fn find_none(connection: &Connection, home: &Home<'_>, new: &New<'_>) -> Result<Found> {
    Ok(if is_unwanted(connection, home.key, new)? { Found::Unwanted } else { Found::New })
}

/// True when the message was forgotten or belongs to a silence.
fn is_unwanted(connection: &Connection, key: &str, new: &New<'_>) -> Result<bool> {
    let slot = slot_hash(key, new.kept.role, new.ts);
    Ok(connection
        .prepare_cached(&format!(
            "select exists (select 1 from forgotten where hash in (?3, ?4)) or exists ({})",
            silence::COVERING
        ))?
        .query_row((key, new.ts, new.hash, slot), |row| row.get(0))?)
}

/// Gives a row what the entry knows better: pi's entry id, and the file's text. True when the text changed.
pub(super) fn claim(connection: &Connection, session: i64, row: &Row, new: &New<'_>) -> Result<bool> {
    if row.rewritten {
        unindex(connection, row.id)?;
        connection
            .prepare_cached("update msg set entry = ?2, hash = ?3, flags = ?4, text = ?5 where id = ?1")?
            .execute((row.id, new.entry, new.hash, new.flags(), &new.kept.text))?;
        index_row(connection, row.id)?;
    } else if row.entry.is_none() && new.entry.is_some() {
        connection.prepare_cached("update msg set entry = ?2 where id = ?1")?.execute((row.id, new.entry))?;
    } else {
        return Ok(false);
    }
    if let Some(origin) = origin(connection, session, new)? {
        // A fork of this message was read before its entry id was known here: from now on they share one text.
        unindex(connection, row.id)?;
        unindex(connection, origin)?;
        connection
            .prepare_cached("update msg set origin = ?2, text = null where id = ?1")?
            .execute((row.id, origin))?;
        index_row(connection, origin)?;
    }
    Ok(row.rewritten)
}

/// The row that holds the text of a message copied from another session.
fn origin(connection: &Connection, session: i64, new: &New<'_>) -> Result<Option<i64>> {
    let Some(entry) = new.entry else { return Ok(None) };
    Ok(connection
        .prepare_cached(
            "select coalesce(origin, id) from msg where hash = ?1 and entry = ?2 and session <> ?3 limit 1",
        )?
        .query_row((new.hash, entry, session), |row| row.get(0))
        .optional()?)
}

/// Adds a row and its terms.
pub(super) fn insert(
    connection: &Connection,
    home: &Home<'_>,
    seq: i64,
    parent: Option<i64>,
    new: &New<'_>,
) -> Result<i64> {
    let session = home.session;
    let origin = origin(connection, session, new)?;
    if let Some(origin) = origin {
        unindex(connection, origin)?;
    }
    connection
        .prepare_cached(
            "insert into msg (session, seq, ts, role, flags, entry, parent, origin, hash, text)
             values (:session, :seq, :ts, :role, :flags, :entry, :parent, :origin, :hash, :text)",
        )?
        .execute(named_params! {
            ":session": session, ":seq": seq, ":ts": new.ts, ":role": new.kept.role.code(), ":flags": new.flags(),
            ":entry": new.entry, ":parent": parent, ":origin": origin, ":hash": new.hash,
            ":text": origin.is_none().then_some(&new.kept.text),
        })?;
    let id = connection.last_insert_rowid();
    match origin {
        Some(origin) => index_row(connection, origin)?,
        None => {
            let doc = index::Doc {
                text: &new.kept.text,
                terms: new.terms,
                role: new.kept.role,
                ts: new.ts,
                sessions: &[session],
                projects: &[home.project],
            };
            index::add(connection, id, &doc)?;
        }
    }
    Ok(id)
}

/// Removes a row and its terms; the caller counts the session again.
pub(super) fn remove(connection: &Connection, id: i64) -> Result<()> {
    unindex(connection, id)?;
    connection.prepare_cached("delete from msg where id = ?1")?.execute([id])?;
    Ok(())
}

fn last_seq(connection: &Connection, session: i64) -> Result<i64> {
    Ok(connection
        .prepare_cached("select coalesce(max(seq), 0) from msg where session = ?1")?
        .query_row([session], |row| row.get(0))?)
}

fn project_of(connection: &Connection, session: i64) -> Result<i64> {
    Ok(connection
        .prepare_cached("select project from session where id = ?1")?
        .query_row([session], |row| row.get(0))?)
}

/// A row's document as the index has it: its text under the sessions and projects of all its copies.
struct Indexed {
    text: String,
    role: Role,
    ts: i64,
    sessions: Vec<i64>,
    projects: Vec<i64>,
}

impl Indexed {
    /// `None` for a copy, whose origin is indexed in its place.
    fn load(connection: &Connection, id: i64) -> Result<Option<Indexed>> {
        let row = connection
            .prepare_cached("select text, role, ts, session from msg where id = ?1 and origin is null")?
            .query_row([id], |row| {
                Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?, row.get(2)?, row.get::<_, i64>(3)?))
            })
            .optional()?;
        let Some((text, role, ts, own)) = row else { return Ok(None) };
        let mut sessions = vec![own];
        let mut copies = connection.prepare_cached("select session from msg where origin = ?1")?;
        for copy in copies.query_map([id], |row| row.get::<_, i64>(0))? {
            sessions.push(copy?);
        }
        let mut indexed = Indexed { text, role: Role::from_code(role), ts, sessions, projects: Vec::new() };
        indexed.locate(connection)?;
        Ok(Some(indexed))
    }

    /// Puts sessions and projects in order, each once: removing a document wants the very terms it was added with.
    fn locate(&mut self, connection: &Connection) -> Result<()> {
        self.sessions.sort_unstable();
        self.sessions.dedup();
        self.projects =
            self.sessions.iter().map(|session| project_of(connection, *session)).collect::<Result<Vec<_>>>()?;
        self.projects.sort_unstable();
        self.projects.dedup();
        Ok(())
    }

    fn doc(&self) -> index::Doc<'_> {
        let Indexed { text, role, ts, sessions, projects } = self;
        index::Doc { text, terms: None, role: *role, ts: *ts, sessions, projects }
    }
}

/// Takes a row's terms out of the index, where they are in it.
pub(super) fn unindex(connection: &Connection, id: i64) -> Result<()> {
    if id <= rebuild::unindexed(connection)? {
        return Ok(());
    }
    if let Some(indexed) = Indexed::load(connection, id)? {
        index::remove(connection, id, &indexed.doc())?;
    }
    Ok(())
}

/// Puts a row's terms into the index, unless a rebuild is still to come to it.
pub(super) fn index_row(connection: &Connection, id: i64) -> Result<()> {
    if id <= rebuild::unindexed(connection)? {
        return Ok(());
    }
    add_terms(connection, id)
}

/// Puts a row's terms into the index.
pub(super) fn add_terms(connection: &Connection, id: i64) -> Result<()> {
    if let Some(indexed) = Indexed::load(connection, id)? {
        index::add(connection, id, &indexed.doc())?;
    }
    Ok(())
}

/// Takes a whole session's terms out of the index, before what they say of it changes.
pub(super) fn unindex_session(connection: &Connection, session: i64) -> Result<()> {
    each_text_of(connection, session, unindex)
}

/// Puts a whole session's terms back.
pub(super) fn index_session(connection: &Connection, session: i64) -> Result<()> {
    each_text_of(connection, session, index_row)
}

fn each_text_of(connection: &Connection, session: i64, act: fn(&Connection, i64) -> Result<()>) -> Result<()> {
    let mut statement =
        connection.prepare_cached("select distinct coalesce(origin, id) from msg where session = ?1")?;
    let ids: Vec<i64> = statement.query_map([session], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    ids.into_iter().try_for_each(|id| act(connection, id))
}
