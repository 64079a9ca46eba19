//! Ranks messages and sessions for a query.
//!
//! Candidates are fetched from the index from the query's rarest terms upwards within a budget (`anchors`), so that the
//! cost does not grow with the store; the best of them are read and scored on their text (`score`) and on the
//! conversation around them (`context`); copies count once and sessions are ranked by what they hold (`group`).

mod anchors;
mod context;
mod group;
mod score;

use rusqlite::Connection;
use rusqlite::config::DbConfig;

use crate::error::Result;
use crate::message::Role;
use crate::text::matcher::{Matcher, Matches};
use crate::text::snippet;
use crate::text::terms::Query;

pub use anchors::Frequencies;
pub use score::Weights;

/// What to search, and how much to return.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Messages to return; 0 is the default of 10.
    pub limit: usize,
    /// Messages to pass over first.
    pub offset: usize,
    /// Only these projects' messages; an empty list matches nothing.
    pub projects: Option<Vec<i64>>,
    /// Only these sessions' messages; an empty list matches nothing.
    pub sessions: Option<Vec<i64>>,
    /// What to leave out, with its copies elsewhere.
    pub exclude: Vec<Exclude>,
    /// Only this role's messages.
    pub role: Option<Role>,
    /// Only messages from this time on, unix milliseconds.
    pub since: Option<i64>,
    /// Only messages before this time, unix milliseconds.
    pub until: Option<i64>,
    /// Leave out what the person keeps from the model.
    pub for_model: bool,
}

/// Messages to leave out.
#[derive(Clone, Debug)]
pub enum Exclude {
    /// A whole session.
    Session(i64),
    /// A session's messages from a place on.
    From { session: i64, seq: i64 },
    /// A session's messages with these entry ids, and those without any.
    Entries { session: i64, entries: Vec<String> },
}

/// How much of the query the best hit holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tier {
    /// Every term.
    All,
    /// Only some.
    Some,
    /// There is no hit.
    #[default]
    None,
}

impl Tier {
    /// The name the store's users see.
    pub fn as_str(self) -> &'static str {
        match self {
            Tier::All => "all",
            Tier::Some => "some",
            Tier::None => "none",
        }
    }
}

/// One message that answers a query.
#[derive(Clone, Debug)]
pub struct Hit {
    /// The message's row.
    pub id: i64,
    /// Its session's number.
    pub session: i64,
    pub seq: i64,
    pub entry: Option<String>,
    pub ts: i64,
    pub role: Role,
    /// Higher is better; comparable within one result only.
    pub score: f64,
    /// The passage that answers best.
    pub snippet: String,
    /// Pairs of UTF-16 positions in the snippet.
    pub marks: Vec<(usize, usize)>,
    /// Numbers of other sessions that hold a copy.
    pub copies: Vec<i64>,
}

/// What was searched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Searched {
    pub messages: u64,
    pub sessions: u64,
    /// Unix milliseconds.
    pub oldest: Option<i64>,
}

/// A search's result.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// Messages, best first.
    pub hits: Vec<Hit>,
    /// The hits' sessions, best first by all that they hold, and how many matching messages each has.
    pub sessions: Vec<(i64, usize)>,
    pub tier: Tier,
    /// Words, or single characters of unspaced scripts, that no message has.
    pub missing: Vec<String>,
    /// Matching messages, as far as they were counted.
    pub total: usize,
    /// There are more than `total`.
    pub total_is_capped: bool,
    /// No bound cut the search short.
    pub complete: bool,
    pub searched: Searched,
}

/// What the steps of one search share.
struct Job<'a> {
    connection: &'a Connection,
    matcher: &'a Matcher,
    options: &'a Options,
    left_out: &'a group::LeftOut<'a>,
    weights: &'a Weights,
}

/// Searches.
///
/// # Errors
/// SQLite's.
pub fn search(connection: &Connection, cache: &mut Frequencies, query: &str, options: &Options) -> Result<Found> {
    search_with(connection, cache, query, options, &Weights::default())
}

/// Searches with other weights than the default; for measuring what each part of the ranking is worth.
///
/// # Errors
/// SQLite's.
pub fn search_with(
    connection: &Connection,
    cache: &mut Frequencies,
    query: &str,
    options: &Options,
    weights: &Weights,
) -> Result<Found> {
    // One read transaction: every statement sees the same messages, and the file is locked once.
    let _snapshot = connection.is_autocommit().then(|| connection.unchecked_transaction()).transpose()?;
    // Else SQLite plans FTS5's statements anew for each term it binds, a twelfth of the time.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    let query = Query::parse(query);
    let mut found = Found {
        complete: !query.cut_short,
        searched: group::searched(connection, cache, options)?,
        ..Found::default()
    };
    let matcher = Matcher::new(&query);
    let left_out = group::LeftOut::new(&options.exclude);
    let Some(mut anchors) = anchors::fetch(connection, cache, &query, &matcher, options, weights)? else {
        return Ok(found);
    };
    found.missing = std::mem::take(&mut anchors.missing);
    found.complete &= anchors.complete;
    let limit = if options.limit == 0 { 10 } else { options.limit };

    let mut matches = Matches::default();
    let job = Job { connection, matcher: &matcher, options, left_out: &left_out, weights };
    let mut reader = score::Reader::new(&job, &anchors, &mut matches);
    let mut scored = score::candidates(&mut reader, &anchors, weights.candidates.max(limit + options.offset))?;
    context::rank(&mut scored.messages, &mut reader, weights, !matcher.has_quotes())?;
    found.total = if matcher.has_quotes() { scored.messages.len() } else { anchors.candidates.len() - scored.left_out };
    found.total = found.total.max(scored.messages.len());
    found.total_is_capped = anchors.capped || matcher.has_quotes() && scored.unread > 0;
    found.complete &= !(matcher.has_quotes() && (anchors.capped || scored.unread > 0));
    if let Some(best) = scored.messages.first() {
        found.tier = if best.has_all && found.missing.is_empty() { Tier::All } else { Tier::Some };
    }
    let ranks = group::ranks(&scored.messages);
    let mut sessions: Vec<(i64, group::Rank)> = Vec::new();
    let mut passed_over = 0;
    for message in &scored.messages {
        if found.hits.len() == limit {
            break;
        }
        let Some((place, copies)) = group::place(&job, message)? else { continue };
        if passed_over < options.offset {
            passed_over += 1;
            continue;
        }
        if let Some(&rank) = ranks.get(&message.session)
            && sessions.iter().all(|(session, _)| *session != place.session)
        {
            sessions.push((place.session, rank));
        }
        let text: Option<String> = connection
            .prepare_cached("select text from msg where id = ?")?
            .query_row([message.id], |row| row.get(0))?;
        let snippet = snippet::snippet(text.as_deref().unwrap_or_default(), &matcher, &anchors.idf, &mut matches);
        found.hits.push(Hit {
            id: place.id,
            session: place.session,
            seq: place.seq,
            entry: place.entry,
            ts: message.ts,
            role: message.role,
            score: message.score.into(),
            snippet: snippet.text,
            marks: snippet.marks,
            copies,
        });
    }
    sessions.sort_by(|a, b| b.1.score.total_cmp(&a.1.score));
    found.sessions = sessions.into_iter().map(|(session, rank)| (session, rank.messages)).collect();
    Ok(found)
}
