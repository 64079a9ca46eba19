//! Which messages could answer: document frequencies, and the postings of the query's rarest terms.

use std::collections::HashMap;
use std::num::NonZeroUsize;

use lru::LruCache;
use rusqlite::Connection;

use super::scope::Scope;
use super::{Searched, Weights};
use crate::error::Result;
use crate::store::index::{self, Averages};
use crate::store::lookup;
use crate::text::matcher::{Kind, Matcher, Term};
use crate::text::terms::{FastHash, Query};

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

/// What is remembered between searches: how common the common terms are, and what the store is like.
pub struct Frequencies {
    common: LruCache<String, Frequency>,
    pub(super) searched: Option<(Averages, Searched)>,
    /// Times and roles of some messages, and how many messages there were.
    pub(super) sample: Option<(u64, Vec<(i64, i64)>)>,
}

#[derive(Clone, Copy)]
struct Frequency {
    /// The share of the messages that have it, 0 to 1.
    share: f32,
    /// Messages in the store when it was estimated.
    of: u64,
}

impl Default for Frequencies {
    fn default() -> Self {
        let size = NonZeroUsize::new(REMEMBERED).unwrap_or(NonZeroUsize::MIN);
        Frequencies { common: LruCache::new(size), searched: None, sample: None }
    }
}

/// Whether what was learnt from `of` messages no longer serves now that there are this many.
pub(super) fn is_stale(of: u64, messages: u64) -> bool {
    (messages as f32 - of as f32).abs() >= STALE * of.max(1) as f32
}

/// What the index says about a query.
pub(super) struct Anchors {
    /// Messages and the weight of the anchors they hold, best first.
    pub(super) candidates: Vec<(i64, f32)>,
    /// The weight of each of the matcher's terms.
    pub(super) idf: Vec<f32>,
    /// The weight of the terms whose postings were not all read: a candidate may hold them though its weight does not say so.
    pub(super) unread_weight: f32,
    pub(super) missing: Vec<String>,
    pub(super) averages: Averages,
    /// More messages match than `candidates` has.
    pub(super) capped: bool,
}

/// With this many candidates, terms that so large a share of the messages have are no anchors: they tell candidates apart
/// less than the text does, and intersecting them with a filter is most of the work.
const ENOUGH: usize = 600;
const COMMON: f32 = 0.02;

/// Terms of what is quoted that candidates are fetched by.
const QUOTED: usize = 3;

/// A term being read.
struct Anchor<'a> {
    term: &'a Term,
    at: usize,
    postings: Vec<i64>,
    /// Every posting was read.
    whole: bool,
    df: f32,
}

/// Fetches the candidates.
pub(super) fn fetch(
    connection: &Connection,
    cache: &mut Frequencies,
    query: &Query,
    matcher: &Matcher,
    scope: &Scope,
    averages: Averages,
    weights: &Weights,
) -> Result<Anchors> {
    let is_scoped = !scope.expression.is_empty() || !scope.quoted.is_empty();
    let expression = scope.expression.clone();
    let mut reader = Reader { connection, expression, is_scoped, messages: averages.messages };

    // How common each term of the index is; those that are rare are read on the way.
    let mut df = vec![0.0; matcher.terms.len()];
    let mut anchors: Vec<Anchor<'_>> = Vec::new();
    for ((at, term), df) in matcher.terms.iter().enumerate().zip(&mut df) {
        if !matches!(term.kind, Kind::Single | Kind::Pair | Kind::Word | Kind::Whole) {
            continue;
        }
        let anchor = reader.open(cache, term, at)?;
        *df = anchor.df;
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
        if let Some(df) = df.get_mut(at) {
            *df = anchor.df;
        }
        if !paired {
            anchors.push(anchor);
        }
    }
    let missing = missing(query, matcher, &df);
    let idf = weigh(matcher, &df, averages.messages as f32, weights);

    // Rarest first, until the budget is spent.
    anchors.retain(|anchor| anchor.df > 0.0);
    anchors.sort_by(|a, b| a.df.total_cmp(&b.df));
    // Every candidate has all that is quoted: the rarest of that are one anchor, and go with every other.
    let mut quoted = anchors.iter().filter(|anchor| scope.quoted.contains(&anchor.term.text)).map(|anchor| anchor.at);
    let rarest: Vec<usize> = quoted.by_ref().take(QUOTED).collect();
    if rarest.len() + quoted.count() < scope.quoted.len() {
        anchors.clear();
    }
    for term in rarest.iter().filter_map(|&at| matcher.terms.get(at)) {
        reader.expression.push_str(&format!(" AND {}", index::literal(&term.text)));
    }
    anchors.retain(|anchor| rarest.first() == Some(&anchor.at) || !scope.quoted.contains(&anchor.term.text));
    let mut budget = weights.budget;
    let mut sums: HashMap<i64, f32, FastHash> = HashMap::default();
    let mut capped = false;
    let mut has_all_quoted = false;
    let mut unread_weight: f32 = idf.iter().sum();
    for anchor in &mut anchors {
        if budget == 0 || sums.len() >= ENOUGH && anchor.df > COMMON * averages.messages as f32 {
            capped = true;
            break;
        }
        reader.read(anchor, budget)?;
        capped |= !anchor.whole;
        has_all_quoted |= anchor.whole && rarest.first() == Some(&anchor.at);
        budget = budget.saturating_sub(anchor.postings.len());
        let weight = idf.get(anchor.at).copied().unwrap_or_default();
        if anchor.whole {
            unread_weight -= weight;
        }
        for &id in &anchor.postings {
            *sums.entry(id).or_default() += weight;
        }
    }
    capped &= !has_all_quoted;
    let mut candidates: Vec<(i64, f32)> = sums.into_iter().collect();
    candidates.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then(b.0.cmp(&a.0)));
    Ok(Anchors { candidates, idf, unread_weight, missing, averages, capped })
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

