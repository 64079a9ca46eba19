//! Times in which nothing of a session is kept: while the person pauses memory, and what a forgotten session held.

use rusqlite::OptionalExtension;

use super::{Store, time};
use crate::error::Result;

impl Store {
    /// Keeps nothing of this session from now on.
    pub fn pause(&self, session: &str) -> Result<()> {
        self.writing(|connection| {
            if is_paused(connection, session)? {
                return Ok(());
            }
            connection
                .prepare_cached("insert or replace into silence (session, since, until) values (?1, ?2, null)")?
                .execute((session, time::now()))?;
            Ok(())
        })
    }

    /// Keeps this session again from now on; what was said in between stays out.
    pub fn resume(&self, session: &str) -> Result<()> {
        self.writing(|connection| {
            connection
                .prepare_cached("update silence set until = ?2 where session = ?1 and until is null")?
                .execute((session, time::now()))?;
            Ok(())
        })
    }

    /// True while this session is paused.
    pub fn is_paused(&self, session: &str) -> Result<bool> {
        self.reading(|connection| is_paused(connection, session))
    }
}

fn is_paused(connection: &rusqlite::Connection, session: &str) -> Result<bool> {
    Ok(connection
        .prepare_cached("select 1 from silence where session = ?1 and until is null")?
        .query_row([session], |_| Ok(()))
        .optional()?
        .is_some())
}
