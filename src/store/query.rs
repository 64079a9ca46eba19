//! One way out: a query with the names people use, answered by [`crate::search`] with the names they know.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use rusqlite::{Connection, OptionalExtension};

use super::session::{self, SessionSummary};
use super::{Store, lock, rebuild};
use crate::error::Result;
use crate::message::Role;
use crate::search::{self, Tier};

/// What to search, by name. See `index.d.ts` for each field.
#[derive(Clone, Debug, Default)]
pub struct Query {
    pub limit: usize,
    pub offset: usize,
    pub project: Option<String>,
    pub session: Option<String>,
    pub exclude: Vec<Exclusion>,
    pub role: Option<Role>,
    /// Half-open, unix milliseconds.
    pub since: Option<i64>,
    pub until: Option<i64>,
    pub for_model: bool,
    pub by_session: bool,
}

/// What to leave out, with its copies in other sessions.
#[derive(Clone, Debug)]
pub enum Exclusion {
    Session(String),
    /// From this `seq` on.
    From(String, i64),
    /// These entries, and the session's messages whose entry id is not known yet.
    Entries(String, Vec<String>),
}

/// A message that answers a query.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    pub id: i64,
    pub session: String,
    pub seq: i64,
    pub entry: Option<String>,
    pub ts: i64,
    pub role: Role,
    pub score: f64,
    pub snippet: String,
    pub marks: Vec<(usize, usize)>,
    pub copies: Vec<String>,
}

/// What a search found, and how it was reached.
#[derive(Clone, Debug)]
pub struct Answer {
    pub hits: Vec<Hit>,
    /// Sessions with the number of their messages that match, best first.
    pub sessions: Vec<(SessionSummary, u64)>,
    pub tier: Tier,
    pub missing: Vec<String>,
    pub total: u64,
    pub total_is_capped: bool,
    pub complete: bool,
    pub messages: u64,
    pub searched_sessions: u64,
    pub oldest: Option<i64>,
    pub took: Duration,
}

impl Store {
    /// Ranks messages and sessions for a query.
    ///
    /// # Errors
    /// `NotFound` or `Ambiguous` for the session it is limited to.
    pub fn search(&self, query: &str, wanted: &Query) -> Result<Answer> {
        let started = Instant::now();
        self.reading(|connection| {
            let options = search::Options {
                limit: wanted.limit,
                offset: wanted.offset,
                projects: wanted
                    .project
                    .as_deref()
                    .map(|project| session::resolve_project(connection, project))
                    .transpose()?,
                sessions: wanted
                    .session
                    .as_deref()
                    .map(|id| session::resolve(connection, id).map(|number| vec![number]))
                    .transpose()?,
                exclude: exclusions(connection, &wanted.exclude)?,
                role: wanted.role,
                since: wanted.since,
                until: wanted.until,
                for_model: wanted.for_model,
                by_session: wanted.by_session,
            };
            let found = search::search(connection, &mut lock(&self.frequencies), query, &options)?;
            let mut keys = Keys::default();
            let mut hits = Vec::with_capacity(found.hits.len());
            for hit in found.hits {
                hits.push(Hit {
                    id: hit.id,
                    session: keys.of(connection, hit.session)?,
                    seq: hit.seq,
                    entry: hit.entry,
                    ts: hit.ts,
                    role: hit.role,
                    score: hit.score,
                    snippet: hit.snippet,
                    marks: hit.marks,
                    copies: hit.copies.into_iter().map(|copy| keys.of(connection, copy)).collect::<Result<_>>()?,
                });
            }
            let sessions = found
                .sessions
                .into_iter()
                .map(|(number, matches)| Ok((session::summary_of(connection, number)?, matches as u64)))
                .collect::<Result<_>>()?;
            Ok(Answer {
                hits,
                sessions,
                tier: found.tier,
                missing: found.missing,
                total: found.total as u64,
                total_is_capped: found.total_is_capped,
                // While the index is being built, older messages are not found yet.
                complete: found.complete && rebuild::unindexed(connection)? == 0,
                messages: found.searched.messages,
                searched_sessions: found.searched.sessions,
                oldest: found.searched.oldest,
                took: started.elapsed(),
            })
        })
    }
}

/// Sessions that are not in the store have nothing to leave out.
fn exclusions(connection: &Connection, exclude: &[Exclusion]) -> Result<Vec<search::Exclude>> {
    let number = |key: &str| -> Result<Option<i64>> {
        Ok(connection
            .prepare_cached("select id from session where key = ?1")?
            .query_row([key], |row| row.get(0))
            .optional()?)
    };
    let mut excluded = Vec::with_capacity(exclude.len());
    for one in exclude {
        match one {
            Exclusion::Session(key) => excluded.extend(number(key)?.map(search::Exclude::Session)),
            Exclusion::From(key, seq) => {
                excluded.extend(number(key)?.map(|session| search::Exclude::From { session, seq: *seq }));
            }
            Exclusion::Entries(key, entries) => excluded
                .extend(number(key)?.map(|session| search::Exclude::Entries { session, entries: entries.clone() })),
        }
    }
    Ok(excluded)
}

/// pi's ids of session numbers, each looked up once.
#[derive(Default)]
struct Keys(HashMap<i64, String>);

impl Keys {
    fn of(&mut self, connection: &Connection, number: i64) -> Result<String> {
        if let Some(key) = self.0.get(&number) {
            return Ok(key.clone());
        }
        let key: String = connection
            .prepare_cached("select key from session where id = ?1")?
            .query_row([number], |row| row.get(0))?;
        self.0.insert(number, key.clone());
        Ok(key)
    }
}
