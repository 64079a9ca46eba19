//! A window: consecutive messages of one branch around one of them.

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension, Row};

use super::session::{self, SessionSummary};
use super::{Store, schema};
use crate::error::{Error, Kind, Result};
use crate::message::Role;

/// Which messages of a session to read.
#[derive(Clone, Debug)]
pub struct Span {
    /// The message in the middle; default the session's last.
    pub around: Option<i64>,
    /// Messages to read before it, at most.
    pub before: usize,
    /// Messages to read after it, at most.
    pub after: usize,
    /// Leave out what is kept for the person only.
    pub for_model: bool,
}

impl Default for Span {
    fn default() -> Self {
        Span { around: None, before: 4, after: 6, for_model: false }
    }
}

/// A message as it is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Its id; it never changes.
    pub id: i64,
    /// Its place in the session, from 1.
    pub seq: i64,
    /// pi's entry id, when known.
    pub entry: Option<String>,
    /// Unix milliseconds.
    pub ts: i64,
    /// Who said it.
    pub role: Role,
    /// Markdown.
    pub text: String,
    /// The text was cut when it was stored.
    pub truncated: bool,
}

/// Consecutive messages, and how many more the branch has before and after them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window {
    /// The session read.
    pub session: SessionSummary,
    /// In the order of the branch.
    pub messages: Vec<Message>,
    /// Messages of the branch before these.
    pub before: usize,
    /// Messages of the branch after these.
    pub after: usize,
}

/// A row's place in its session's tree.
struct Node {
    id: i64,
    parent: Option<i64>,
    private: bool,
}

impl Store {
    /// The messages around one of them, on its branch.
    ///
    /// # Errors
    /// `NotFound` for an unknown session or a message of another session, `Ambiguous` for a prefix of several ids.
    pub fn read(&self, id: &str, span: &Span) -> Result<Window> {
        self.reading(|connection| {
            let number = session::resolve(connection, id)?;
            let summary = session::summary_of(connection, number)?;
            let nodes = nodes(connection, number)?;
            let centre = match span.around {
                None => nodes.len().checked_sub(1),
                Some(around) => Some(place_of(connection, &nodes, number, around).ok_or_else(|| {
                    Error::new(
                        Kind::NotFound,
                        format!("message {around} is not one of session {}; search again", summary.session.id),
                    )
                })?),
            };
            let Some(centre) = centre else {
                return Ok(Window { session: summary, messages: Vec::new(), before: 0, after: 0 });
            };
            let branch = branch(&nodes, centre);
            let mut shown: Vec<(usize, i64)> = Vec::with_capacity(branch.len());
            for at in branch {
                shown.extend(nodes.get(at).filter(|node| !(span.for_model && node.private)).map(|node| (at, node.id)));
            }
            let middle = shown.partition_point(|(at, _)| *at < centre);
            let from = middle.saturating_sub(span.before);
            let to = shown.len().min(middle.saturating_add(span.after).saturating_add(1));
            let wanted = shown.get(from..to).unwrap_or_default();
            let messages = wanted.iter().map(|(_, id)| message(connection, *id)).collect::<Result<_>>()?;
            Ok(Window { session: summary, messages, before: from, after: shown.len() - to })
        })
    }
}

#[cfg(test)]
impl Store {
    /// The ids of a session's messages in their order, all branches.
    pub(crate) fn ids(&self, id: &str) -> Result<Vec<i64>> {
        self.reading(|connection| {
            let number = session::resolve(connection, id)?;
            Ok(nodes(connection, number)?.into_iter().map(|node| node.id).collect())
        })
    }
}

/// Every row of the session in its order, without its text.
fn nodes(connection: &Connection, session: i64) -> Result<Vec<Node>> {
    let mut statement =
        connection.prepare_cached("select id, parent, flags from msg where session = ?1 order by seq")?;
    let rows = statement.query_map([session], |row| {
        Ok(Node { id: row.get(0)?, parent: row.get(1)?, private: row.get::<_, i64>(2)? & schema::PRIVATE != 0 })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Where the message stands in the session, itself or by the copy the session holds of it.
fn place_of(connection: &Connection, nodes: &[Node], session: i64, id: i64) -> Option<usize> {
    let at = |id: i64| nodes.iter().position(|node| node.id == id);
    at(id).or_else(|| {
        let copy = connection
            .prepare_cached(
                "select m.id from msg m, msg a
                 where a.id = ?1 and m.session = ?2 and m.hash = a.hash and m.entry = a.entry limit 1",
            )
            .ok()?
            .query_row((id, session), |row| row.get(0))
            .optional()
            .ok()??;
        at(copy)
    })
}

/// The places on the branch through `centre`: its ancestors, itself, and below it the branch taken last.
fn branch(nodes: &[Node], centre: usize) -> Vec<usize> {
    if nodes.iter().all(|node| node.parent.is_none()) {
        return (0..nodes.len()).collect();
    }
    let places: HashMap<i64, usize> = nodes.iter().enumerate().map(|(at, node)| (node.id, at)).collect();
    // A parent always stands before its child; anything else is no branch to follow.
    let parent = |at: usize| match nodes.get(at)?.parent {
        None => at.checked_sub(1),
        Some(id) => places.get(&id).copied().filter(|parent| *parent < at),
    };
    let mut branch: Vec<usize> = std::iter::successors(Some(centre), |at| parent(*at)).collect();
    branch.reverse();
    // The last row that descends from the centre is the end of the branch taken last.
    let mut descends = vec![false; centre];
    descends.push(true);
    let mut tip = centre;
    for at in centre + 1..nodes.len() {
        let below = parent(at).and_then(|parent| descends.get(parent)) == Some(&true);
        descends.push(below);
        if below {
            tip = at;
        }
    }
    let mut rest: Vec<usize> =
        std::iter::successors(Some(tip), |at| parent(*at)).take_while(|at| *at != centre).collect();
    rest.reverse();
    branch.extend(rest);
    branch
}

fn message(connection: &Connection, id: i64) -> Result<Message> {
    Ok(connection
        .prepare_cached(
            "select m.id, m.seq, m.entry, m.ts, m.role, m.flags, coalesce(m.text, o.text, '') as text
             from msg m left join msg o on o.id = m.origin where m.id = ?1",
        )?
        .query_row([id], |row: &Row<'_>| {
            Ok(Message {
                id: row.get(0)?,
                seq: row.get(1)?,
                entry: row.get(2)?,
                ts: row.get(3)?,
                role: Role::from_code(row.get(4)?),
                truncated: row.get::<_, i64>(5)? & schema::TRUNCATED != 0,
                text: row.get(6)?,
            })
        })?)
}
