//! What state the store is in, and repairs what can be: an index is built anew from the messages, a damaged database is
//! copied message by message into a new one.

use rusqlite::Connection;

use super::{Store, index, rebuild, salvage};
use crate::error::{Kind, Result};

/// What a check found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Health {
    /// Nothing is wrong, or everything that was is repaired.
    pub ok: bool,
    /// What is wrong, for a person.
    pub problems: Vec<String>,
    /// What was done about it.
    pub repaired: Vec<String>,
}

impl Store {
    /// Reads the whole database and compares the index with the messages; repairs what can be when asked.
    pub fn check(&self, repair: bool) -> Result<Health> {
        let mut health = Health::default();
        let damage = self.in_background(|connection| Ok(damage(connection))).unwrap_or_else(|error| {
            // A database that does not even open is damaged in its first page.
            if error.kind() == Kind::Corrupt { vec![error.to_string()] } else { Vec::new() }
        });
        if !damage.is_empty() {
            health.problems.extend(damage);
            if repair {
                self.save_messages(&mut health)?;
            }
        } else if let Some(problem) = self.in_background(|connection| Ok(index_damage(connection)))? {
            health.problems.push(problem);
            let anew = |connection: &mut Connection| self.slot(connection, |connection, _| rebuild::begin(connection));
            match repair.then(|| self.in_background(anew)) {
                None => {}
                // An index so damaged that it cannot even be dropped.
                Some(Err(error)) if error.kind() == Kind::Corrupt => self.save_messages(&mut health)?,
                Some(Err(error)) => return Err(error),
                Some(Ok(())) => {
                    self.upkeep.note(&self.me);
                    let said = "the index is being built anew from the messages; searches are partial until then";
                    health.repaired.push(said.into());
                }
            }
        }
        health.ok = health.problems.is_empty() || repair;
        Ok(health)
    }

    /// Copies what can be read into a new store and goes on with that.
    fn save_messages(&self, health: &mut Health) -> Result<()> {
        self.close_connections();
        health.repaired.push(salvage::salvage(self.path())?);
        // Also where the new store does not open yet: its index is to be built as soon as it does.
        self.upkeep.note(&self.me);
        self.in_background(|_| Ok(()))
    }
}

/// What SQLite finds wrong with tables and their indexes; the full-text index is looked at by [`index_damage`].
pub(super) fn damage(connection: &Connection) -> Vec<String> {
    let run = || -> Result<Vec<String>> {
        let mut problems = Vec::new();
        for table in ["project", "session", "msg", "file", "forgotten", "silence", "setting"] {
            let mut statement = connection.prepare(&format!("pragma integrity_check('{table}')"))?;
            for line in statement.query_map([], |row| row.get::<_, String>(0))? {
                let line = line?;
                if line != "ok" {
                    problems.push(line);
                }
            }
        }
        problems.truncate(20);
        Ok(problems)
    };
    run().unwrap_or_else(|error| vec![error.to_string()])
}

/// What is wrong with the index, or nothing.
fn index_damage(connection: &Connection) -> Option<String> {
    let run = || -> Result<Option<String>> {
        connection.execute("insert into term (term, rank) values ('integrity-check', 0)", [])?;
        // Both of one moment: others go on writing.
        let _snapshot = connection.unchecked_transaction()?;
        if rebuild::unindexed(connection)? > 0 {
            return Ok(None);
        }
        let messages: i64 =
            connection.query_row("select count(*) from msg where origin is null", [], |row| row.get(0))?;
        let indexed = index::averages(connection)?.messages;
        Ok((messages.unsigned_abs() != indexed)
            .then(|| format!("the index has {indexed} messages, the store {messages}")))
    };
    run().unwrap_or_else(|error| Some(format!("the index is damaged: {error}")))
}

#[cfg(test)]
mod tests {
    use crate::store::open::beside;
    use crate::store::testing::{Place, bare};