struct Reader<'a> {
    connection: &'a Connection,
    /// What each term is intersected with.
    expression: String,
    /// Not every posting of a term is a candidate.
    is_scoped: bool,
    messages: u64,
}

impl Reader<'_> {
    /// Counts a term, reading its postings when they are few.
    fn open<'a>(&self, cache: &mut Frequencies, term: &'a Term, at: usize) -> Result<Anchor<'a>> {
        let mut anchor = Anchor { term, at, postings: Vec::new(), whole: false, df: 0.0 };
        if let Some(known) = cache.common.get(&term.text)
            && !is_stale(known.of, self.messages)
        {
            anchor.df = known.share * self.messages as f32;
            return Ok(anchor);
        }
        let all = self.postings(&term.text, "", i64::MAX, COUNTED)?;
        if all.len() < COUNTED {
            anchor.df = all.len() as f32;
            if !self.is_scoped {
                anchor.whole = true;
                anchor.postings = all;
            }
            return Ok(anchor);
        }
        let share = self.estimate(&term.text)?.max(COUNTED as f32 / self.messages as f32);
        anchor.df = share * self.messages as f32;
        if !self.is_scoped {
            anchor.postings = all;
        }
        cache.common.put(term.text.clone(), Frequency { share, of: self.messages });
        Ok(anchor)
    }

    /// Reads up to `most` of a term's postings within the scope, newest first.
    fn read(&self, anchor: &mut Anchor<'_>, most: usize) -> Result<()> {
        if anchor.whole {
            return Ok(());
        }
        let below = anchor.postings.last().copied().unwrap_or(i64::MAX);
        let Some(more) = most.checked_sub(anchor.postings.len()).filter(|&more| more > 0) else { return Ok(()) };
        let read = self.postings(&anchor.term.text, &self.expression, below, more)?;
        anchor.whole = read.len() < more;
        anchor.postings.extend(read);
        Ok(())
    }

    fn postings(&self, term: &str, scope: &str, below: i64, most: usize) -> Result<Vec<i64>> {
        index::postings(self.connection, &format!("{}{scope}", index::literal(term)), below, most)
    }

    /// The share of the messages that have a common term, from stretches spread over the store.
    fn estimate(&self, term: &str) -> Result<f32> {
        let last = lookup::last(self.connection)?;
        let expression = index::literal(term);
        let stretch = STRETCH.min(last / STRETCHES).max(1);
        let mut count = 0i64;
        for number in 0..STRETCHES {
            let from = 1 + (last - stretch) * number / (STRETCHES - 1);
            count += index::count(self.connection, &expression, from, from + stretch)?;
        }
        // Rows that are gone, and copies, which the index does not hold, make the store thinner than its numbers.
        let density = self.messages as f32 / last.max(1) as f32;
        Ok((count as f32 / (stretch * STRETCHES) as f32 / density.max(0.01)).min(1.0))
    }
}
