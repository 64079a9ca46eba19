//! Another store joins this one: every session, name and message of it, as often as one likes, in either direction.
//! What either store forgot stays forgotten in this one.

use std::path::Path;

use rusqlite::{Connection, OpenFlags};

use super::file::{Cursor, Mark, Placed, Share};
use super::session::Session;
use super::{Store, forget, schema, upgrade};
use crate::error::{Error, Kind, Result};
use crate::message::{Body, Entry, Kept, Role};

/// Messages read from the other store at once.
const BATCH: usize = 200;

/// A parent the other store does not name: the message before.
const BEFORE: &str = "";

/// What a merge brought.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Merged {
    /// Sessions read.
    pub sessions: u64,
    /// Messages stored.
    pub stored: u64,
    /// Messages that were here before.
    pub duplicates: u64,
}

/// True when the file is an SQLite database.
pub fn is_store(path: &Path) -> bool {
    use std::io::Read;
    let mut magic = [0; 16];
    // Opening a pipe waits for whoever writes to it.
    path.is_file()
        && std::fs::File::open(path).is_ok_and(|mut file| file.read_exact(&mut magic).is_ok())
        && magic == *b"SQLite format 3\0"
}

impl Store {
    /// Takes in what another store holds; `told` hears how many messages were stored so far and may end it.
    ///
    /// # Errors
    /// `InvalidArgument` when the other is no store of a known edition or is damaged; what writing into this one says.
    pub fn merge_store(&self, other: &Path, mut told: impl FnMut(&Merged) -> bool) -> Result<Merged> {
        let unreadable = |error| unreadable(other, error);
        let theirs = Other::open(other)?;
        let mut merged = Merged::default();
        self.take_forgotten(theirs.forgotten().map_err(unreadable)?, theirs.silences().map_err(unreadable)?)?;
        for (number, session) in theirs.sessions().map_err(unreadable)? {
            merged.sessions += 1;
            let mut cursor = Cursor::of_another_store(session);
            let mut after = 0;
            loop {
                let batch = theirs.messages(number, after, BATCH).map_err(unreadable)?;
                after += batch.len();
                let ends = batch.len() < BATCH;
                let mut share = [Share::new(cursor, batch, ends.then_some(Mark::START))];
                while !self.apply_in_background(&mut share)? {}
                let [Share { cursor: reached, .. }] = share;
                cursor = reached;
                let so_far = Merged {
                    stored: merged.stored + cursor.counts.stored,
                    duplicates: merged.duplicates + cursor.counts.duplicates,
                    ..merged
                };
                if !told(&so_far) {
                    return Ok(so_far);
                }
                if ends {
                    merged = so_far;
                    break;
                }
            }
        }
        Ok(merged)
    }

    /// What they forgot goes here, too.
    fn take_forgotten(&self, hashes: Vec<i64>, silences: Vec<(String, i64, i64)>) -> Result<()> {
        let forgot = self.in_background(|connection| {
            self.slot(connection, |connection, _| {
                for (session, since, until) in &silences {
                    connection
                        .prepare_cached(
                            "insert into silence (session, since, until) values (?1, ?2, ?3)
                             on conflict do update set until = max(until, excluded.until)",
                        )?
                        .execute((session, since, until))?;
                }
                Ok(())
            })?;
            let mut forgot = false;
            for chunk in hashes.chunks(BATCH) {
                let mut ids = self.slot(connection, |connection, _| {
                    let ids = chunk.iter().map(|hash| forget::refuse(connection, *hash));
                    ids.collect::<Result<Vec<_>>>().map(|ids| ids.concat())
                })?;
                ids.sort_unstable();
                ids.dedup();
                forgot |= !ids.is_empty();
                self.forget_all(connection, &ids)?;
            }
            Ok(forgot)
        })?;
        // The log still has the pages as they were.
        if forgot { self.tidy() } else { Ok(()) }
    }
}

/// What went wrong with the other store must not be taken for this one's: the advice is to choose another file.
fn unreadable(other: &Path, error: rusqlite::Error) -> Error {
    let reason = error.to_string();
    let kind = match Error::from(error).kind() {
        Kind::Corrupt => Kind::InvalidArgument,
        kind => kind,
    };
    Error::new(kind, format!("{}: this other store cannot be read ({reason})", other.display()))
}

