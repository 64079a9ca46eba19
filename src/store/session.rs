//! Sessions and the projects they belong to.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, OptionalExtension, Row, named_params};

use super::folders::{bare_name, expand_home};
use super::{Store, silence, time};
use crate::error::{Error, Kind, Result};
use crate::message::{Kept, Role};
use crate::text::{fold::fold, pinyin::sounds_like};

/// Characters of a session's first user message that lists show.
const OPENING: usize = 200;

/// What is known of a session: pi's header and name entries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Session {
    /// pi's session id.
    pub id: String,
    /// The folder it was started in.
    pub cwd: String,
    /// Unix milliseconds.
    pub started_at: i64,
    /// The name the person gave it.
    pub name: Option<String>,
    /// Absolute path of pi's file.
    pub file: Option<String>,
    /// The file this session was forked from.
    pub parent_file: Option<String>,
    /// The session this one was forked from.
    pub parent: Option<String>,
}

/// A session that holds messages, as lists show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionSummary {
    /// The session's number inside the store.
    pub number: i64,
    /// What pi's file says of it.
    pub session: Session,
    /// The folder's bare name.
    pub project: String,
    /// When its latest message was said, unix milliseconds.
    pub last_at: i64,
    /// How many messages it holds.
    pub messages: i64,
    /// The first words the user said.
    pub opening: String,
}

/// A folder pi was used in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Project {
    /// The folder's bare name.
    pub project: String,
    /// The folder.
    pub cwd: String,
    /// Sessions in it that hold messages.
    pub sessions: i64,
    /// When the latest message of one was said, unix milliseconds.
    pub last_at: i64,
}

impl Store {
    /// Says what is known of a session, again when more becomes known. What is not said stays as it was.
    pub fn begin(&self, session: &Session) -> Result<()> {
        if session.id.is_empty() {
            return Err(Error::new(Kind::InvalidArgument, "session.id is empty; give pi's session id"));
        }
        self.writing(|connection| begin(connection, session, time::now()).map(drop))
    }

    /// The sessions last active, newest first; `query` narrows by name, opening and project, and by the sound of Han in
    /// names and projects.
    pub fn sessions(
        &self,
        limit: usize,
        offset: usize,
        project: Option<&str>,
        query: Option<&str>,
    ) -> Result<Vec<SessionSummary>> {
        self.reading(|connection| {
            let projects = project.map(|project| resolve_project(connection, project)).transpose()?;
            let words = words(query);
            let mut statement = connection
                .prepare_cached(&format!("{SUMMARY} where s.messages > 0 order by s.last_at desc, s.id desc"))?;
            let mut rows = statement.query([])?;
            let (mut passed, mut found) = (0, Vec::new());
            while found.len() < limit
                && let Some(row) = rows.next()?
            {
                if let Some(projects) = &projects
                    && !projects.contains(&row.get("project_id")?)
                {
                    continue;
                }
                let summary = summary(row)?;
                if !words.is_empty() {
                    let name = summary.session.name.as_deref().unwrap_or_default();
                    let called = format!("{name}\n{}", summary.project);
                    let text = fold(&format!("{name}\n{}\n{}", summary.opening, summary.session.cwd));
                    if !words.iter().all(|word| text.contains(word) || sounds_like(&called, word)) {
                        continue;
                    }
                }
                if passed < offset {
                    passed += 1;
                } else {
                    found.push(summary);
                }
            }
            Ok(found)
        })
    }

    /// Every folder pi was used in, the last used first; `query` narrows by folder, and by the sound of Han in its name.
    pub fn projects(&self, query: Option<&str>) -> Result<Vec<Project>> {
        self.reading(|connection| {
            let words = words(query);
            let mut statement = connection.prepare_cached(
                "select p.name, p.cwd, count(*), max(s.last_at)
                 from session s join project p on p.id = s.project
                 where s.messages > 0 group by p.id order by max(s.last_at) desc",
            )?;
            let rows = statement.query_map([], |row| {
                Ok(Project { project: row.get(0)?, cwd: row.get(1)?, sessions: row.get(2)?, last_at: row.get(3)? })
            })?;
            let mut projects = rows.collect::<rusqlite::Result<Vec<Project>>>()?;
            if !words.is_empty() {
                projects.retain(|one| {
                    let cwd = fold(&one.cwd);
                    words.iter().all(|word| cwd.contains(word) || sounds_like(&one.project, word))
                });
            }
            Ok(projects)
        })
    }

    /// The folders that hold the files of known sessions.
    pub fn session_folders(&self) -> Result<Vec<PathBuf>> {
        self.in_background(|connection| {
            let mut statement = connection.prepare("select file from session where file is not null")?;
            let mut folders = Vec::new();
            for file in statement.query_map([], |row| row.get::<_, String>(0))? {
                if let Some(folder) = Path::new(&file?).parent()
                    && !folders.iter().any(|known| known == folder)
                {
                    folders.push(folder.to_owned());
                }
            }
            Ok(folders)
        })
    }

