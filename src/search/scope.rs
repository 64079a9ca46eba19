//! What a search is limited to: by terms of the index where that saves reading, by a look at each row where it does not.
//!
//! A narrow filter is intersected with every term, so that it never starves the result. Of a broad one nearly every
//! candidate meets it anyway, and looking it up beside each posting would cost more than reading some in vain.

use std::collections::HashSet;

use rusqlite::Connection;

use super::anchors::is_stale;
use super::{Exclude, Frequencies, Options, Searched};
use crate::error::Result;
use crate::store::index::{self, Date, filter};
use crate::store::lookup;
use crate::text::terms::{FastHash, Query};

/// A filter that this share of the messages meets is broad.
const BROAD: f32 = 0.125;
/// Rows, evenly spread, that say how much of the store a filter lets through.
const SAMPLE: i64 = 64;
/// A stretch of time is covered by at most this many days, months or years.
const COVER: i64 = 8;
/// Years that cover a longer stretch, at most: a clock that was wrong by centuries must not make every search look for
/// each of them.
const YEARS: i64 = 64;
/// The first year that a message can be of: the clock's zero stands for a time that nobody knew.
const FIRST_YEAR: i64 = 1970;

/// What a search is limited to.
pub(super) struct Scope {
    /// What every term is intersected with, in FTS5's language; empty when nothing is.
    pub(super) expression: String,
    /// The terms that a message with all that the query quotes has: words, and characters alone or in pairs.
    pub(super) quoted: Vec<String>,
    /// Some filter is left to the rows: postings are read in vain.
    pub(super) post_filters: bool,
    /// The sessions that the rows must be of, when that is left to them.
    sessions: Option<HashSet<i64, FastHash>>,
}

impl Scope {
    /// The scope of a search over what `searched` counted; nothing when no message can meet it. With `exact`, the index
    /// decides about every filter.
    ///
    /// # Errors
    /// SQLite's.
    pub(super) fn new(
        connection: &Connection,
        cache: &mut Frequencies,
        query: &Query,
        options: &Options,
        (searched, messages): (&Searched, u64),
        exact: bool,
    ) -> Result<Option<Scope>> {
        let mut scope = Scope { expression: String::new(), quoted: quoted(query), post_filters: false, sessions: None };
        let (since, until) = (options.since.unwrap_or(i64::MIN), options.until.unwrap_or(i64::MAX));
        if since >= until || searched.messages == 0 {
            return Ok(None);
        }
        let is_broad = |share: f32| !exact && share >= BROAD;
        if options.sessions.is_some() || options.projects.is_some() {
            if is_broad(searched.messages as f32 / messages as f32) {
                scope.sessions = Some(sessions(connection, options)?);
                scope.post_filters = true;
            } else {
                scope.only('s', options.sessions.as_deref());
                scope.only('p', options.projects.as_deref());
            }
        }
        if let Some(role) = options.role {
            if is_broad(share(connection, cache, messages, |_, of| of == role.code())?) {
                scope.post_filters = true;
            } else {
                scope.only('r', Some(&[role.code()]));
            }
        }
        if options.since.is_some() || options.until.is_some() {
            if is_broad(share(connection, cache, messages, |ts, _| (since..until).contains(&ts))?) {
                scope.post_filters = true;
            } else {
                let Some((kind, dates)) = cover(connection, since, until)? else { return Ok(None) };
                scope.only(kind, Some(&dates));
            }
        }
        let excluded: Vec<i64> = options
            .exclude
            .iter()
            .filter_map(|exclude| if let Exclude::Session(session) = exclude { Some(*session) } else { None })
            .collect();
        if !excluded.is_empty() {
            scope.expression.push_str(&format!(" NOT {}", any_of('s', &excluded)));
        }
        Ok(Some(scope))
    }

    /// Intersects with messages that have one of the filter terms.
    fn only(&mut self, kind: char, numbers: Option<&[i64]>) {
        let Some(numbers) = numbers else { return };
        self.expression.push_str(&format!(" AND {}", any_of(kind, numbers)));
    }

    /// Whether the message `id`, said in `session`, or a copy of it is in the sessions that are left to the rows.
    ///
    /// # Errors
    /// SQLite's.
    pub(super) fn has(&self, connection: &Connection, id: i64, session: i64) -> Result<bool> {
        let Some(sessions) = &self.sessions else { return Ok(true) };
        if sessions.contains(&session) {
            return Ok(true);
        }
        Ok(lookup::copies(connection, id)?.iter().any(|copy| sessions.contains(copy)))
    }
}

