//! What the conversation around a message adds to it.
//!
//! A short turn means what the turns around it are about: "Seven years!" answers the question before it and names
//! nothing that was asked for. So a message is worth, beside its own words, a share of its neighbours' and its session's,
//! the larger the shorter it is. When no message has the whole query, the best questions bring their answers along, which
//! no anchor would find.

use std::collections::{HashMap, HashSet};

use super::score::{Reader, Scored};
use super::{Job, Weights};
use crate::error::Result;
use crate::text::terms::FastHash;

/// How many of a session's best messages speak for it.
const SESSION: usize = 10;

/// Ranks the messages, best first, having added answers to them.
pub(super) fn rank(messages: &mut Vec<Scored>, reader: &mut Reader<'_>) -> Result<()> {
    let Job { weights, matcher, .. } = *reader.job;
    rank_further(messages, 0, weights);
    if weights.bring > 0 && !matcher.has_quotes() && !messages.iter().any(|message| message.has_all) {
        let mut known: HashSet<(i64, i64), FastHash> = messages.iter().map(place).collect();
        let questions = messages.iter().take(weights.bring).filter(|message| message.asks);
        let answers: Vec<(i64, i64)> = questions.map(|message| (message.session, message.seq + 1)).collect();
        for (session, seq) in answers {
            if known.insert((session, seq)) {
                messages.extend(reader.place(session, seq)?);
            }
        }
        rank_further(messages, 0, weights);
    }
    Ok(())
}

fn place(message: &Scored) -> (i64, i64) {
    (message.session, message.seq)
}

/// Gives each message from a place on its score, and sorts these best first; the newer of equals comes first. Those
/// before it, which a page may have shown, stay as they are.
pub(super) fn rank_further(messages: &mut [Scored], from: usize, weights: &Weights) {
    let places: HashMap<(i64, i64), usize, FastHash> =
        messages.iter().enumerate().map(|(at, message)| (place(message), at)).collect();
    let mut of_session: HashMap<i64, Vec<f32>, FastHash> = HashMap::default();
    for message in messages.iter() {
        of_session.entry(message.session).or_default().push(message.own);
    }
    let of_session: HashMap<i64, f32, FastHash> = of_session
        .into_iter()
        .map(|(session, mut scores)| {
            scores.sort_by(|a, b| b.total_cmp(a));
            (session, scores.iter().take(SESSION).sum())
        })
        .collect();
    let near = |message: &Scored, step: i64| {
        let near = messages.get(*places.get(&(message.session, message.seq + step))?)?;
        Some(match step {
            1 => weights.after * near.own,
            _ if near.asks => (1.0 + weights.answer) * near.own,
            _ => near.own,
        })
    };
    let further = messages.get(from..).unwrap_or_default();
    let scores: Vec<f32> = further
        .iter()
        .map(|message| {
            let around = near(message, -1).unwrap_or(0.0) + near(message, 1).unwrap_or(0.0);
            let session = of_session.get(&message.session).copied().unwrap_or(0.0);
            let lean = 1.0 / (1.0 + message.length as f32 / weights.context_length);
            message.own + lean * (weights.neighbours * around + weights.session * session)
        })
        .collect();
    let further = messages.get_mut(from..).unwrap_or_default();
    for (message, score) in further.iter_mut().zip(scores) {
        message.score = score;
    }
    further.sort_by(|a, b| b.score.total_cmp(&a.score).then(b.ts.cmp(&a.ts)).then(b.id.cmp(&a.id)));
}
