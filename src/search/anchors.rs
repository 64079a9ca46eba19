//! Which messages could answer: document frequencies, and the postings of the query's rarest terms.

use std::collections::HashMap;
use std::num::NonZeroUsize;

use lru::LruCache;
use rusqlite::Connection;

use super::{Exclude, Options, Searched, Weights};
use crate::error::Result;
use crate::store::index::{self, Averages, Date, filter};
use crate::text::matcher::{Kind, Matcher, Term};
use crate::text::terms::{Query, Spreading};

/// Postings of a term that are counted one by one; a term with more is estimated.
const COUNTED: usize = 256;
/// A common term is estimated from this many stretches of the store …
const STRETCHES: i64 = 8;
/// … of this many messages each.
const STRETCH: i64 = 128;
/// Common terms whose frequency is remembered.
const REMEMBERED: usize = 8192;
/// A remembered frequency serves until the store has grown or shrunk by this share.
const STALE: f32 = 0.1;

/// What is remembered between searches: how common the common terms are.
pub struct Frequencies {
    common: LruCache<String, Frequency>,
    pub(super) searched: Option<(Averages, Searched)>,
}

#[derive(Clone, Copy)]
struct Frequency {
    /// Messages in a thousand that have it.
    share: f32,
    /// Messages in the store when it was estimated.
    of: u64,
}

impl Default for Frequencies {
    fn default() -> Self {
        let size = NonZeroUsize::new(REMEMBERED).unwrap_or(NonZeroUsize::MIN);
        Frequencies { common: LruCache::new(size), searched: None }
    }
}

/// What the index says about a query.
pub(super) struct Anchors {
    /// Messages and the weight of the anchors they hold, best first.
    pub(super) candidates: Vec<(i64, f32)>,
    /// The weight of each of the matcher's terms.
    pub(super) idf: Vec<f32>,
    pub(super) missing: Vec<String>,
    pub(super) averages: Averages,
    /// More messages match than `candidates` has.
    pub(super) capped: bool,
    /// No bound left postings of a filtered or quoted search unread.
    pub(super) complete: bool,
}

/// A term being read.
struct Anchor<'a> {
    term: &'a Term,
    at: usize,
    postings: Vec<i64>,
    /// Every posting was read.
    whole: bool,
    df: f32,
}

/// Fetches the candidates; nothing when the query has no term at all or the filters match nothing.
pub(super) fn fetch(
    connection: &Connection,
    cache: &mut Frequencies,
    query: &Query,
    matcher: &Matcher,
    options: &Options,
    weights: &Weights,
) -> Result<Option<Anchors>> {
    let Some(scope) = Scope::new(options) else { return Ok(None) };
    let averages = index::averages(connection)?;
    if matcher.terms.is_empty() || averages.messages == 0 {
        return Ok(None);
    }
    let reader = Reader { connection, scope, messages: averages.messages };

    // How common each term of the index is; those that are rare are read on the way.
    let mut df = vec![0.0; matcher.terms.len()];
    let mut anchors: Vec<Anchor<'_>> = Vec::new();
    for (at, term) in matcher.terms.iter().enumerate() {
        if !matches!(term.kind, Kind::Single | Kind::Pair | Kind::Word | Kind::Whole) {
            continue;
        }
        let anchor = reader.open(cache, term, at)?;
        df[at] = anchor.df;
        anchors.push(anchor);
    }
    // Characters of runs: their pairs tell whether they exist, and those that no pair holds are anchors themselves.
    for (at, term) in matcher.terms.iter().enumerate() {
        if term.kind != Kind::Char {
            continue;
        }
        let paired = matcher.terms.iter().zip(&df).any(|(pair, &df)| {
            pair.kind == Kind::Pair && df > 0.0 && term.text.chars().next().is_some_and(|c| pair.text.contains(c))
        });
        let anchor = reader.open(cache, term, at)?;
        df[at] = anchor.df;
        if !paired {
            anchors.push(anchor);
        }
    }
    let missing = missing(query, matcher, &df);
    let idf = weigh(matcher, &df, averages.messages as f32, weights);

    // Rarest first, until the budget is spent.
    anchors.retain(|anchor| anchor.df > 0.0);
    anchors.sort_by(|a, b| a.df.total_cmp(&b.df));
    let mut budget = weights.budget;
    let mut sums: HashMap<i64, f32, Spreading> = HashMap::default();
    let mut capped = false;
    for anchor in &mut anchors {
        if budget == 0 {
            capped = true;
            break;
        }
        reader.read(anchor, budget)?;
        capped |= !anchor.whole;
        budget = budget.saturating_sub(anchor.postings.len());
        let weight = idf.get(anchor.at).copied().unwrap_or_default();
        for &id in &anchor.postings {
            *sums.entry(id).or_default() += weight;
        }
    }
    let mut candidates: Vec<(i64, f32)> = sums.into_iter().collect();
    candidates.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then(b.0.cmp(&a.0)));
    Ok(Some(Anchors { candidates, idf, missing, averages, capped, complete: true }))
}

