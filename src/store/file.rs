//! How far each of pi's session files was read, and the order its entries give to the rows of their session.
//!
//! Rows up to `placed` stand in the file's order; rows after it came from events and wait for the file to name them.
//! Each entry read takes the place after `placed`: the row it claims moves there, a new row is put there.

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension, Row as SqlRow, named_params};

use super::session::Session;
use super::write::{self, Found, Home, New};
use super::{Store, session};
use crate::error::Result;
use crate::message::{Body, Entry, Role};

/// Added to the `seq` of rows that wait for their place, to make room before them; far above any real place.
const PARKED: i64 = 1 << 40;

/// How far a file was read, and what it looked like then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// Its bytes when it was read to its end; -1 when it was not.
    pub size: i64,
    /// When it was changed last, nanoseconds since 1970.
    pub mtime: i64,
    /// 0 where the file system has none.
    pub inode: i64,
    /// The first byte not read yet.
    pub offset: u64,
    /// The number of the line that byte is in, from 1.
    pub line: u64,
    /// A fingerprint of the bytes before `offset`: it tells an appended file from a rewritten one.
    pub print: i64,
}

impl Mark {
    /// Nothing read yet.
    pub const START: Mark = Mark { size: -1, mtime: 0, inode: 0, offset: 0, line: 1, print: 0 };
}

/// What is remembered of a session file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileState {
    /// pi's id of the session it holds; `None` for a file of which nothing is to be read.
    pub session: Option<String>,
    /// How far it was read.
    pub mark: Mark,
    /// Rows of the session up to this `seq` stand in the file's order.
    placed: i64,
    /// The last entry read, and the nearest kept message on its branch up to it (0 for none): most entries follow the one
    /// before them.
    last_entry: Option<String>,
    last_msg: i64,
}

impl FileState {
    /// No message of the file is placed.
    fn of_nothing(mark: Mark) -> FileState {
        FileState { session: None, mark, placed: 0, last_entry: None, last_msg: 0 }
    }
}

/// What reading entries changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// New rows.
    pub stored: u64,
    /// Messages that had a row.
    pub duplicates: u64,
    /// Rows that took the file's text, or went because the file keeps nothing of them.
    pub changed: u64,
}

/// One entry and where it ends in the file.
pub struct Placed {
    /// The entry.
    pub entry: Entry,
    /// The kept text's terms, when they were cut ahead of the transaction.
    pub terms: Option<String>,
    /// The first byte after it.
    pub offset: u64,
    /// The number of the line that byte is in, from 1.
    pub line: u64,
    /// No other entry of the same line follows: what was read may be remembered up to here.
    pub last: bool,
}

/// Entries of one file on their way into the store. Several files' shares go in together, because every commit costs a
/// flush of the index, and most files are short.
pub struct Share {
    /// The place in the file; it moves on as entries are applied.
    pub cursor: Cursor,
    entries: Vec<Placed>,
    /// What to remember of the file once all are applied.
    end: Option<Mark>,
    /// How many entries are applied.
    applied: usize,
    /// How it ended; `None` while entries wait to be applied.
    pub ended: Option<Outcome>,
}

impl Share {
    /// What is to be applied at `cursor`; `end` is what to remember of the file then.
    pub fn new(cursor: Cursor, entries: Vec<Placed>, end: Option<Mark>) -> Share {
        Share { cursor, entries, end, applied: 0, ended: None }
    }
}

/// How a call that applies entries ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// This many entries were applied; the others are to be given again.
    Applied(usize),
    /// Another reader of the same file was faster: start again from what it remembered.
    Overtaken,
    /// The session's folder is one of those never kept.
    Excluded,
}

/// The place of a reader in a session file.
pub struct Cursor {
    path: String,
    session: Session,
    state: FileState,
    /// The file is read from its start: a parent that was not met is in no earlier part of it.
    whole: bool,
    /// For each entry read so far, by pi's id, the nearest kept message on its branch up to it; 0 for none.
    links: HashMap<String, i64>,
    /// Rows moved, changed or went: the session is to be counted again.
    stirred: bool,
    /// A parent lies in a part of the file that was read before: only the whole file tells where.
    pub reread: bool,
    /// What the entries read so far changed.
    pub counts: Counts,
}

