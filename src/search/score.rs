//! What a candidate's text is worth.

use super::Job;
use super::anchors::Anchors;
use crate::error::Result;
use crate::message::Role;
use crate::store::index::Averages;
use crate::text::matcher::{Kind, Match, Matcher, Matches};

/// What each part of the ranking weighs. The defaults were chosen on labelled sets in five languages; DESIGN.md has the
/// table of what each is worth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weights {
    /// Postings read for candidates.
    pub budget: usize,
    /// Candidates whose text is scored.
    pub candidates: usize,
    /// BM25's saturation of repetitions.
    pub k1: f32,
    /// BM25's share of the text's length.
    pub b: f32,
    /// A character of a run, beside the pairs it is in.
    pub char: f32,
    /// An identifier as written, beside its words.
    pub whole: f32,
    /// A pair weighs at most this times the mean of its characters.
    pub cohesion: f32,
    /// Two words in the query's order.
    pub next: f32,
    /// A word of the same stem, against the very word.
    pub stem: f32,
    /// The best passage's share of the query.
    pub passage: f32,
    /// A passage's length in characters or words.
    pub passage_length: u32,
    /// The neighbours in the conversation.
    pub neighbours: f32,
    /// The session's best messages.
    pub session: f32,
    /// A tool's error counts this much less.
    pub tool_error: f32,
    /// A summary or the person's own words count this much more.
    pub own_words: f32,
}

impl Default for Weights {
    fn default() -> Self {
        Weights {
            budget: 3000,
            candidates: 200,
            k1: 1.2,
            b: 0.6,
            char: 0.15,
            whole: 0.5,
            cohesion: 1.0,
            next: 0.3,
            stem: 0.8,
            passage: 0.3,
            passage_length: 60,
            neighbours: 0.2,
            session: 0.02,
            tool_error: 0.1,
            own_words: 0.02,
        }
    }
}

/// Text that one search reads, in bytes: some thirty of the longest messages.
const READ: usize = 2 << 20;

/// A candidate that was read.
#[derive(Clone, Debug)]
pub(super) struct Scored {
    pub(super) id: i64,
    pub(super) session: i64,
    pub(super) seq: i64,
    pub(super) ts: i64,
    pub(super) role: Role,
    pub(super) score: f32,
    /// It has every term of the query.
    pub(super) has_all: bool,
}

#[derive(Default)]
pub(super) struct Candidates {
    pub(super) messages: Vec<Scored>,
    /// Candidates that filters or quotes left out.
    pub(super) left_out: usize,
    /// Candidates that were not read.
    pub(super) unread: usize,
}

/// Reads and scores the candidates, best first.
pub(super) fn candidates(job: &Job<'_>, anchors: &Anchors, wanted: usize, matches: &mut Matches) -> Result<Candidates> {
    let Job { connection, matcher, options, left_out, weights } = *job;
    let candidates = &anchors.candidates;
    let mut read = 0;
    let mut out = Candidates::default();
    let mut scorer = Scorer::new(matcher, &anchors.idf, anchors.averages, weights);
    let most = weights.candidates.max(wanted);
    let mut select =
        connection.prepare_cached("select session, seq, ts, role, flags, entry, text from msg where id = ?")?;
    for (number, &(id, _)) in candidates.iter().enumerate() {
        if out.messages.len() >= most || read > READ {
            out.unread = candidates.len() - number;
            break;
        }
        let mut rows = select.query([id])?;
        let Some(row) = rows.next()? else { continue };
        let (session, seq, flags): (i64, i64, i64) = (row.get(0)?, row.get(1)?, row.get(4)?);
        let entry = row.get_ref(5)?.as_str_or_null().unwrap_or_default();
        if options.for_model && flags & 2 != 0 || left_out.has(session, seq, entry) {
            out.left_out += 1;
            continue;
        }
        let text = row.get_ref(6)?.as_str_or_null().unwrap_or_default().unwrap_or_default();
        read += text.len();
        matcher.find(text, matches);
        if !matcher.has_phrases(matches) {
            out.left_out += 1;
            continue;
        }
        let role = Role::from_code(row.get(3)?).unwrap_or(Role::Assistant);
        let (score, has_all) = scorer.score(matches);
        let score = score * scorer.of_role(role);
        out.messages.push(Scored { id, session, seq, ts: row.get(2)?, role, score, has_all });
    }
    Ok(out)
}