    /// The session of that id, or of that unambiguous prefix.
    pub fn session(&self, id: &str) -> Result<SessionSummary> {
        self.reading(|connection| {
            let number = resolve(connection, id)?;
            summary_of(connection, number)
        })
    }
}

/// The folded words of a list's query.
fn words(query: Option<&str>) -> Vec<String> {
    query.map(|query| fold(query).split_whitespace().map(str::to_owned).collect()).unwrap_or_default()
}

/// The session a fork came from: named, or the one whose file is named.
const PARENT: &str =
    "coalesce(:parent, (select key from session where :parent_file is not null and file = :parent_file))";

/// Creates or completes the session's row, and returns its number. Its name was given at `named_at`, about.
pub(super) fn begin(connection: &Connection, session: &Session, named_at: i64) -> Result<i64> {
    let mut name = session.name.as_deref();
    if name.is_some() && silence::covers(connection, &session.id, named_at)? {
        name = None;
    }
    let known = connection
        .prepare_cached("select s.id, p.cwd from session s join project p on p.id = s.project where s.key = ?1")?
        .query_row([&session.id], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?)))
        .optional()?;
    let cwd = match &known {
        Some((_, cwd)) if session.cwd.is_empty() => cwd.clone(),
        _ => session.cwd.clone(),
    };
    let project = project(connection, &cwd)?;
    let moved = known.as_ref().is_some_and(|(_, before)| *before != cwd);
    if moved && let Some((number, _)) = &known {
        super::write::unindex_session(connection, *number)?;
    }
    // Not one statement with `on conflict`: SQLite opens a savepoint for that, at which FTS5 writes out all it holds.
    let number = match known {
        Some((number, _)) => {
            connection
                .prepare_cached(&format!(
                    "update session set
                         project     = :project,
                         started_at  = case when :started_at > 0 then :started_at else started_at end,
                         name        = coalesce(:name, name),
                         file        = coalesce(:file, file),
                         parent_file = coalesce(:parent_file, parent_file),
                         parent      = coalesce({PARENT}, parent)
                     where id = :id"
                ))?
                .execute(named_params! {
                    ":id": number, ":project": project, ":started_at": session.started_at, ":name": name,
                    ":file": session.file, ":parent_file": session.parent_file, ":parent": session.parent,
                })?;
            number
        }
        None => {
            connection
                .prepare_cached(&format!(
                    "insert into session (key, project, started_at, name, file, parent_file, parent)
                     values (:key, :project, :started_at, :name, :file, :parent_file, {PARENT})"
                ))?
                .execute(named_params! {
                    ":key": session.id, ":project": project, ":started_at": session.started_at,
                    ":name": name, ":file": session.file, ":parent_file": session.parent_file,
                    ":parent": session.parent,
                })?;
            connection.last_insert_rowid()
        }
    };
    if moved {
        super::write::index_session(connection, number)?;
    }
    Ok(number)
}

/// What a session file says of its session. A file known before keeps being the session's while it is there: a copy of
/// it elsewhere must not take its place.
pub(super) fn begin_from_file(connection: &Connection, session: &Session) -> Result<i64> {
    let known: Option<String> = connection
        .prepare_cached("select file from session where key = ?1 and file is not null")?
        .query_row([&session.id], |row| row.get(0))
        .optional()?;
    let mut session = session.clone();
    if known.is_some_and(|known| Path::new(&known).is_file()) {
        session.file = None;
    }
    begin(connection, &session, session.started_at)
}

/// Gives the session, `key` by pi's id, a new name or none, unless nothing is kept of the time `ts` at which it was given.
pub(super) fn rename(connection: &Connection, number: i64, key: &str, name: Option<&str>, ts: i64) -> Result<()> {
    if name.is_none() || !silence::covers(connection, key, ts)? {
        connection.prepare_cached("update session set name = ?2 where id = ?1")?.execute((number, name))?;
    }
    Ok(())
}

/// The session's number; one that nobody named yet is created.
pub(super) fn number(connection: &Connection, key: &str, started_at: i64) -> Result<i64> {
    let known = connection
        .prepare_cached("select id from session where key = ?1")?
        .query_row([key], |row| row.get(0))
        .optional()?;
    match known {
        Some(number) => Ok(number),
        None => begin(connection, &Session { id: key.to_owned(), started_at, ..Session::default() }, started_at),
    }
}

