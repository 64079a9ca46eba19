//! The index: which messages hold which term. Derived from the messages; it can be rebuilt at any time.

use rusqlite::Connection;

use crate::error::Result;

/// Creates the empty index.
pub fn create(_connection: &Connection) -> Result<()> {
    Ok(())
}