/// What each term says about a message that has it.
fn weigh(matcher: &Matcher, df: &[f32], messages: f32, weights: &Weights) -> Vec<f32> {
    let idf = |df: f32| (1.0 + ((messages - df).max(0.0) + 0.5) / (df + 0.5)).ln();
    let alone: Vec<f32> = df.iter().map(|&df| idf(df)).collect();
    let of = |text: &str| {
        matcher
            .terms
            .iter()
            .zip(&alone)
            .find(|(term, _)| term.text == text && term.kind != Kind::Next)
            .map_or(0.0, |(_, &idf)| idf)
    };
    matcher
        .terms
        .iter()
        .zip(&alone)
        .map(|(term, &idf)| match term.kind {
            Kind::Single | Kind::Word => idf,
            Kind::Char => idf * weights.char,
            Kind::Whole => idf * weights.whole,
            Kind::Pair => {
                // Two characters that meet by chance, across a word's border, are as rare as their product says;
                // the characters of a word meet much more often. Rarity alone must not let 的缓 lead.
                let mut buffer = [0; 4];
                let sum: f32 = term.text.chars().map(|c| of(c.encode_utf8(&mut buffer))).sum();
                idf.min(weights.cohesion * sum)
            }
            Kind::Next => {
                let mut parts = term.text.split(' ').map(of);
                let (first, second) = (parts.next().unwrap_or(0.0), parts.next().unwrap_or(0.0));
                first.min(second) * weights.next
            }
        })
        .collect()
}

/// The query's words and characters that no message has.
fn missing(query: &Query, matcher: &Matcher, df: &[f32]) -> Vec<String> {
    let mut missing: Vec<String> = Vec::new();
    for atom in &query.atoms {
        let known = matcher.terms.iter().zip(df).any(|(term, &df)| {
            df > 0.0 && term.text == atom.term && matches!(term.kind, Kind::Char | Kind::Single | Kind::Word)
        });
        if !known && !missing.contains(&atom.text) {
            missing.push(atom.text.clone());
        }
    }
    missing
}

/// The filters, as the index and the table see them.
struct Scope {
    /// What is intersected with a term, in FTS5's language; empty without filters.
    expression: String,
    since: i64,
    until: i64,
}

impl Scope {
    /// The scope of a search; nothing when it is empty by construction.
    fn new(options: &Options) -> Option<Scope> {
        let mut expression = String::new();
        let mut any = |kind: char, numbers: &[i64]| {
            let terms: Vec<String> = numbers.iter().map(|&number| format!("\"{}\"", filter(kind, number))).collect();
            expression.push_str(&format!(" AND ({})", terms.join(" OR ")));
            !numbers.is_empty()
        };
        if options.sessions.as_ref().is_some_and(|sessions| !any('s', sessions))
            || options.projects.as_ref().is_some_and(|projects| !any('p', projects))
        {
            return None;
        }
        if let Some(role) = options.role {
            any('r', &[role.code()]);
        }
        let (since, until) = (options.since.unwrap_or(i64::MIN), options.until.unwrap_or(i64::MAX));
        if since >= until {
            return None;
        }
        if let (Some(since), Some(until)) = (options.since, options.until) {
            let (first, last) = (Date::of(since), Date::of(until - 1));
            for (kind, first, last) in
                [('d', first.day, last.day), ('m', first.month, last.month), ('y', first.year, last.year)]
            {
                if last - first < COVER {
                    any(kind, &(first..=last).collect::<Vec<_>>());
                    break;
                }
            }
        }
        for exclude in &options.exclude {
            if let Exclude::Session(session) = exclude {
                expression.push_str(&format!(" NOT \"{}\"", filter('s', *session)));
            }
        }
        Some(Scope { expression, since, until })
    }
}