    fn filled() -> Place {
        let place = Place::new();
        for at in 1..300 {
            place.capture("s", &bare(at, &format!("zebra number {at} {}", "words ".repeat(100))));
        }
        place.store.tidy().unwrap();
        place
    }

    #[test]
    fn a_sound_store_has_no_problems() {
        let health = filled().store.check(false).unwrap();
        assert_eq!((health.ok, health.problems.len()), (true, 0));
    }

    #[test]
    fn a_damaged_index_is_built_anew_from_the_messages() {
        let place = filled();
        let damaging = rusqlite::Connection::open(place.store.path()).unwrap();
        damaging.execute_batch("delete from term_data where id > 1000").unwrap();
        assert!(!place.store.check(false).unwrap().ok);
        assert_eq!(place.store.check(true).unwrap().repaired.len(), 1);
        while place.store.in_background(|connection| place.store.rebuild_step(connection)).unwrap() {}
        assert!(place.store.check(false).unwrap().ok);
        assert_eq!(place.finds("zebra"), 100);
    }

    #[test]
    fn a_damaged_database_is_copied_message_by_message_and_kept_beside() {
        let place = filled();
        let path = place.store.path().to_owned();
        // Overwrites a page in the middle of the file.
        let mut bytes = std::fs::read(&path).unwrap();
        let middle = bytes.len() / 2 / 4096 * 4096;
        bytes[middle..middle + 4096].fill(0xa5);
        std::fs::write(&path, bytes).unwrap();
        let health = place.store.check(true).unwrap();
        assert!(health.ok && !health.problems.is_empty(), "{health:?}");
        while place.store.in_background(|connection| place.store.rebuild_step(connection)).unwrap() {}
        assert!(place.store.check(false).unwrap().ok);
        assert!(place.store.ids("s").unwrap().len() > 200);
        let beside = std::fs::read_dir(path.parent().unwrap()).unwrap();
        assert!(beside.flatten().any(|entry| entry.file_name().to_string_lossy().contains(".corrupt-")));
        assert!(place.capture("s", &bare(1000, "goes on")).stored);
    }

    #[test]
    fn a_repaired_store_has_a_write_ahead_log_again() {
        let place = Place::new();
        let path = place.path("broken.db");
        std::fs::write(&path, "no database".repeat(1000)).unwrap();
        let store = crate::store::testing::open(&path);
        store.close();
        let mode: String =
            rusqlite::Connection::open(&path).unwrap().query_row("pragma journal_mode", [], |row| row.get(0)).unwrap();
        assert_eq!(mode, "wal");
    }

    #[test]
    fn a_repair_killed_before_its_last_step_is_finished_by_the_next_to_open() {
        let place = filled();
        let path = place.store.path().to_owned();
        place.store.close();
        // As it is left: the new store is whole, the damaged one already moved aside.
        std::fs::rename(&path, path.with_file_name("sessions.db.repaired")).unwrap();
        std::fs::File::create(path.with_file_name("sessions.db-repair")).unwrap();
        assert_eq!(crate::store::testing::open(&path).stats().unwrap().messages, 299);
    }

    #[test]
    fn a_file_that_is_no_database_is_set_aside() {
        let place = Place::new();
        let path = place.path("broken.db");
        std::fs::write(&path, "not a database at all, but long enough to look like one".repeat(100)).unwrap();
        let store = crate::store::testing::open(&path);
        assert_eq!(store.stats().unwrap().messages, 0);
        assert!(store.notice().is_some_and(|notice| notice.contains("/recall import")));
    }

    #[test]
    fn a_database_deleted_while_open_is_begun_anew() {
        let place = filled();
        for suffix in ["", "-wal", "-shm"] {
            let _ = std::fs::remove_file(beside(place.store.path(), suffix));
        }
        assert!(place.capture("s", &bare(5000, "after")).stored);
        assert_eq!(place.rows("s"), ["1 - after"]);
        assert!(place.store.path().is_file());
    }
}
