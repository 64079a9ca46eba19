//! What a candidate's text is worth: BM25 over the query's terms.

use std::collections::HashSet;

use simdutf8::basic::from_utf8;

use super::anchors::Anchors;
use super::{Job, group};
use crate::error::Result;
use crate::message::Role;
use crate::store::index::Averages;
use crate::store::lookup::{self, MessageRow};
use crate::store::schema;
use crate::text::matcher::{Kind, Matcher, Matches, Term};
use crate::text::terms::FastHash;

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
    /// A candidate is worth at most this times the weight of what it holds and may hold; BM25's own limit is k1 + 1.
    pub reach: f32,
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
            reach: 1.6,
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
            bring: 20,
            session: 0.04,
            context_length: 60.0,
            tool_error: 0.1,
            own_words: 0.02,
        }
    }
}

/// Candidates that are read first however little they hold; twice as many found no more.
const ALWAYS: usize = 25;

/// A candidate that cannot come before this many others matters little.
pub(super) const PAGE: usize = 10;

/// Candidates read at once where more is wanted than the first ones gave.
const FURTHER: usize = 50;

/// Text read at once, in bytes: some thirty of the longest messages.
pub(super) const READ: usize = 2 << 20;

/// Text after which a few messages are enough: long ones would otherwise make a search slow.
const ENOUGH: usize = READ / 4;

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
    /// Candidates that were looked at.
    looked_at: usize,
}

impl Candidates {
    /// Candidates that were not looked at.
    pub(super) fn unread(&self, anchors: &Anchors) -> usize {
        anchors.candidates.len() - self.looked_at
    }

    /// Reads and scores the best candidates that meet the filters and hold what is quoted: those that may come on a
    /// first page.
    pub(super) fn first(reader: &mut Reader<'_>, anchors: &Anchors) -> Result<Candidates> {
        let mut out = Candidates::default();
        let Weights { prune, reach, candidates, .. } = *reader.job.weights;
        // A phrase of common words is in few of its candidates: reading on tells only how many more there are.
        let few = if reader.job.matcher.has_quotes() { PAGE } else { ALWAYS };
        let least = prune * anchors.candidates.first().map_or(0.0, |&(_, weight)| weight);
        let mut best = Best::default();
        for &(id, weight) in &anchors.candidates {
            let cannot_matter = weight < least || reach * (weight + anchors.unread_weight) < best.last();
            if out.messages.len() >= candidates
                || reader.read > READ
                || reader.read > ENOUGH && out.messages.len() >= few
                || cannot_matter && out.messages.len() >= ALWAYS
            {
                break;
            }
            out.looked_at += 1;
            let Some(scored) = reader.row(id)? else {
                out.left_out += 1;
                continue;
            };
            // Of a session that fills the page, the others' hits come before its further ones.
            let said = || out.messages.iter().filter(|other| other.session == scored.session).count();
            if !reader.job.options.by_session || said() < group::FIRST {
                best.add(scored.own);
            }
            out.messages.push(scored);
        }
        Ok(out)
    }

    /// Reads and scores the next candidates.
    pub(super) fn further(&mut self, reader: &mut Reader<'_>, anchors: &Anchors) -> Result<()> {
        let known: HashSet<i64, FastHash> = self.messages.iter().map(|message| message.id).collect();
        let (from, before) = (self.messages.len(), reader.read);
        for &(id, _) in anchors.candidates.iter().skip(self.looked_at) {
            if self.messages.len() >= from + FURTHER || reader.read > before + READ {
                break;
            }
            self.looked_at += 1;
            if known.contains(&id) {
                continue;
            }
            match reader.row(id)? {
                Some(scored) => self.messages.push(scored),
                None => self.left_out += 1,
            }
        }
        Ok(())
    }

    /// Goes on with other anchors' candidates.
    pub(super) fn restart(&mut self) {
        self.looked_at = 0;
    }
}

/// The best few scores so far.
#[derive(Default)]
struct Best([f32; PAGE]);

impl Best {
    fn add(&mut self, score: f32) {
        if let Some(last) = self.0.last_mut().filter(|last| score > **last) {
            *last = score;
            self.0.sort_unstable_by(|a, b| b.total_cmp(a));
        }
    }

    fn last(&self) -> f32 {
        self.0.last().copied().unwrap_or_default()
    }
}

