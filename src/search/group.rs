//! Hits as the person sees them: one for all copies of a message, and sessions ranked by what they hold.

use std::collections::{HashMap, HashSet};

use rusqlite::Connection;

use super::score::Scored;
use super::{Exclude, Frequencies, Options, Searched};
use crate::error::Result;
use crate::store::index;
use crate::store::lookup::{self, Standing};
use crate::text::terms::FastHash;

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
        let mut origins = HashSet::new();
        for &(one, _) in &left_out.exclude {
            let (Exclude::Session(session) | Exclude::From { session, .. } | Exclude::Entries { session, .. }) = *one;
            lookup::each_copy_in(connection, session, |seq, entry, origin| {
                if left_out.holds(session, seq, entry) {
                    origins.insert(origin);
                }
            })?;
        }
        left_out.origins = origins;
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
pub(super) fn place(
    connection: &Connection,
    options: &Options,
    message: &Scored,
) -> Result<Option<(Standing, Vec<i64>)>> {
    let mut shown = None;
    let mut copies = Vec::new();
    for standing in lookup::standings(connection, message.id)? {
        let fits = options.sessions.as_ref().is_none_or(|sessions| sessions.contains(&standing.session))
            && options.projects.as_ref().is_none_or(|projects| projects.contains(&standing.project));
        if shown.is_none() && fits {
            shown = Some(standing);
        } else if !copies.contains(&standing.session) {
            copies.push(standing.session);
        }
    }
    Ok(shown.map(|standing| {
        copies.retain(|&session| session != standing.session);
        (standing, copies)
    }))
}

/// What is searched. Of a search over everything the counts are remembered until the index changes.
pub(super) fn searched(connection: &Connection, cache: &mut Frequencies, options: &Options) -> Result<Searched> {
    let averages = index::averages(connection)?;
    let everything = options.projects.is_none() && options.sessions.is_none();
    if let Some((_, searched)) = cache.searched.filter(|(of, _)| everything && *of == averages) {
        return Ok(searched);
    }
    let (messages, sessions, oldest) =
        lookup::extent(connection, options.projects.as_deref(), options.sessions.as_deref())?;
    let searched = Searched { messages, sessions, oldest };
    if everything {
        cache.searched = Some((averages, searched));
    }
    Ok(searched)
}