/// The other store, which is only read.
struct Other {
    connection: Connection,
    version: i64,
}

impl Other {
    fn open(path: &Path) -> Result<Other> {
        let read = || {
            let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
            let version: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
            let known = match version {
                1 => upgrade::is_old_edition(&connection)?,
                other => other == schema::VERSION,
            };
            Ok((Other { connection, version }, known))
        };
        match read().map_err(|error| unreadable(path, error))? {
            (other, true) => Ok(other),
            (Other { version, .. }, false) => Err(Error::new(
                Kind::InvalidArgument,
                format!("{} is no memory store of a known edition (user_version {version})", path.display()),
            )),
        }
    }

    fn sessions(&self) -> rusqlite::Result<Vec<(i64, Session)>> {
        let sql = match self.version {
            1 => {
                "select rowid, id, cwd, started_at, nullif(name, ''), null, null, null from session order by started_at"
            }
            _ => {
                "select s.id, s.key, p.cwd, s.started_at, s.name, s.file, s.parent_file, s.parent
                 from session s join project p on p.id = s.project where s.messages > 0 order by s.started_at"
            }
        };
        let mut statement = self.connection.prepare(sql)?;
        let rows = statement.query_map([], |row| {
            Ok((
                row.get(0)?,
                Session {
                    id: row.get(1)?,
                    cwd: row.get(2)?,
                    started_at: row.get(3)?,
                    name: row.get(4)?,
                    file: row.get::<_, Option<String>>(5)?.filter(|file| Path::new(file).is_file()),
                    parent_file: row.get(6)?,
                    parent: row.get(7)?,
                },
            ))
        })?;
        rows.collect()
    }

    /// Messages of a session in its order, as entries of a file would say them.
    fn messages(&self, session: i64, after: usize, count: usize) -> rusqlite::Result<Vec<Placed>> {
        let sql = match self.version {
            1 => {
                "select m.ts, m.role, m.text, 0, null, null, null
                 from msg m join session s on s.id = m.session_id
                 where s.rowid = ?1 order by m.seq, m.id limit ?3 offset ?2"
            }
            _ => {
                "select m.ts, m.role, coalesce(m.text, o.text, ''), m.flags, m.entry, m.parent, p.entry
                 from msg m left join msg o on o.id = m.origin left join msg p on p.id = m.parent
                 where m.session = ?1 order by m.seq limit ?3 offset ?2"
            }
        };
        let mut statement = self.connection.prepare_cached(sql)?;
        let mut rows = statement.query((session, after as i64, count as i64))?;
        let mut messages = Vec::new();
        while let Some(row) = rows.next()? {
            let role = match self.version {
                1 => Role::parse(&row.get::<_, String>(1)?).unwrap_or(Role::Assistant),
                _ => Role::from_code(row.get(1)?),
            };
            let flags: i64 = row.get(3)?;
            let parent = match (row.get::<_, Option<i64>>(5)?, row.get::<_, Option<String>>(6)?) {
                (Some(0), _) => None,
                (_, named) => Some(named.unwrap_or_else(|| BEFORE.to_owned())),
            };
            let text: String = row.get(2)?;
            let kept = Kept {
                role,
                truncated: flags & schema::TRUNCATED != 0,
                private: flags & schema::PRIVATE != 0,
                call: None,
                text,
            };
            let terms = Some(crate::text::terms::index_terms(&kept.text));
            let entry = Entry { id: row.get(4)?, parent, ts: row.get(0)?, body: Body::Kept(kept) };
            messages.push(Placed { entry, terms, offset: 0, line: 1, last: true });
        }
        Ok(messages)
    }

    fn forgotten(&self) -> rusqlite::Result<Vec<i64>> {
        if self.version == 1 {
            return Ok(Vec::new());
        }
        let mut statement = self.connection.prepare("select hash from forgotten")?;
        let rows = statement.query_map([], |row| row.get(0))?;
        rows.collect()
    }

