//! Times in which nothing of a session is kept: while the person pauses memory, and what a forgotten session held.

use rusqlite::Connection;

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

fn is_paused(connection: &Connection, session: &str) -> Result<bool> {
    Ok(connection.prepare_cached("select 1 from silence where session = ?1 and until is null")?.exists([session])?)
}

/// The silences that cover the time `?2` of the session `?1`.
pub(super) const COVERING: &str =
    "select 1 from silence where session = ?1 and since <= ?2 and (until is null or ?2 < until)";

/// True when nothing is kept of what was said in this session at that time.
pub(super) fn covers(connection: &Connection, session: &str, ts: i64) -> Result<bool> {
    Ok(connection.prepare_cached(COVERING)?.exists((session, ts))?)
}

#[cfg(test)]
mod tests {
    use crate::store::testing::{Place, user};
    use crate::store::{Conditions, Session};

    fn named(ts: &str) -> String {
        format!(r#"{{"type":"session_info","id":"n{ts}","parentId":"a","timestamp":"{ts}","name":"a secret"}}"#)
    }

    fn name(place: &Place) -> Option<String> {
        place.store.session("s").unwrap().session.name
    }

    #[test]
    fn a_name_given_while_memory_is_paused_is_not_kept() {
        let place = Place::new();
        place.store.pause("s").unwrap();
        place.store.begin(&Session { id: "s".into(), name: Some("a secret".into()), ..Session::default() }).unwrap();
        place.capture("s", &named("2100-01-01T00:00:00Z"));
        assert_eq!(name(&place), None);
        place.store.resume("s").unwrap();
        place.capture("s", &named("2100-01-01T00:00:00Z"));
        assert_eq!(name(&place).as_deref(), Some("a secret"));
    }

    #[test]
    fn a_forgotten_sessions_name_does_not_come_back() {
        let (place, other) = (Place::new(), Place::new());
        let entries = [user("a", None, 1, "zebra"), named("2026-10-15T14:00:02Z")];
        let file = place.file("s.jsonl", "s", &entries);
        for place in [&place, &other] {
            place.import(&file);
        }
        assert_eq!(name(&place).as_deref(), Some("a secret"));
        place.store.forget(&Conditions { session: Some("s".into()), ..Conditions::default() }).unwrap();
        place.file("s.jsonl", "s", &[&entries[..], &[named("2026-10-15T14:00:03Z")]].concat());
        for source in [file.as_path(), other.store.path()] {
            place.import(source);
            assert_eq!(name(&place), None, "{}", source.display());
        }
    }
}