/// One of the filter terms, in FTS5's language.
fn any_of(kind: char, numbers: &[i64]) -> String {
    let terms: Vec<String> = numbers.iter().map(|&number| index::literal(&filter(kind, number))).collect();
    format!("({})", terms.join(" OR "))
}

/// The sessions that meet the filters.
fn sessions(connection: &Connection, options: &Options) -> Result<HashSet<i64, FastHash>> {
    let meets = |wanted: &Option<Vec<i64>>, number| wanted.as_ref().is_none_or(|wanted| wanted.contains(&number));
    let all = lookup::sessions(connection)?.into_iter();
    let meeting = all.filter(|&(id, project)| meets(&options.sessions, id) && meets(&options.projects, project));
    Ok(meeting.map(|(id, _)| id).collect())
}

/// The share of the messages whose time and role meet a filter, by a sample that is remembered.
fn share(
    connection: &Connection,
    cache: &mut Frequencies,
    messages: u64,
    meets: impl Fn(i64, i64) -> bool,
) -> Result<f32> {
    if cache.sample.as_ref().is_none_or(|&(of, _)| is_stale(of, messages)) {
        cache.sample = Some((messages, lookup::sample(connection, SAMPLE)?));
    }
    let rows = cache.sample.as_ref().map_or(&[][..], |(_, rows)| rows);
    Ok(rows.iter().filter(|&&(ts, role)| meets(ts, role)).count() as f32 / rows.len().max(1) as f32)
}

/// The days, months or years that a stretch of time lies in, as filter terms name them; the ends are for the rows.
/// Nothing when no message is of that time.
fn cover(connection: &Connection, since: i64, until: i64) -> Result<Option<(char, Vec<i64>)>> {
    let until = until.min(lookup::newest(connection)?.saturating_add(1));
    if since >= until {
        return Ok(None);
    }
    let last = Date::of(until - 1);
    // Before the clock's zero there is nothing, and open ends begin where there is something.
    let first = if since < 0 { oldest(connection, last)? } else { Date::of(since) };
    let stretches = [('d', first.day, last.day), ('m', first.month, last.month), ('y', first.year, last.year)];
    let short = stretches.into_iter().find(|(_, first, last)| last - first < COVER);
    Ok(Some(match short {
        Some((kind, first, last)) => (kind, (first..=last).collect()),
        None => ('y', (first.year..=last.year.min(first.year + YEARS)).collect()),
    }))
}

/// The first day, month and year up to `last` that the index has messages of.
fn oldest(connection: &Connection, last: Date) -> Result<Date> {
    let first = |kind, from, to| -> Result<i64> {
        for number in from..to {
            if index::has_filter(connection, kind, number)? {
                return Ok(number);
            }
        }
        Ok(to)
    };
    let year = first('y', FIRST_YEAR, last.year)?;
    let month = first('m', (year - FIRST_YEAR) * 12, last.month)?;
    // Months have a twelfth of a year's days on the average, and none begins more than two days before that says.
    let day = first('d', month * 365 / 12 - 2, last.day)?;
    Ok(Date { day, month, year })
}

/// The distinct terms of what a query quotes.
fn quoted(query: &Query) -> Vec<String> {
    let mut terms = Vec::new();
    for phrase in &query.phrases {
        let atoms = query.atoms.get(phrase.atoms.clone()).unwrap_or_default();
        let pair = |at: usize| {
            let (first, second) = (atoms.get(at)?, atoms.get(at + 1)?);
            (first.unspaced && second.unspaced && second.glued).then(|| format!("{}{}", first.term, second.term))
        };
        // What camel case parts may be one word elsewhere: `TypeScript` is quoted from `typescript` as well.
        let is_part = |at: usize| {
            let joined = |at: usize| atoms.get(at).is_some_and(|atom| atom.glued && !atom.unspaced);
            joined(at) || atoms.get(at).is_some_and(|atom| !atom.unspaced) && joined(at + 1)
        };
        for (at, atom) in atoms.iter().enumerate().filter(|&(at, _)| !is_part(at)) {
            let is_second = at.checked_sub(1).is_some_and(|before| pair(before).is_some());
            terms.extend(pair(at).or_else(|| (!is_second).then(|| atom.term.clone())));
        }
    }
    terms.sort_unstable();
    terms.dedup();
    terms
}