    /// Silences that ended; one still going on is that machine's own.
    fn silences(&self) -> rusqlite::Result<Vec<(String, i64, i64)>> {
        if self.version == 1 {
            return Ok(Vec::new());
        }
        let mut statement =
            self.connection.prepare("select session, since, until from silence where until is not null")?;
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        rows.collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::error::Kind;
    use crate::store::open::beside;
    use crate::store::testing::{Place, bare, user};
    use crate::store::{Conditions, Session};

    #[test]
    fn two_stores_join_in_either_direction_as_often_as_one_likes() {
        let (ours, theirs) = (Place::new(), Place::new());
        ours.capture("shared", &bare(1, "one"));
        theirs.import(&theirs.file("s.jsonl", "shared", &[user("a", None, 1, "one"), user("b", Some("a"), 2, "two")]));
        theirs.capture("own", &bare(5, "zebra"));
        for (to, from) in [(&ours, &theirs), (&theirs, &ours), (&ours, &theirs)] {
            to.import(from.store.path());
        }
        for place in [&ours, &theirs] {
            assert_eq!(place.rows("shared"), ["1 a one", "2 b two"]);
            assert_eq!(place.finds("zebra"), 1);
            assert_eq!(place.store.stats().unwrap().messages, 3);
        }
    }

    #[test]
    fn a_damaged_store_to_be_merged_is_named_and_not_taken_for_ones_own() {
        let place = Place::new();
        let damaged = place.path("damaged.db");
        std::fs::write(&damaged, format!("SQLite format 3\0{}", "damage".repeat(1000))).unwrap();
        let error = place.store.merge_store(&damaged, |_| true).unwrap_err();
        assert_eq!(error.kind(), Kind::InvalidArgument);
        let said = error.to_string();
        assert!(said.contains("damaged.db") && !said.contains("/recall check"), "{said}");
    }

    #[test]
    fn a_session_that_the_other_store_forgot_goes_with_its_name() {
        let (ours, theirs) = (Place::new(), Place::new());
        let named = Session { id: "s".into(), name: Some("a secret".into()), ..Session::default() };
        for place in [&ours, &theirs] {
            place.store.begin(&named).unwrap();
            place.capture("s", &bare(1, "zebra"));
        }
        theirs.store.forget(&Conditions { session: Some("s".into()), ..Conditions::default() }).unwrap();
        ours.import(theirs.store.path());
        let left = ours.store.session("s").unwrap();
        assert_eq!((left.messages, left.session.name), (0, None));
    }

    #[test]
    fn a_part_of_a_session_does_not_change_the_order_of_its_file() {
        let (ours, theirs) = (Place::new(), Place::new());
        let entries = [user("a", None, 1, "one"), user("b", Some("a"), 2, "two"), user("c", Some("b"), 3, "three")];
        let file = ours.file("s.jsonl", "s", &entries);
        ours.import(&file);
        theirs.capture("s", &entries[2]);
        ours.import(theirs.store.path());
        assert_eq!(ours.import(&file).stored, 0);
        assert_eq!(ours.rows("s"), ["1 a one", "2 b two", "3 c three"]);
    }

    #[test]
    fn what_either_forgot_stays_forgotten() {
        let (ours, theirs) = (Place::new(), Place::new());
        for place in [&ours, &theirs] {
            place.capture("s", &bare(1, "zebra"));
            place.capture("s", &bare(2, "giraffe"));
        }
        let id = theirs.messages("s").first().map(|row| row.id);
        theirs.store.forget(&Conditions { message: id, ..Conditions::default() }).unwrap();
        theirs.import(ours.store.path());
        assert_eq!((theirs.finds("zebra"), theirs.finds("giraffe")), (0, 1));
        ours.import(theirs.store.path());
        assert_eq!((ours.finds("zebra"), ours.finds("giraffe")), (0, 1));
        for ending in ["", "-wal"] {
            let bytes = std::fs::read(beside(ours.store.path(), ending)).unwrap_or_default();
            assert_eq!(memchr::memmem::find(&bytes, b"zebra"), None, "{ending}");
        }
    }
}