struct Scorer<'a> {
    matcher: &'a Matcher,
    idf: &'a [f32],
    average: f32,
    weights: &'a Weights,
    counts: Vec<f32>,
    within: Vec<u32>,
    whole: f32,
}

impl<'a> Scorer<'a> {
    fn new(matcher: &'a Matcher, idf: &'a [f32], averages: Averages, weights: &'a Weights) -> Self {
        let terms = matcher.terms.len();
        let whole = matcher.terms.iter().zip(idf).filter(|(term, _)| is_asked(term.kind)).map(|(_, &idf)| idf).sum();
        Scorer {
            matcher,
            idf,
            average: averages.terms.max(1.0),
            weights,
            counts: vec![0.0; terms],
            within: vec![0; terms],
            whole,
        }
    }

    fn of_role(&self, role: Role) -> f32 {
        match role {
            Role::ToolError => 1.0 - self.weights.tool_error,
            Role::User | Role::Summary => 1.0 + self.weights.own_words,
            Role::Assistant => 1.0,
        }
    }

    /// The text's score, and whether it has all the query's terms.
    fn score(&mut self, matches: &Matches) -> (f32, bool) {
        let Weights { k1, b, stem, passage, .. } = *self.weights;
        self.counts.fill(0.0);
        for found in &matches.list {
            if let Some(count) = self.counts.get_mut(usize::from(found.term)) {
                *count += if found.exact { 1.0 } else { stem };
            }
        }
        let norm = k1 * (1.0 - b + b * matches.length as f32 / self.average);
        let mut score = 0.0;
        let mut has_all = true;
        for ((&count, &idf), term) in self.counts.iter().zip(self.idf).zip(&self.matcher.terms) {
            if count > 0.0 {
                score += idf * count * (k1 + 1.0) / (count + norm) * (1.0 + (term.times as f32).ln() * 0.5);
            } else if is_asked(term.kind) && term.kind != Kind::Whole {
                has_all = false;
            }
        }
        if passage > 0.0 && self.whole > 0.0 {
            score += passage * self.best_passage(&matches.list);
        }
        (score, has_all)
    }

    /// The most of the query's weight that stands in one passage.
    fn best_passage(&mut self, list: &[Match]) -> f32 {
        self.within.fill(0);
        let (mut first, mut sum, mut best) = (0, 0.0f32, 0.0f32);
        for found in list {
            if let (Some(count), Some(&idf)) =
                (self.within.get_mut(usize::from(found.term)), self.idf.get(usize::from(found.term)))
            {
                *count += 1;
                if *count == 1 {
                    sum += idf;
                }
            }
            while let Some(old) = list.get(first).filter(|old| old.place + self.weights.passage_length < found.place) {
                if let (Some(count), Some(&idf)) =
                    (self.within.get_mut(usize::from(old.term)), self.idf.get(usize::from(old.term)))
                {
                    *count -= 1;
                    if *count == 0 {
                        sum -= idf;
                    }
                }
                first += 1;
            }
            best = best.max(sum);
        }
        best
    }
}

/// Terms that the person asked for, rather than we made up to rank by.
fn is_asked(kind: Kind) -> bool {
    !matches!(kind, Kind::Char | Kind::Next)
}

/// Adds what the messages around say, and sorts best first; the newer of equals comes first.
pub(super) fn in_context(messages: &mut [Scored], weights: &Weights) {
    use std::collections::HashMap;
    let places: HashMap<(i64, i64), f32> =
        messages.iter().map(|message| ((message.session, message.seq), message.score)).collect();
    let mut sessions: HashMap<i64, Vec<f32>> = HashMap::new();
    for message in messages.iter() {
        sessions.entry(message.session).or_default().push(message.score);
    }
    for scores in sessions.values_mut() {
        scores.sort_by(|a, b| b.total_cmp(a));
    }
    for message in messages.iter_mut() {
        let at = |seq: i64| places.get(&(message.session, seq)).copied().unwrap_or(0.0);
        let around = at(message.seq - 1) + at(message.seq + 1);
        let of_session: f32 = sessions.get(&message.session).map_or(0.0, |scores| scores.iter().take(10).sum());
        message.score += weights.neighbours * around + weights.session * of_session;
    }
    messages.sort_by(|a, b| b.score.total_cmp(&a.score).then(b.ts.cmp(&a.ts)).then(b.id.cmp(&a.id)));
}