fn project(connection: &Connection, cwd: &str) -> Result<i64> {
    let known = connection
        .prepare_cached("select id from project where cwd = ?1")?
        .query_row([cwd], |row| row.get(0))
        .optional()?;
    if let Some(id) = known {
        return Ok(id);
    }
    connection.prepare_cached("insert into project (cwd, name) values (?1, ?2)")?.execute((cwd, bare_name(cwd)))?;
    Ok(connection.last_insert_rowid())
}

/// The numbers of the projects meant: an absolute folder, one with `~`, or a bare name that several may share.
pub(super) fn resolve_project(connection: &Connection, project: &str) -> Result<Vec<i64>> {
    let path = expand_home(Path::new(project));
    let column = if path.is_absolute() || project.contains(['/', '\\']) { "cwd" } else { "name" };
    let trimmed = path.to_string_lossy();
    let trimmed = match trimmed.trim_end_matches(['/', '\\']) {
        "" => &*trimmed,
        some => some,
    };
    let mut statement = connection.prepare_cached(&format!("select id from project where {column} = ?1"))?;
    let rows = statement.query_map([trimmed], |row| row.get(0))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// The number of the session with that id or unambiguous prefix.
pub(super) fn resolve(connection: &Connection, id: &str) -> Result<i64> {
    let unknown = || {
        Error::new(Kind::NotFound, format!("no session {id:?} in the memory store; take an id that a search returned"))
    };
    if id.is_empty() {
        return Err(unknown());
    }
    let mut statement = connection.prepare_cached(
        "select id, key, started_at, coalesce(name, opening, '') from session
         where key >= ?1 and substr(key, 1, length(?1)) = ?1 order by key = ?1 desc, last_at desc limit 6",
    )?;
    let found: Vec<(i64, String, i64, String)> = statement
        .query_map([id], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))?
        .collect::<rusqlite::Result<_>>()?;
    match found.as_slice() {
        [] => Err(unknown()),
        [(number, ..)] => Ok(*number),
        [(number, key, ..), ..] if key == id => Ok(*number),
        several => {
            let candidates: Vec<String> = several
                .iter()
                .map(|(_, key, at, title)| {
                    let title: String = title.chars().take(40).collect();
                    format!("{key} ({}, {title:?})", time::local_minute(*at))
                })
                .collect();
            Err(Error::new(
                Kind::Ambiguous,
                format!("{id:?} begins several session ids: {}; give more of the id", candidates.join(", ")),
            ))
        }
    }
}

const SUMMARY: &str = "
    select s.id, s.key, s.started_at, s.last_at, s.messages, s.name, s.file, s.parent_file, s.parent, s.opening,
           s.project as project_id, p.cwd, p.name as project
    from session s join project p on p.id = s.project";

fn summary(row: &Row<'_>) -> rusqlite::Result<SessionSummary> {
    Ok(SessionSummary {
        number: row.get("id")?,
        project: row.get("project")?,
        last_at: row.get("last_at")?,
        messages: row.get("messages")?,
        opening: row.get::<_, Option<String>>("opening")?.unwrap_or_default(),
        session: Session {
            id: row.get("key")?,
            cwd: row.get("cwd")?,
            started_at: row.get("started_at")?,
            name: row.get("name")?,
            file: row.get("file")?,
            parent_file: row.get("parent_file")?,
            parent: row.get("parent")?,
        },
    })
}

pub(super) fn summary_of(connection: &Connection, number: i64) -> Result<SessionSummary> {
    Ok(connection.prepare_cached(&format!("{SUMMARY} where s.id = ?1"))?.query_row([number], summary)?)
}

/// What a session opens with when this is the first the user says in it.
pub(super) fn opening(kept: &Kept) -> Option<String> {
    (kept.role == Role::User).then(|| kept.text.chars().take(OPENING).collect())
}

/// Counts messages that were added to the session, `last_at` being the latest of their times.
pub(super) fn count_added(
    connection: &Connection,
    number: i64,
    added: i64,
    last_at: i64,
    opening: Option<&str>,
) -> Result<()> {
    connection
        .prepare_cached(
            "update session set messages = messages + ?2, last_at = max(last_at, ?3), opening = coalesce(opening, ?4)
             where id = ?1",
        )?
        .execute((number, added, last_at, opening))?;
    Ok(())
}

/// Counts the session's messages again, after rows went or changed their places.
pub(super) fn recount(connection: &Connection, number: i64) -> Result<()> {
    connection
        .prepare_cached(
            "update session set
                 messages = (select count(*) from msg where session = ?1),
                 last_at  = coalesce((select max(ts) from msg where session = ?1), 0),
                 opening  = (select substr(coalesce(m.text, o.text), 1, ?2)
                             from msg m left join msg o on o.id = m.origin
                             where m.session = ?1 and m.role = 0 order by m.seq limit 1)
             where id = ?1",
        )?
        .execute((number, OPENING as i64))?;
    Ok(())
}
