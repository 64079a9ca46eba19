//! What a candidate's text is worth: BM25 over the query's terms.

use super::Job;
use super::anchors::Anchors;
use crate::error::Result;
use crate::message::Role;
use crate::store::index::Averages;
use crate::text::matcher::{Kind, Matcher, Matches};

/// What each part of the ranking weighs. The defaults were chosen on labelled sets in three languages; DESIGN.md has the
/// table of what each is worth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weights {
    /// Postings read for candidates.
    pub budget: usize,
    /// Candidates whose text is scored.
    pub candidates: usize,
    /// Candidates below this share of the best one's anchors are not read.
    pub prune: f32,
    /// BM25's saturation of repetitions.
    pub k1: f32,
    /// BM25's share of the text's length.
    pub b: f32,
    /// A character of a run, beside the pairs it is in.
    pub char: f32,
    /// An identifier as written, beside its words.
    pub whole: f32,
    /// A pair weighs at most this times the sum of its characters.
    pub cohesion: f32,
    /// Two words in the query's order.
    pub next: f32,
    /// A word of the same stem, against the very word.
    pub stem: f32,
    /// The neighbours in the conversation, for a message of no length.
    pub neighbours: f32,
    /// The message after, as a share of the one before.
    pub after: f32,
    /// What a question before adds to the share of the one before: its answer is what is looked for.
    pub answer: f32,
    /// What the neighbours say of terms the message has itself, as a share of what they say of others.
    pub echo: f32,
    /// How many of the best messages bring along, when they are questions, the message after as a candidate.
    pub bring: usize,
    /// The session's best messages.
    pub session: f32,
    /// The length, in characters or words, at which a message depends half as much on what stands around it.
    pub context_length: f32,
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
            prune: 0.3,
            k1: 1.2,
            b: 0.6,
            char: 0.15,
            whole: 0.5,
            cohesion: 2.0,
            next: 0.3,
            stem: 0.8,
            neighbours: 0.4,
            after: 0.5,
            answer: 2.0,
            echo: 0.5,
            bring: 20,
            session: 0.04,
            context_length: 60.0,
            tool_error: 0.1,
            own_words: 0.02,
        }
    }
}

/// Candidates that are read however little they hold.
const ALWAYS: usize = 50;

/// Text that one search reads, in bytes: some thirty of the longest messages.
const READ: usize = 2 << 20;

/// A message that was read.
#[derive(Clone, Debug)]
pub(super) struct Scored {
    pub(super) id: i64,
    pub(super) session: i64,
    pub(super) seq: i64,
    pub(super) ts: i64,
    pub(super) role: Role,
    /// What its own text is worth.
    pub(super) own: f32,
    /// With what stands around it.
    pub(super) score: f32,
    /// What each term adds to `own`.
    pub(super) parts: Vec<f32>,
    /// Its characters and words.
    pub(super) length: u32,
    /// It ends with a question.
    pub(super) asks: bool,
    /// It has every term of the query.
    pub(super) has_all: bool,
}

/// The candidates that were read.
#[derive(Default)]
pub(super) struct Candidates {
    pub(super) messages: Vec<Scored>,
    /// Candidates that filters or quotes left out.
    pub(super) left_out: usize,
    /// Candidates that were not read.
    pub(super) unread: usize,
}

/// Reads and scores at most `most` of the candidates that meet the filters and hold what is quoted.
pub(super) fn candidates(reader: &mut Reader<'_>, anchors: &Anchors, most: usize) -> Result<Candidates> {
    let mut out = Candidates::default();
    let least = reader.job.weights.prune * anchors.candidates.first().map_or(0.0, |&(_, weight)| weight);
    for (number, &(id, weight)) in anchors.candidates.iter().enumerate() {
        if out.messages.len() >= most || reader.read > READ || weight < least && number >= ALWAYS {
            out.unread = anchors.candidates.len() - number;
            break;
        }
        match reader.row(id)? {
            Some(scored) => out.messages.push(scored),
            None => out.left_out += 1,
        }
    }
    Ok(out)
}