/// A stretch of time is covered by at most this many days, months or years.
const COVER: i64 = 8;

struct Reader<'a> {
    connection: &'a Connection,
    scope: Scope,
    messages: u64,
}

impl Reader<'_> {
    /// Counts a term, reading its postings when they are few.
    fn open<'a>(&self, cache: &mut Frequencies, term: &'a Term, at: usize) -> Result<Anchor<'a>> {
        let mut anchor = Anchor { term, at, postings: Vec::new(), whole: false, df: 0.0 };
        let unscoped = self.is_unscoped();
        if let Some(known) = cache.common.get(&term.text) {
            let change = (self.messages as f32 - known.of as f32).abs() / known.of.max(1) as f32;
            if change < STALE {
                anchor.df = known.share * self.messages as f32;
                return Ok(anchor);
            }
        }
        let all = self.postings(&term.text, "", i64::MIN, i64::MAX, i64::MAX, COUNTED)?;
        if all.len() < COUNTED {
            anchor.df = all.len() as f32;
            if unscoped {
                anchor.whole = true;
                anchor.postings = all;
            }
            return Ok(anchor);
        }
        let share = self.estimate(&term.text)?.max(COUNTED as f32 / self.messages as f32);
        anchor.df = share * self.messages as f32;
        if unscoped {
            anchor.postings = all;
        }
        cache.common.put(term.text.clone(), Frequency { share, of: self.messages });
        Ok(anchor)
    }

    fn is_unscoped(&self) -> bool {
        self.scope.expression.is_empty() && self.scope.since == i64::MIN && self.scope.until == i64::MAX
    }

    /// Reads up to `most` of a term's postings within the scope, newest first.
    fn read(&self, anchor: &mut Anchor<'_>, most: usize) -> Result<()> {
        if anchor.whole {
            return Ok(());
        }
        let below = anchor.postings.last().copied().unwrap_or(i64::MAX);
        let Some(more) = most.checked_sub(anchor.postings.len()).filter(|&more| more > 0) else { return Ok(()) };
        let scope = &self.scope;
        let read = self.postings(&anchor.term.text, &scope.expression, scope.since, scope.until, below, more)?;
        anchor.whole = read.len() < more;
        anchor.postings.extend(read);
        Ok(())
    }

    fn postings(&self, term: &str, scope: &str, since: i64, until: i64, below: i64, most: usize) -> Result<Vec<i64>> {
        let expression = format!("\"{}\"{scope}", term.replace('"', "\"\""));
        let most = most as i64;
        let mut ids = Vec::new();
        if since == i64::MIN && until == i64::MAX {
            let mut select = self.connection.prepare_cached(
                "select rowid from term where term match ?1 and rowid < ?2 order by rowid desc limit ?3",
            )?;
            let mut rows = select.query((expression, below, most))?;
            while let Some(row) = rows.next()? {
                ids.push(row.get(0)?);
            }
        } else {
            let mut select = self.connection.prepare_cached(
                "select term.rowid from term cross join msg on msg.id = term.rowid
                 where term match ?1 and term.rowid < ?2 and msg.ts >= ?4 and msg.ts < ?5
                 order by term.rowid desc limit ?3",
            )?;
            let mut rows = select.query((expression, below, most, since, until))?;
            while let Some(row) = rows.next()? {
                ids.push(row.get(0)?);
            }
        }
        Ok(ids)
    }

    /// The share of the messages that have a common term, from stretches spread over the store.
    fn estimate(&self, term: &str) -> Result<f32> {
        let last: i64 =
            self.connection.prepare_cached("select coalesce(max(id), 0) from msg")?.query_row((), |row| row.get(0))?;
        let mut select = self
            .connection
            .prepare_cached("select count(*) from term where term match ?1 and rowid >= ?2 and rowid < ?3")?;
        let expression = format!("\"{}\"", term.replace('"', "\"\""));
        let stretch = STRETCH.min(last / STRETCHES).max(1);
        let mut count = 0i64;
        for number in 0..STRETCHES {
            let from = 1 + (last - stretch) * number / (STRETCHES - 1);
            count += select.query_row((&expression, from, from + stretch), |row| row.get::<_, i64>(0))?;
        }
        // Rows that are gone, and copies, which the index does not hold, make the store thinner than its numbers.
        let density = self.messages as f32 / last.max(1) as f32;
        Ok((count as f32 / (stretch * STRETCHES) as f32 / density.max(0.01)).min(1.0))
    }
}
