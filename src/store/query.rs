//! A search as the rest of the program asks for it: projects and sessions by their names, where [`crate::search`] knows
//! numbers.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use rusqlite::{Connection, OptionalExtension};

use super::session::{self, SessionSummary};
use super::{Store, lock, rebuild};
use crate::error::Result;
use crate::message::Role;
use crate::search::{self, Tier};

/// What to search, by name.
#[derive(Clone, Debug, Default)]
pub struct Query {
    /// Messages to return; 0 is the default of 10.
    pub limit: usize,
    /// Messages to pass over first.
    pub offset: usize,
    /// Only this project: an absolute folder, one with `~`, or a bare folder name.
    pub project: Option<String>,
    /// Only this session: pi's id or an unambiguous prefix of it.
    pub session: Option<String>,
    /// What to leave out.
    pub exclude: Vec<Exclusion>,
    /// Only what this role said.
    pub role: Option<Role>,
    /// Only messages from this time on, unix milliseconds.
    pub since: Option<i64>,
    /// Only messages before this time, unix milliseconds.
    pub until: Option<i64>,
    /// Leave out what the person keeps from the model.
    pub for_model: bool,
    /// The hits are to be shown by session: a long one does not push out the others.
    pub by_session: bool,
}

/// What to leave out, with its copies in other sessions.
#[derive(Clone, Debug)]
pub enum Exclusion {
    /// A whole session, by pi's id.
    Session(String),
    /// A session's messages from this `seq` on.
    From(String, i64),
    /// A session's messages with these entry ids, and those whose entry id is not known yet.
    Entries(String, Vec<String>),
}

/// A message that answers a query.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// The message's id; it never changes.
    pub id: i64,
    /// pi's id of the session it is shown in: of those that hold it, the one that began first.
    pub session: String,
    /// Its place in that session, from 1.
    pub seq: i64,
    /// pi's entry id, when known.
    pub entry: Option<String>,
    /// Unix milliseconds.
    pub ts: i64,
    /// Who said it.
    pub role: Role,
    /// Higher is better; comparable within one answer only.
    pub score: f64,
    /// The passage that answers best, about 300 characters on one line.
    pub snippet: String,
    /// `[start, end)` pairs of UTF-16 positions in the snippet.
    pub marks: Vec<(usize, usize)>,
    /// pi's ids of the other sessions that hold a copy.
    pub copies: Vec<String>,
}

/// What a search found, and how it was reached.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Messages, best first.
    pub hits: Vec<Hit>,
    /// Sessions with the number of their messages that match, best first.
    pub sessions: Vec<(SessionSummary, u64)>,
    /// How much of the query the best hit holds.
    pub tier: Tier,
    /// Words, or single characters of unspaced scripts, that no message has.
    pub missing: Vec<String>,
    /// Matching messages, as far as they were counted.
    pub total: u64,
    /// There are more than `total`.
    pub total_is_capped: bool,
    /// False when a bound cut the search short, or the index is still being built.
    pub complete: bool,
    /// Messages that were searched.
    pub messages: u64,
    /// Sessions that were searched.
    pub searched_sessions: u64,
    /// When the first of them began, unix milliseconds.
    pub oldest: Option<i64>,
    /// How long the search took.
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