/// Reads messages and scores them.
pub(super) struct Reader<'a> {
    pub(super) job: &'a Job<'a>,
    scorer: Scorer<'a>,
    matches: &'a mut Matches,
    messages: lookup::Messages<'a>,
    /// Bytes of text read.
    pub(super) read: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(job: &'a Job<'a>, anchors: &'a Anchors, matches: &'a mut Matches) -> Result<Self> {
        let messages = lookup::Messages::new(job.connection)?;
        Ok(Reader { job, scorer: Scorer::new(job, anchors), matches, messages, read: 0 })
    }

    /// The message with this id; nothing when filters or quotes leave it out.
    fn row(&mut self, id: i64) -> Result<Option<Scored>> {
        let Reader { job, scorer, matches, messages, read } = self;
        messages.look(id, |row| score(job, scorer, matches, read, row))
    }

    /// A session's message at a place.
    pub(super) fn place(&mut self, session: i64, seq: i64) -> Result<Option<Scored>> {
        let Reader { job, scorer, matches, read, .. } = self;
        lookup::at_place(job.connection, session, seq, |row| score(job, scorer, matches, read, row))
    }
}

/// What a row is worth; nothing when filters or quotes leave it out.
fn score(
    job: &Job<'_>,
    scorer: &mut Scorer<'_>,
    matches: &mut Matches,
    read: &mut usize,
    row: &MessageRow<'_>,
) -> Result<Option<Scored>> {
    let Job { connection, matcher, options, scope, left_out, .. } = *job;
    let (id, session, seq, ts) = row.numbers()?;
    let role = Role::from_code(row.role()?);
    if options.role.is_some_and(|wanted| wanted != role)
        || options.since.is_some_and(|since| ts < since)
        || options.until.is_some_and(|until| ts >= until)
        || options.for_model && row.flags()? & schema::PRIVATE != 0
        || left_out.has(id, session, seq, || row.entry())
        || !scope.has(connection, id, session)?
    {
        return Ok(None);
    }
    let Some(text) = row.text().and_then(|text| from_utf8(text).ok()) else {
        return Ok(None);
    };
    *read += text.len();
    if !matcher.find(text, matches) {
        return Ok(None);
    }
    let (own, has_all) = scorer.score(matches, role);
    Ok(Some(Scored {
        id,
        session,
        seq,
        ts,
        role,
        own,
        score: own,
        length: matches.length,
        asks: text.trim_end().ends_with(['?', '？']),
        has_all,
    }))
}

struct Scorer<'a> {
    matcher: &'a Matcher,
    /// What each term weighs in this query.
    idf: Vec<f32>,
    averages: Averages,
    weights: &'a Weights,
    /// How often the present text has each term.
    counts: Vec<f32>,
}

impl<'a> Scorer<'a> {
    fn new(job: &'a Job<'a>, anchors: &'a Anchors) -> Self {
        let terms = &job.matcher.terms;
        // Saying a word twice in a query makes it weigh more, but not twice as much.
        let said = |(term, idf): (&Term, &f32)| idf * (1.0 + 0.5 * (term.times as f32).ln());
        Scorer {
            matcher: job.matcher,
            idf: terms.iter().zip(&anchors.idf).map(said).collect(),
            averages: anchors.averages,
            weights: job.weights,
            counts: vec![0.0; terms.len()],
        }
    }

    /// What the text last looked through is worth, and whether it has all the query's terms.
    fn score(&mut self, matches: &Matches, role: Role) -> (f32, bool) {
        let Weights { k1, b, stem, tool_error, own_words, .. } = *self.weights;
        self.counts.fill(0.0);
        for found in &matches.list {
            if let Some(count) = self.counts.get_mut(usize::from(found.term)) {
                *count += if found.exact { 1.0 } else { stem };
            }
        }
        let norm = k1 * (1.0 - b + b * matches.length as f32 / self.averages.terms.max(1.0));
        let (mut sum, mut has_all) = (0.0, true);
        for ((&count, &idf), term) in self.counts.iter().zip(&self.idf).zip(&self.matcher.terms) {
            if count > 0.0 {
                sum += idf * count * (k1 + 1.0) / (count + norm);
            } else if matches!(term.kind, Kind::Single | Kind::Pair | Kind::Word) {
                has_all = false;
            }
        }
        let of_role = match role {
            Role::ToolError => 1.0 - tool_error,
            Role::User | Role::Summary => 1.0 + own_words,
            Role::Assistant => 1.0,
        };
        (of_role * sum, has_all)
    }
}