/// Reads messages and scores them.
pub(super) struct Reader<'a> {
    job: &'a Job<'a>,
    scorer: Scorer<'a>,
    matches: &'a mut Matches,
    /// Bytes of text read.
    read: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(job: &'a Job<'a>, anchors: &'a Anchors, matches: &'a mut Matches) -> Self {
        Reader { job, scorer: Scorer::new(job, anchors), matches, read: 0 }
    }

    /// The message with this id; nothing when filters or quotes leave it out.
    fn row(&mut self, id: i64) -> Result<Option<Scored>> {
        self.select("select id, session, seq, ts, role, flags, entry, text from msg where id = ?", [id])
    }

    /// A session's messages at a place.
    pub(super) fn place(&mut self, session: i64, seq: i64) -> Result<Option<Scored>> {
        self.select(
            "select id, session, seq, ts, role, flags, entry, text from msg where session = ? and seq = ?",
            [session, seq],
        )
    }

    fn select(&mut self, sql: &str, key: impl rusqlite::Params) -> Result<Option<Scored>> {
        let Job { connection, matcher, options, left_out, .. } = *self.job;
        let mut select = connection.prepare_cached(sql)?;
        let mut rows = select.query(key)?;
        let Some(row) = rows.next()? else { return Ok(None) };
        let (id, session, seq, flags): (i64, i64, i64, i64) = (row.get(0)?, row.get(1)?, row.get(2)?, row.get(5)?);
        let entry = row.get_ref(6)?.as_str_or_null().unwrap_or_default();
        let (ts, role) = (row.get(3)?, Role::from_code(row.get(4)?).unwrap_or(Role::Assistant));
        if options.for_model && flags & 2 != 0
            || options.role.is_some_and(|wanted| wanted != role)
            || options.since.is_some_and(|since| ts < since)
            || options.until.is_some_and(|until| ts >= until)
            || left_out.has(id, session, seq, entry)
        {
            return Ok(None);
        }
        let Some(text) = row.get_ref(7)?.as_str_or_null().unwrap_or_default() else { return Ok(None) };
        self.read += text.len();
        matcher.find(text, self.matches);
        if !matcher.has_phrases(self.matches) {
            return Ok(None);
        }
        let (own, parts, has_all) = self.scorer.score(self.matches, role);
        Ok(Some(Scored {
            id,
            session,
            seq,
            ts,
            role,
            own,
            score: own,
            parts,
            length: self.matches.length,
            asks: text.trim_end().ends_with(['?', '？']),
            has_all,
        }))
    }
}

struct Scorer<'a> {
    matcher: &'a Matcher,
    idf: &'a [f32],
    averages: Averages,
    weights: &'a Weights,
}

impl<'a> Scorer<'a> {
    fn new(job: &'a Job<'a>, anchors: &'a Anchors) -> Self {
        Scorer { matcher: job.matcher, idf: &anchors.idf, averages: anchors.averages, weights: job.weights }
    }

    /// What the text last looked through is worth, what each term adds to that, and whether it has all the query's terms.
    fn score(&self, matches: &Matches, role: Role) -> (f32, Vec<f32>, bool) {
        let Weights { k1, b, stem, tool_error, own_words, .. } = *self.weights;
        let mut parts = vec![0.0; self.matcher.terms.len()];
        for found in &matches.list {
            if let Some(count) = parts.get_mut(usize::from(found.term)) {
                *count += if found.exact { 1.0 } else { stem };
            }
        }
        let of_role = match role {
            Role::ToolError => 1.0 - tool_error,
            Role::User | Role::Summary => 1.0 + own_words,
            Role::Assistant => 1.0,
        };
        let norm = k1 * (1.0 - b + b * matches.length as f32 / self.averages.terms.max(1.0));
        let mut has_all = true;
        for ((part, &idf), term) in parts.iter_mut().zip(self.idf).zip(&self.matcher.terms) {
            if *part > 0.0 {
                // Saying a word twice in a query makes it weigh more, but not twice as much.
                let said = 1.0 + 0.5 * (term.times as f32).ln();
                *part = of_role * said * idf * *part * (k1 + 1.0) / (*part + norm);
            } else if matches!(term.kind, Kind::Single | Kind::Pair | Kind::Word) {
                has_all = false;
            }
        }
        (parts.iter().sum(), parts, has_all)
    }
}
