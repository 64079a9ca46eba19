//! How much is kept, and of what.

use std::collections::BTreeMap;

use super::open::{FILES, beside};
use super::{BACK, Store, schema, time};
use crate::error::Result;

/// The store in figures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stats {
    /// The database.
    pub path: String,
    /// The database and its side files.
    pub bytes: u64,
    /// The number of its tables' shape.
    pub schema: i64,
    /// Messages, copies in forks among them.
    pub messages: i64,
    /// Sessions that hold messages.
    pub sessions: i64,
    /// Folders of those sessions.
    pub projects: i64,
    /// The time of the first message, unix milliseconds.
    pub oldest: Option<i64>,
    /// The time of the latest message, unix milliseconds.
    pub newest: Option<i64>,
    /// Oldest first.
    pub weeks: Vec<Week>,
    /// Busiest first, at most ten.
    pub top_projects: Vec<ProjectCount>,
}

/// Messages of one local week.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Week {
    /// The week's Monday, unix milliseconds.
    pub start: i64,
    /// Messages said in it.
    pub messages: i64,
}

/// Messages of one project name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectCount {
    /// The folders' bare name.
    pub project: String,
    /// Their sessions that hold messages.
    pub sessions: i64,
    /// Messages of those sessions.
    pub messages: i64,
}

impl Store {
    /// The store in figures. Copies in forks count as messages of their sessions. It looks at every message, on a
    /// connection of its own: nobody waits for it.
    pub fn stats(&self) -> Result<Stats> {
        let files = FILES.iter().filter_map(|ending| std::fs::metadata(beside(&self.path, ending)).ok());
        let bytes = files.map(|meta| meta.len()).sum();
        let mut own = None;
        let connection = self.held(&mut own, BACK)?.connection.unchecked_transaction()?;
        let (messages, sessions, projects) = connection.query_row(
            "select coalesce(sum(messages), 0), count(*), count(distinct project) from session where messages > 0",
            [],
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
        )?;
        // Quarters of an hour first, in SQL: every zone's Monday begins at one, and there are far fewer than messages.
        let mut weeks = BTreeMap::<i64, i64>::new();
        let (mut oldest, mut newest) = (None::<i64>, None::<i64>);
        let mut statement = connection.prepare("select min(ts), max(ts), count(*) from msg group by ts / 900000")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let (first, last, count): (i64, i64, i64) = (row.get(0)?, row.get(1)?, row.get(2)?);
            oldest = Some(oldest.map_or(first, |oldest| oldest.min(first)));
            newest = Some(newest.map_or(last, |newest| newest.max(last)));
            *weeks.entry(time::week_start(first)).or_default() += count;
        }
        let mut statement = connection.prepare(
            "select p.name, count(*), sum(s.messages) from session s join project p on p.id = s.project
             where s.messages > 0 group by p.name order by sum(s.messages) desc limit 10",
        )?;
        let top_projects = statement
            .query_map([], |row| {
                Ok(ProjectCount { project: row.get(0)?, sessions: row.get(1)?, messages: row.get(2)? })
            })?
            .collect::<rusqlite::Result<_>>()?;
        Ok(Stats {
            path: self.path.to_string_lossy().into_owned(),
            bytes,
            schema: schema::VERSION,
            messages,
            sessions,
            projects,
            oldest,
            newest,
            weeks: weeks.into_iter().map(|(start, messages)| Week { start, messages }).collect(),
            top_projects,
        })
    }
}
