//! Hits as the person sees them: one for all copies of a message, and sessions ranked by what they hold.

use std::collections::{HashMap, HashSet};

use rusqlite::Connection;

use super::score::Scored;
use super::{Exclude, Frequencies, Options, Searched};
use crate::error::Result;
use crate::store::index;
use crate::text::terms::FastHash;

/// Where a message stands.
pub(super) struct Place {
    pub(super) id: i64,
    pub(super) session: i64,
    pub(super) seq: i64,
    pub(super) entry: Option<String>,
}

/// How many of a session's best messages rank it.
const RANKED_BY: usize = 10;

/// What a session's matching messages say about it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rank {
    pub(super) score: f32,
    pub(super) messages: usize,
}

/// Each session's rank, from messages that come best first.
pub(super) fn ranks(messages: &[Scored]) -> HashMap<i64, Rank> {
    let mut ranks: HashMap<i64, Rank> = HashMap::new();
    // Each further message of a session says half as much about it as the one before.
    for message in messages {
        let rank = ranks.entry(message.session).or_default();
        if rank.messages < RANKED_BY {
            rank.score += message.score / (1 << rank.messages) as f32;
        }
        rank.messages += 1;
    }
    ranks
}

/// The hits of a session that come before the other sessions' where hits are shown by session: of ten, four are for
/// others. A smaller share costs more answers than it brings variety.
pub(super) const FIRST: usize = 6;

/// Orders messages from a place on, which come best first, so that a long session does not push out the others.
pub(super) fn diversify(messages: &mut Vec<Scored>, from: usize) {
    let mut seen: HashMap<i64, usize, FastHash> = HashMap::default();
    for message in messages.iter().take(from) {
        *seen.entry(message.session).or_default() += 1;
    }
    let (first, rest): (Vec<Scored>, Vec<Scored>) = messages.drain(from..).partition(|message| {
        let seen = seen.entry(message.session).or_default();
        *seen += 1;
        *seen <= FIRST
    });
    messages.extend(first.into_iter().chain(rest));
}

/// The messages to leave out, ready to be asked about each.
pub(super) struct LeftOut<'a> {
    exclude: Vec<(&'a Exclude, HashSet<&'a str>)>,
    /// Rows elsewhere that hold the text of a copy that is left out.
    origins: HashSet<i64>,
}

impl<'a> LeftOut<'a> {
    pub(super) fn new(connection: &Connection, exclude: &'a [Exclude]) -> Result<Self> {
        let entries = |one: &'a Exclude| match one {
            Exclude::Entries { entries, .. } => entries.iter().map(String::as_str).collect(),
            _ => HashSet::new(),
        };
        let exclude = exclude.iter().map(|one| (one, entries(one))).collect();
        let mut left_out = LeftOut { exclude, origins: HashSet::new() };
        let mut select =
            connection.prepare_cached("select seq, entry, origin from msg where session = ? and origin is not null")?;
        for &(one, _) in &left_out.exclude {
            let (Exclude::Session(session) | Exclude::From { session, .. } | Exclude::Entries { session, .. }) = *one;
            let mut rows = select.query([session])?;
            while let Some(row) = rows.next()? {
                let entry = row.get_ref(1)?.as_str_or_null().unwrap_or_default();
                if left_out.holds(session, row.get(0)?, entry) {
                    left_out.origins.insert(row.get(2)?);
                }
            }
        }
        Ok(left_out)
    }

    /// Whether the row that holds a message's text, or a copy of it, is one the search is to leave out.
    pub(super) fn has<'e>(&self, id: i64, session: i64, seq: i64, entry: impl FnOnce() -> Option<&'e str>) -> bool {
        !self.exclude.is_empty() && (self.origins.contains(&id) || self.holds(session, seq, entry()))
    }

    fn holds(&self, session: i64, seq: i64, entry: Option<&str>) -> bool {
        self.exclude.iter().any(|(exclude, entries)| match exclude {
            Exclude::Session(left) => *left == session,
            Exclude::From { session: left, seq: from } => *left == session && seq >= *from,
            Exclude::Entries { session: left, .. } => {
                *left == session && entry.is_none_or(|entry| entries.contains(entry))
            }
        })
    }
}

/// Where a message is shown: in the session that started earliest among those that hold it and meet the filters; and
/// the other sessions that hold it. Nothing when none of them meets all filters.
pub(super) fn place(connection: &Connection, options: &Options, message: &Scored) -> Result<Option<(Place, Vec<i64>)>> {
    let mut select = connection.prepare_cached(
        "select msg.id, session, seq, entry, project from msg join session on session.id = msg.session
         where msg.id in (select ?1 union all select id from msg where origin = ?1)
         order by started_at, msg.id",
    )?;
    let mut rows = select.query([message.id])?;
    let mut shown = None;
    let mut copies = Vec::new();
    while let Some(row) = rows.next()? {
        let place = Place { id: row.get(0)?, session: row.get(1)?, seq: row.get(2)?, entry: row.get(3)? };
        let project: i64 = row.get(4)?;
        let fits = options.sessions.as_ref().is_none_or(|sessions| sessions.contains(&place.session))
            && options.projects.as_ref().is_none_or(|projects| projects.contains(&project));
        if shown.is_none() && fits {
            shown = Some(place);
        } else if !copies.contains(&place.session) {
            copies.push(place.session);
        }
    }
    Ok(shown.map(|place| {
        copies.retain(|&session| session != place.session);
        (place, copies)
    }))
}

/// What is searched. Of a search over everything the counts are remembered until the index changes.
pub(super) fn searched(connection: &Connection, cache: &mut Frequencies, options: &Options) -> Result<Searched> {
    let averages = index::averages(connection)?;
    let everything = options.projects.is_none() && options.sessions.is_none();
    if let Some((_, searched)) = cache.searched.filter(|(of, _)| everything && *of == averages) {
        return Ok(searched);
    }
    let list = |numbers: &Option<Vec<i64>>, column: &str| {
        numbers.as_ref().map_or(String::new(), |numbers| {
            let numbers: Vec<String> = numbers.iter().map(i64::to_string).collect();
            format!(" and {column} in ({})", numbers.join(", "))
        })
    };
    let sql = format!(
        "select coalesce(sum(messages), 0), count(*), min(nullif(started_at, 0)) from session where messages > 0{}{}",
        list(&options.projects, "project"),
        list(&options.sessions, "id")
    );
    let searched = connection.prepare_cached(&sql)?.query_row((), |row| {
        Ok(Searched {
            messages: row.get::<_, i64>(0)?.unsigned_abs(),
            sessions: row.get::<_, i64>(1)?.unsigned_abs(),
            oldest: row.get(2)?,
        })
    })?;
    if everything {
        cache.searched = Some((averages, searched));
    }
    Ok(searched)
}
