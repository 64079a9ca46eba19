//! The index anew from the messages, newest first, in steps that survive an interruption: after an upgrade, after terms
//! changed, or when the index was damaged. The setting `unindexed` is the id up to which messages are not indexed yet.

use rusqlite::{Connection, OptionalExtension};

use super::{Store, index, turn, write};
use crate::error::Result;

/// Messages whose ids are looked up at once.
const STEP: usize = 64;

/// Drops the index and says that every message is to be indexed.
pub(super) fn begin(connection: &Connection) -> Result<()> {
    index::drop(connection)?;
    index::create(connection)?;
    connection.execute(
        "insert or replace into setting (name, value) select 'unindexed', coalesce(max(id), 0) from msg",
        [],
    )?;
    stamp(connection)
}

/// Says that the index is made with the terms of this edition.
pub(super) fn stamp(connection: &Connection) -> Result<()> {
    connection.execute(
        "insert or replace into setting (name, value) values ('index_version', ?1)",
        [index::VERSION.to_string()],
    )?;
    Ok(())
}

/// True when the index is made with the terms of this edition.
pub(super) fn is_current(connection: &Connection) -> Result<bool> {
    let version: Option<String> = connection
        .query_row("select value from setting where name = 'index_version'", [], |row| row.get(0))
        .optional()?;
    Ok(version == Some(index::VERSION.to_string()))
}

/// The id up to which messages are not indexed yet; 0 when all are.
pub(super) fn unindexed(connection: &Connection) -> Result<i64> {
    Ok(connection
        .prepare_cached("select cast(value as integer) from setting where name = 'unindexed'")?
        .query_row([], |row| row.get(0))
        .optional()?
        .unwrap_or(0))
}

impl Store {
    /// Indexes some of the messages that are not; true while there are more.
    pub(super) fn rebuild_step(&self, connection: &mut Connection) -> Result<bool> {
        if unindexed(connection)? == 0 {
            return Ok(false);
        }
        self.slot(connection, rebuild_some)
    }
}

fn rebuild_some(connection: &Connection, slot: &turn::Slot<'_>) -> Result<bool> {
    let mut left = unindexed(connection)?;
    while left > 0 && !slot.is_over() {
        let ids: Vec<i64> = connection
            .prepare_cached("select id from msg where id <= ?1 and origin is null order by id desc limit ?2")?
            .query_map((left, STEP as i64), |row| row.get(0))?
            .collect::<rusqlite::Result<_>>()?;
        // Fewer than were asked for are the last: when they are done, nothing is left.
        left = if ids.len() < STEP { 0 } else { left };
        for id in ids {
            write::add_terms(connection, id)?;
            left = left.min(id - 1);
            if slot.is_over() {
                left = id - 1;
                break;
            }
        }
    }
    if left > 0 {
        connection
            .prepare_cached("update setting set value = ?1 where name = 'unindexed'")?
            .execute([left.to_string()])?;
    } else {
        connection.execute("delete from setting where name = 'unindexed'", [])?;
    }
    Ok(left > 0)
}