impl Cursor {
    /// A reader that goes on where `state` ends, or begins anew.
    pub fn new(path: &str, session: Session, state: Option<FileState>) -> Cursor {
        let mut state =
            state.filter(|state| state.mark.offset > 0).unwrap_or_else(|| FileState::of_nothing(Mark::START));
        let whole = state.mark.offset == 0;
        state.session = Some(session.id.clone());
        Cursor {
            path: path.to_owned(),
            session,
            state,
            whole,
            links: HashMap::new(),
            stirred: false,
            reread: false,
            counts: Counts::default(),
        }
    }

    /// A reader over a session of another store, of which nothing is remembered.
    pub(super) fn of_another_store(session: Session) -> Cursor {
        Cursor::new("", session, None)
    }

    /// The file's path.
    pub fn path(&self) -> &str {
        &self.path
    }
}

impl Store {
    /// What is remembered of every session file, and of those of which nothing is to be read.
    pub fn files(&self) -> Result<HashMap<String, FileState>> {
        self.in_background(|connection| {
            // A file that was passed over is looked at again once other folders are excluded.
            let mut statement =
                connection.prepare(&format!("{STATE} where f.session is not null or f.print = ?1 order by f.path"))?;
            let rows = statement.query_map([self.excluded.fingerprint()], |row| Ok((row.get("path")?, state(row)?)))?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }

    /// Remembers files of which nothing is to be read while they stay as they are: no sessions, or private ones.
    pub fn pass_over(&self, files: &[(String, Mark)]) -> Result<()> {
        if files.is_empty() {
            return Ok(());
        }
        self.in_background(|connection| {
            self.slot(connection, |connection, _| {
                for (path, mark) in files {
                    let mark = Mark { print: self.excluded.fingerprint(), ..*mark };
                    save(connection, path, None, &FileState::of_nothing(mark))?;
                }
                Ok(())
            })
        })
    }

    /// What is remembered of one session file.
    pub fn file(&self, path: &str) -> Result<Option<FileState>> {
        self.reading(|connection| load(connection, path))
    }

    /// Applies entries in the file's order on the event loop's connection; `end` is given when they reach its end.
    pub fn apply(&self, cursor: &mut Cursor, entries: &[Placed], end: Option<Mark>) -> Result<Outcome> {
        self.writing(|connection| self.apply_some(connection, cursor, entries, end, || false))
    }

    /// The same in the background, for several files: stops early when its time is up or a capture waits. True when
    /// every share has ended; else it is to be called again.
    pub fn apply_in_background(&self, shares: &mut [Share]) -> Result<bool> {
        self.in_background(|connection| {
            self.slot(connection, |connection, slot| {
                for share in shares.iter_mut().filter(|share| share.ended.is_none()) {
                    let rest = share.entries.get(share.applied..).unwrap_or_default();
                    let progress =
                        self.apply_some(connection, &mut share.cursor, rest, share.end, || slot.is_over())?;
                    match progress {
                        Outcome::Applied(count) if count < rest.len() => share.applied += count,
                        ended => share.ended = Some(ended),
                    }
                    if slot.is_over() {
                        break;
                    }
                }
                Ok(shares.iter().all(|share| share.ended.is_some()))
            })
        })
    }

    fn apply_some(
        &self,
        connection: &Connection,
        cursor: &mut Cursor,
        entries: &[Placed],
        end: Option<Mark>,
        is_over: impl Fn() -> bool,
    ) -> Result<Outcome> {
        let remembered = !cursor.path.is_empty();
        let begins = cursor.whole && cursor.state.mark.offset == 0;
        if remembered && !begins {
            let stored = load(connection, &cursor.path)?.map_or((0, 0), |state| (state.mark.offset, state.placed));
            if stored != (cursor.state.mark.offset, cursor.state.placed) {
                return Ok(Outcome::Overtaken);
            }
        }
        if self.excluded.covers(&cursor.session.cwd) {
            return Ok(Outcome::Excluded);
        }
        let number = if begins {
            session::begin_from_file(connection, &cursor.session)?
        } else {
            session::number(connection, &cursor.session.id, 0)?
        };
        if self.is_excluded(connection, number)? {
            return Ok(Outcome::Excluded);
        }
        let key = cursor.session.id.clone();
        let mut reading = Reading::start(connection, cursor, Home::of(connection, &key, number)?)?;
        let mut applied = 0;
        for placed in entries {
            reading.apply(&placed.entry, placed.terms.as_deref())?;
            reading.cursor.state.mark.offset = placed.offset;
            reading.cursor.state.mark.line = placed.line;
            applied += 1;
            if placed.last && is_over() {
                break;
            }
        }
        reading.count()?;
        let end = end.filter(|_| applied == entries.len());
        if let Some(end) = end {
            if reading.cursor.stirred && !remembered {
                // Another store may have part of a session only, or another order: the file is to put it right again.
                connection
                    .prepare_cached("update file set size = -1, print = 0 where session = ?1")?
                    .execute([number])?;
            }
            reading.settle()?;
            cursor.state.mark = if cursor.reread { Mark::START } else { end };
        } else {
            // Without a fingerprint the next reader starts anew, should this one not come to an end.
            cursor.state.mark.size = -1;
            cursor.state.mark.print = 0;
        }
        if remembered {
            save(connection, &cursor.path, Some(number), &cursor.state)?;
        }
        Ok(Outcome::Applied(applied))
    }
}

/// What one transaction does to one session.
struct Reading<'a> {
    connection: &'a Connection,
    cursor: &'a mut Cursor,
    home: Home<'a>,
    started_at: i64,
    /// The message at the place `placed`; 0 for none.
    previous: i64,
    /// There are rows after `placed`, which wait for the file to name them.
    waiting: bool,
    /// They were moved out of the way, behind [`PARKED`].
    parked: bool,
    /// Entries of which the file keeps nothing, but an event may have.
    nothing: Vec<(Role, i64)>,
    /// New rows, the latest of their times, and the first words of the user among them.
    added: i64,
    last_at: i64,
    opening: Option<String>,
}

impl<'a> Reading<'a> {
    fn start(connection: &'a Connection, cursor: &'a mut Cursor, home: Home<'a>) -> Result<Reading<'a>> {
        let session = home.session;
        let placed = cursor.state.placed;
        let started_at = connection
            .prepare_cached("select started_at from session where id = ?1")?
            .query_row([session], |row| row.get(0))?;
        let previous = connection
            .prepare_cached("select id from msg where session = ?1 and seq = ?2")?
            .query_row((session, placed), |row| row.get(0))
            .optional()?
            .unwrap_or(0);
        let last: i64 = connection
            .prepare_cached("select coalesce(max(seq), 0) from msg where session = ?1")?
            .query_row([session], |row| row.get(0))?;
        Ok(Reading {
            connection,
            cursor,
            home,
            started_at,
            previous,
            waiting: last > placed,
            parked: last > PARKED,
            nothing: Vec::new(),
            added: 0,
            last_at: 0,
            opening: None,
        })
    }

    fn apply(&mut self, entry: &Entry, terms: Option<&str>) -> Result<()> {
        let ts = if entry.ts == 0 { self.started_at } else { entry.ts };
        let ancestor = self.ancestor(entry)?;
        let mut nearest = ancestor;
        match &entry.body {
            Body::Kept(kept) => {
                let new = New { terms, ..New::of(entry.id.as_deref(), ts, kept, true) };
                if let Some(id) = self.place(&new, ancestor)? {
                    nearest = id;
                }
            }
            Body::Nothing(Some(role)) => self.nothing.push((*role, ts)),
            Body::Name(name) => {
                session::rename(self.connection, self.home.session, self.home.key, name.as_deref(), ts)?;
            }
            Body::Nothing(None) | Body::Unknown(_) => {}
            Body::Header(_) => return Ok(()),
        }
        self.cursor.state.last_msg = nearest;
        if let Some(id) = &entry.id {
            self.cursor.links.insert(id.clone(), nearest);
            self.cursor.state.last_entry = Some(id.clone());
        }
        Ok(())
    }

    /// The nearest kept message before this entry on its branch, 0 for none.
    fn ancestor(&mut self, entry: &Entry) -> Result<i64> {
        let state = &self.cursor.state;
        let Some(parent) = &entry.parent else {
            return Ok(if entry.id.is_some() { 0 } else { state.last_msg });
        };
        if let Some(id) = self.cursor.links.get(parent) {
            return Ok(*id);
        }
        if state.last_entry.as_ref() == Some(parent) {
            return Ok(state.last_msg);
        }
        // Whoever reads the whole file has met every parent: one that stands further down is none.
        if self.cursor.whole {
            return Ok(state.last_msg);
        }
        let known = self
            .connection
            .prepare_cached(
                "select id from msg where session = ?1 and entry = ?2 and seq <= ?3 order by seq desc limit 1",
            )?
            .query_row((self.home.session, parent, state.placed), |row| row.get(0))
            .optional()?;
        if let Some(id) = known {
            return Ok(id);
        }
        let nearest = state.last_msg;
        self.cursor.reread = true;
        Ok(nearest)
    }

    /// Puts a message at the next place; `None` when it is not wanted.
    fn place(&mut self, new: &New<'_>, ancestor: i64) -> Result<Option<i64>> {
        let placed = self.cursor.state.placed;
        let seq = placed + 1;
        let follows = ancestor == self.previous || (ancestor == 0 && placed == 0);
        let parent = (!follows).then_some(ancestor);
        let found = if self.waiting {
            write::find(self.connection, &self.home, new, placed, 0)?
        } else {
            write::find_none(self.connection, &self.home, new)?
        };
        let id = match found {
            Found::Unwanted => return Ok(None),
            Found::Row(row) => {
                if write::claim(self.connection, self.home.session, &row, new)? {
                    self.cursor.counts.changed += 1;
                    self.cursor.stirred = true;
                }
                self.cursor.counts.duplicates += 1;
                if row.seq != seq {
                    self.make_room()?;
                    self.cursor.stirred = true;
                }
                if row.seq != seq || row.parent != parent {
                    self.connection
                        .prepare_cached("update msg set seq = ?2, parent = ?3 where id = ?1")?
                        .execute((row.id, seq, parent))?;
                }
                row.id
            }
            Found::New => {
                if self.waiting {
                    self.make_room()?;
                    self.cursor.stirred = true;
                }
                self.cursor.counts.stored += 1;
                self.added += 1;
                self.last_at = self.last_at.max(new.ts);
                if self.opening.is_none() {
                    self.opening = session::opening(new.kept);
                }
                write::insert(self.connection, &self.home, seq, parent, new)?
            }
        };
        self.cursor.state.placed = seq;
        self.previous = id;
        Ok(Some(id))
    }

    /// Moves the rows that wait out of the way, once.
    fn make_room(&mut self) -> Result<()> {
        if !self.parked {
            self.parked = true;
            self.connection
                .prepare_cached("update msg set seq = seq + ?3 where session = ?1 and seq > ?2 and seq < ?3")?
                .execute((self.home.session, self.cursor.state.placed, PARKED))?;
        }
        Ok(())
    }

    /// Adds what this transaction stored to the session's counts.
    fn count(&mut self) -> Result<()> {
        if self.added > 0 {
            let opening = self.opening.as_deref();
            session::count_added(self.connection, self.home.session, self.added, self.last_at, opening)?;
        }
        for (role, ts) in std::mem::take(&mut self.nothing) {
            if !self.waiting {
                break;
            }
            let placed = self.cursor.state.placed;
            if let Some(row) = write::unclaimed(self.connection, self.home.session, role, ts, placed)? {
                write::remove(self.connection, row.id)?;
                self.cursor.counts.changed += 1;
                self.cursor.stirred = true;
            }
        }
        Ok(())
    }

    /// At the end of the file: what still waits comes after it, without gaps.
    fn settle(&mut self) -> Result<()> {
        let placed = self.cursor.state.placed;
        if self.waiting {
            let waiting: Vec<(i64, i64)> = self
                .connection
                .prepare_cached("select id, seq from msg where session = ?1 and seq > ?2 order by seq")?
                .query_map((self.home.session, placed), |row| Ok((row.get(0)?, row.get(1)?)))?
                .collect::<rusqlite::Result<_>>()?;
            for ((id, seq), place) in waiting.into_iter().zip(placed + 1..) {
                if seq != place {
                    self.connection.prepare_cached("update msg set seq = ?2 where id = ?1")?.execute((id, place))?;
                }
            }
        }
        if std::mem::take(&mut self.cursor.stirred) {
            session::recount(self.connection, self.home.session)?;
        }
        Ok(())
    }
}

const STATE: &str = "
    select f.path, s.key as session, f.size, f.mtime, f.inode, f.offset, f.line, f.print, f.placed, f.last_entry,
           f.last_msg
    from file f left join session s on s.id = f.session";

fn state(row: &SqlRow<'_>) -> rusqlite::Result<FileState> {
    Ok(FileState {
        session: row.get("session")?,
        mark: Mark {
            size: row.get("size")?,
            mtime: row.get("mtime")?,
            inode: row.get("inode")?,
            offset: row.get::<_, i64>("offset")?.unsigned_abs(),
            line: row.get::<_, i64>("line")?.unsigned_abs(),
            print: row.get("print")?,
        },
        placed: row.get("placed")?,
        last_entry: row.get("last_entry")?,
        last_msg: row.get("last_msg")?,
    })
}

fn load(connection: &Connection, path: &str) -> Result<Option<FileState>> {
    Ok(connection.prepare_cached(&format!("{STATE} where f.path = ?1"))?.query_row([path], state).optional()?)
}

fn save(connection: &Connection, path: &str, session: Option<i64>, state: &FileState) -> Result<()> {
    let mark = &state.mark;
    connection
        .prepare_cached(
            "insert or replace into file
                 (path, session, size, mtime, inode, offset, line, print, placed, last_entry, last_msg)
             values (:path, :session, :size, :mtime, :inode, :offset, :line, :print, :placed, :last_entry, :last_msg)",
        )?
        .execute(named_params! {
            ":path": path, ":session": session, ":size": mark.size, ":mtime": mark.mtime, ":inode": mark.inode,
            ":offset": mark.offset.cast_signed(), ":line": mark.line.cast_signed(), ":print": mark.print,
            ":placed": state.placed, ":last_entry": state.last_entry, ":last_msg": state.last_msg,
        })?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::store::Span;
    use crate::store::testing::{Place, bare, entry, failure, user};

    #[test]
    fn the_file_brings_entry_ids_to_what_events_stored() {
        let place = Place::new();
        let first = place.capture("s", &bare(1, "one")).id;
        place.capture("s", &bare(2, "two"));
        let file = place.file("s.jsonl", "s", &[user("a", None, 1, "one"), user("b", Some("a"), 2, "two")]);
        let tail = place.tail("s", &file);
        assert_eq!((tail.stored, tail.changed, tail.behind), (0, 0, 0));
        assert_eq!(place.rows("s"), ["1 a one", "2 b two"]);
        assert_eq!(place.messages("s").first().map(|row| row.id), first);
    }

    #[test]
    fn what_no_event_carried_takes_its_place_between() {
        let place = Place::new();
        place.capture("s", &bare(1, "one"));
        place.capture("s", &bare(3, "three"));
        let entries = [user("a", None, 1, "one"), user("b", Some("a"), 2, "two"), user("c", Some("b"), 3, "three")];
        let file = place.file("s.jsonl", "s", &entries);
        assert_eq!(place.tail("s", &file).stored, 1);
        assert_eq!(place.rows("s"), ["1 a one", "2 b two", "3 c three"]);
    }

    #[test]
    fn a_message_the_file_does_not_have_yet_stays_at_the_end() {
        let place = Place::new();
        place.capture("s", &bare(2, "late"));
        let file = place.file("s.jsonl", "s", &[user("a", None, 1, "early")]);
        place.tail("s", &file);
        assert_eq!(place.rows("s"), ["1 a early", "2 - late"]);
    }

    #[test]
    fn a_rewritten_message_keeps_its_row_and_takes_the_files_text() {
        let place = Place::new();
        let id = place.capture("s", &bare(1, "before zebra")).id;
        let file = place.file("s.jsonl", "s", &[user("a", None, 1, "after giraffe")]);
        assert_eq!(place.tail("s", &file).changed, 1);
        assert_eq!(place.rows("s"), ["1 a after giraffe"]);
        assert_eq!(place.messages("s").first().map(|row| row.id), id);
        assert_eq!((place.finds("zebra"), place.finds("giraffe")), (0, 1));
    }

    #[test]
    fn a_message_the_file_keeps_nothing_of_goes() {
        let place = Place::new();
        place.capture("s", &failure("c1", 1, "boom"));
        let success = failure("c1", 1, "boom").replace("true", "false");
        let file = place.file("s.jsonl", "s", &[entry("a", None, &success), user("b", Some("a"), 2, "next")]);
        assert_eq!(place.tail("s", &file).changed, 1);
        assert_eq!(place.rows("s"), ["1 b next"]);
    }

    #[test]
    fn parallel_errors_of_one_time_and_text_are_two() {
        let place = Place::new();
        let (one, two) = (failure("c1", 1, "boom"), failure("c2", 1, "boom"));
        assert!(place.capture("s", &one).stored && place.capture("s", &two).stored);
        assert!(!place.capture("s", &one).stored && !place.capture("s", &two).stored);
        let file = place.file("s.jsonl", "s", &[entry("a", None, &one), entry("b", Some("a"), &two)]);
        assert_eq!(place.import(&file).stored, 0);
        assert_eq!(place.rows("s"), ["1 a ✗ bash: boom", "2 b ✗ bash: boom"]);
    }

    #[test]
    fn an_import_again_stores_nothing_whatever_happened_to_the_file() {
        let place = Place::new();
        let entries = [user("a", None, 1, "one"), user("b", Some("a"), 2, "two")];
        let file = place.file("s.jsonl", "s", &entries);
        assert_eq!(place.import(&file).stored, 2);
        let again = place.import(&file);
        assert_eq!((again.stored, again.bytes), (0, 0));
        place.file("s.jsonl", "s", &entries);
        assert_eq!(place.import(&file).stored, 0);
        place.append(&file, &(user("c", Some("b"), 3, "three") + "\n"));
        assert_eq!(place.import(&file).stored, 1);
        place.file("s.jsonl", "s", &[user("a", None, 1, "one"), user("d", Some("a"), 4, "four")]);
        assert_eq!(place.import(&file).stored, 1);
        assert_eq!(place.rows("s"), ["1 a one", "2 d four", "3 b two", "4 c three"]);
    }

    #[test]
    fn a_half_written_line_is_left_for_the_next_time() {
        let place = Place::new();
        let file = place.file("s.jsonl", "s", &[user("a", None, 1, "one")]);
        let next = user("b", Some("a"), 2, "two");
        let (head, rest) = next.split_at(40);
        place.append(&file, head);
        assert_eq!(place.tail("s", &file).stored, 1);
        place.append(&file, &format!("{rest}\n"));
        assert_eq!(place.tail("s", &file).stored, 1);
        assert_eq!(place.rows("s"), ["1 a one", "2 b two"]);
    }

    #[test]
    fn one_entry_id_with_two_texts_is_two_messages() {
        let place = Place::new();
        let file = place.file("s.jsonl", "s", &[user("a", None, 1, "one"), user("a", None, 2, "other")]);
        place.import(&file);
        assert_eq!(place.rows("s"), ["1 a one", "2 a other"]);
        place.file("s.jsonl", "s", &[user("a", None, 1, "one"), user("a", None, 2, "other")]);
        assert_eq!(place.import(&file).stored, 0);
    }

    #[test]
    fn a_window_follows_the_branch_of_its_message() {
        let place = Place::new();
        let entries = [
            user("a", None, 1, "root"),
            user("b", Some("a"), 2, "left"),
            user("c", Some("b"), 3, "left leaf"),
            user("d", Some("a"), 4, "right"),
            user("e", Some("d"), 5, "right leaf"),
        ];
        let file = place.file("s.jsonl", "s", &entries);
        place.import(&file);
        let texts = |around: usize| -> Vec<String> {
            let id = place.messages("s").get(around).map(|row| row.id);
            let window = place.store.read("s", &Span { around: id, ..Span::default() }).unwrap();
            window.messages.into_iter().map(|message| message.text).collect()
        };
        assert_eq!(texts(1), ["root", "left", "left leaf"]);
        assert_eq!(texts(4), ["root", "right", "right leaf"]);
        assert_eq!(texts(0), ["root", "right", "right leaf"]);
    }

    #[test]
    fn a_parent_in_a_part_read_before_is_found_by_reading_the_whole_file() {
        let place = Place::new();
        let dropped = r#"{"type":"label","id":"l","parentId":"a","timestamp":"2026-10-15T14:00:01.000Z"}"#.to_owned();
        let file = place.file("s.jsonl", "s", &[user("a", None, 1, "one"), dropped, user("b", Some("l"), 2, "two")]);
        place.tail("s", &file);
        place.append(&file, &(user("c", Some("l"), 3, "three") + "\n"));
        assert!(place.tail("s", &file).behind > 0);
        place.import(&file);
        let id = place.messages("s").last().map(|row| row.id);
        let window = place.store.read("s", &Span { around: id, ..Span::default() }).unwrap();
        let texts: Vec<&str> = window.messages.iter().map(|message| message.text.as_str()).collect();
        assert_eq!(texts, ["one", "three"]);
    }

    #[test]
    fn a_parent_further_down_the_file_is_none_however_often_it_is_read() {
        let place = Place::new();
        let entries = [user("a", None, 1, "one"), user("b", Some("c"), 2, "two"), user("c", Some("b"), 3, "three")];
        for _ in 0..2 {
            place.import(&place.file("s.jsonl", "s", &entries));
            let window = place.store.read("s", &Span::default()).unwrap();
            let texts: Vec<&str> = window.messages.iter().map(|message| message.text.as_str()).collect();
            assert_eq!(texts, ["one", "two", "three"]);
        }
    }

    #[test]
    fn a_forks_copies_share_one_text_whichever_file_comes_first() {
        for fork_first in [true, false] {
            let place = Place::new();
            let origin = place.file("o.jsonl", "origin", &[user("a", None, 1, "shared zebra")]);
            let fork =
                place.file("f.jsonl", "fork", &[user("a", None, 1, "shared zebra"), user("b", Some("a"), 2, "own")]);
            let files = if fork_first { [&fork, &origin] } else { [&origin, &fork] };
            for file in files {
                place.import(file);
            }
            assert_eq!(place.finds("zebra"), 1);
            assert_eq!(place.rows("fork"), ["1 a shared zebra", "2 b own"]);
            assert_eq!(place.rows("origin"), ["1 a shared zebra"]);
        }
    }

    #[test]
    fn a_private_folder_is_left_out_of_captures_and_imports() {
        let place = Place::new();
        let path = place.path("other.db");
        let store = crate::store::Store::open(crate::store::Options {
            path: Some(path),
            exclude_folders: vec!["/code/a*".to_owned()],
            ..Default::default()
        })
        .unwrap();
        let session = crate::store::Session { id: "s".into(), cwd: "/code/api/deep".into(), ..Default::default() };
        store.begin(&session).unwrap();
        let message = crate::message::parse(bare(1, "secret").as_bytes(), store.rules()).unwrap();
        assert_eq!(store.capture("s", &message).unwrap(), crate::store::Captured::default());
    }
}
