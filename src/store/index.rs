//! The index: which messages hold which term. Derived from the messages; it can be rebuilt at any time.
//!
//! One FTS5 column of distinct terms, cut by us and parted by spaces, so that SQLite's own tokenizer has nothing to decide.
//! Contentless and without columns' sizes or positions: it says which message holds a term, and the text says the rest.
//! Beside the words stand filter terms (`!s` session, `!p` project, `!r` role, `!d` `!m` `!y` UTC day, month and year of its
//! time), so that a filter is one more term to intersect. No term of a text starts with `!`.

use std::fmt::Write as _;

use rusqlite::{Connection, OptionalExtension};

use crate::error::Result;
use crate::message::Role;
use crate::text::terms;

/// Raised when terms change: a store indexed by another version is indexed anew.
pub const VERSION: u32 = 1;

/// A message as the index sees it.
#[derive(Clone, Copy, Debug)]
pub struct Doc<'a> {
    /// Its text.
    pub text: &'a str,
    /// [`terms::index_terms`] of the text, when they were cut ahead of the transaction.
    pub terms: Option<&'a str>,
    /// Who said it.
    pub role: Role,
    /// Unix milliseconds.
    pub ts: i64,
    /// Numbers of the sessions that hold it or a copy of it.
    pub sessions: &'a [i64],
    /// Numbers of those sessions' projects.
    pub projects: &'a [i64],
}

/// Segments of a level after which FTS5 merges within the transaction that writes: far above what the background
/// leaves, and below the 2,000 segments at which writing fails.
const CRISIS: i64 = 900;

/// Creates the empty index.
///
/// # Errors
/// SQLite's.
pub fn create(connection: &Connection) -> Result<()> {
    connection.execute_batch(&format!(
        "create virtual table term using fts5 (
            terms, content = '', detail = none, columnsize = 0,
            tokenize = \"ascii tokenchars '!._-/@:+#~$=%&\\'''\"
        );
        insert into term (term, rank) values ('automerge', 0), ('crisismerge', {CRISIS}), ('secure-delete', 1);"
    ))?;
    Ok(())
}

/// Drops the index.
///
/// # Errors
/// SQLite's.
pub fn drop(connection: &Connection) -> Result<()> {
    connection.execute_batch("drop table if exists term")?;
    Ok(())
}

/// All terms of a message: those of its text, and the filter terms.
fn all_terms(doc: &Doc<'_>) -> String {
    let mut all = doc.terms.map_or_else(|| terms::index_terms(doc.text), str::to_owned);
    for session in doc.sessions {
        push(&mut all, 's', *session);
    }
    for project in doc.projects {
        push(&mut all, 'p', *project);
    }
    push(&mut all, 'r', doc.role.code());
    let date = Date::of(doc.ts);
    push(&mut all, 'd', date.day);
    push(&mut all, 'm', date.month);
    push(&mut all, 'y', date.year);
    all
}

fn push(terms: &mut String, kind: char, number: i64) {
    // Writing to a string cannot fail.
    let _ = write!(terms, "{} ", filter(kind, number));
}

/// The filter term of a kind and number.
pub(crate) fn filter(kind: char, number: i64) -> String {
    format!("!{kind}{number}")
}

/// A term in FTS5's language, where nothing in it is an operator.
pub(crate) fn literal(term: &str) -> String {
    format!("\"{}\"", term.replace('"', "\"\""))
}

/// Adds the message `id`.
///
/// # Errors
/// SQLite's.
pub fn add(connection: &Connection, id: i64, doc: &Doc<'_>) -> Result<()> {
    connection.prepare_cached("insert into term (rowid, terms) values (?, ?)")?.execute((id, all_terms(doc)))?;
    Ok(())
}

/// Removes the message `id`, which must be given as it was when it was added.
///
/// # Errors
/// SQLite's.
pub fn remove(connection: &Connection, id: i64, doc: &Doc<'_>) -> Result<()> {
    connection
        .prepare_cached("insert into term (term, rowid, terms) values ('delete', ?, ?)")?
        .execute((id, all_terms(doc)))?;
    Ok(())
}

/// Up to `most` messages below `below` that meet an expression of FTS5's, newest first.
///
/// # Errors
/// SQLite's.
pub(crate) fn postings(connection: &Connection, expression: &str, below: i64, most: usize) -> Result<Vec<i64>> {
    let mut select = connection
        .prepare_cached("select rowid from term where term match ?1 and rowid < ?2 order by rowid desc limit ?3")?;
    let mut rows = select.query((expression, below, most as i64))?;
    let mut ids = Vec::new();
    while let Some(row) = rows.next()? {
        ids.push(row.get(0)?);
    }
    Ok(ids)
}

/// How many of the messages numbered `from` to before `to` meet an expression of FTS5's.
///
/// # Errors
/// SQLite's.
pub(crate) fn count(connection: &Connection, expression: &str, from: i64, to: i64) -> Result<i64> {
    Ok(connection
        .prepare_cached("select count(*) from term where term match ?1 and rowid >= ?2 and rowid < ?3")?
        .query_row((expression, from, to), |row| row.get(0))?)
}

/// Whether any message has the filter term of a kind and number.
///
/// # Errors
/// SQLite's.
pub(crate) fn has_filter(connection: &Connection, kind: char, number: i64) -> Result<bool> {
    Ok(connection
        .prepare_cached("select 1 from term where term match ? limit 1")?
        .exists([literal(&filter(kind, number))])?)
}

/// Merges segments by about `pages` pages; true while there is more to merge.
///
/// # Errors
/// SQLite's.
pub fn merge_step(connection: &Connection, pages: i32) -> Result<bool> {
    let before = connection.total_changes();
    connection.prepare_cached("insert into term (term, rank) values ('merge', ?)")?.execute([pages])?;
    // SQLite's documentation: a merge that changes fewer than two rows had nothing to do.
    Ok(connection.total_changes() - before >= 2)
}

/// Segments of one level at which a merge step merges them: FTS5's default.
pub const USERMERGE: i64 = 4;
/// The least FTS5 takes. Up to three segments that stay of each level repeat each other's terms.
pub const LEAST_USERMERGE: i64 = 2;

/// Sets at how many segments of one level merge steps merge them.
///
/// # Errors
/// SQLite's.
pub fn set_usermerge(connection: &Connection, segments: i64) -> Result<()> {
    connection.prepare_cached("insert into term (term, rank) values ('usermerge', ?)")?.execute([segments])?;
    Ok(())
}

/// How many segments the index has.
///
/// # Errors
/// SQLite's.
pub fn segments(connection: &Connection) -> Result<u32> {
    // The structure record: a cookie, a mark that newer tables carry, the levels, the segments.
    let record = record(connection, 10)?;
    let mut rest = record.get(4..).unwrap_or_default();
    if let Some(after) = rest.strip_prefix(&[0xff, 0, 0, 1]) {
        rest = after;
    }
    let _levels = varint(&mut rest);
    Ok(u32::try_from(varint(&mut rest)).unwrap_or(u32::MAX))
}

/// What the index knows of its size without counting.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Averages {
    /// Messages.
    pub messages: u64,
    /// Terms of an average message.
    pub terms: f32,
}

/// The number of messages and the average of their terms.
///
/// # Errors
/// SQLite's.
pub fn averages(connection: &Connection) -> Result<Averages> {
    let record = record(connection, 1)?;
    let mut rest = record.as_slice();
    let messages = varint(&mut rest);
    let terms = varint(&mut rest);
    Ok(Averages { messages, terms: if messages == 0 { 0.0 } else { terms as f32 / messages as f32 } })
}

fn record(connection: &Connection, id: i64) -> Result<Vec<u8>> {
    let record = connection
        .prepare_cached("select block from term_data where id = ?")?
        .query_row([id], |row| row.get(0))
        .optional()?;
    Ok(record.unwrap_or_default())
}

/// SQLite's variable-length integer: seven bits a byte from the highest, and all eight of a ninth.
fn varint(bytes: &mut &[u8]) -> u64 {
    let mut value = 0;
    for count in 1.. {
        let Some((&byte, rest)) = bytes.split_first() else { break };
        *bytes = rest;
        if count == 9 {
            return value << 8 | u64::from(byte);
        }
        value = value << 7 | u64::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            break;
        }
    }
    value
}

/// The numbers that a time's filter terms carry: days and months since 1970, and the year.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Date {
    pub(crate) day: i64,
    pub(crate) month: i64,
    pub(crate) year: i64,
}

impl Date {
    /// The UTC date of unix milliseconds.
    pub(crate) fn of(ts: i64) -> Date {
        let day = ts.div_euclid(86_400_000);
        // Howard Hinnant's civil_from_days: years begin in March, so that the leap day comes last.
        let shifted = day + 719_468;
        let era = shifted.div_euclid(146_097);
        let of_era = shifted.rem_euclid(146_097);
        let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let from_march = (5 * of_year + 2) / 153;
        let year = year_of_era + era * 400 + i64::from(from_march >= 10);
        let month = (from_march + 2) % 12;
        Date { day, month: (year - 1970) * 12 + month, year }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index() -> Connection {
        let connection = Connection::open_in_memory().unwrap();
        create(&connection).unwrap();
        connection
    }

    fn doc(text: &str) -> Doc<'_> {
        Doc { text, terms: None, role: Role::User, ts: 1_700_000_000_000, sessions: &[7], projects: &[3] }
    }

    fn holders(connection: &Connection, term: &str) -> Vec<i64> {
        let mut select = connection.prepare("select rowid from term where term match ?").unwrap();
        select.query_map([literal(term)], |row| row.get(0)).unwrap().map(|id| id.unwrap()).collect()
    }

    #[test]
    fn every_kind_of_term_finds_its_message() {
        let connection = index();
        add(&connection, 5, &doc("修改 src/a.ts, don't break C++ or C#; 100% of $HOME\\x ~/y k=v a&b user@host é"))
            .unwrap();
        for term in [
            "修",
            "修改",
            "src/a.ts",
            "a.ts",
            "don't",
            "c++",
            "c#",
            "100%",
            "$home\\x",
            "~/y",
            "k=v",
            "a&b",
            "user@host",
            "e",
            "!s7",
            "!p3",
            "!r0",
            "!y2023",
        ] {
            assert_eq!(holders(&connection, term), [5], "{term}");
        }
        assert_eq!(averages(&connection).unwrap().messages, 1);
    }

    #[test]
    fn a_removed_message_leaves_no_byte() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("index.db");
        let connection = Connection::open(&path).unwrap();
        connection.execute_batch("pragma journal_mode = wal; pragma secure_delete = on").unwrap();
        create(&connection).unwrap();
        for id in 1..200 {
            add(&connection, id, &doc(&format!("common words {id}"))).unwrap();
        }
        let secret = doc("xylophonequartz 龘靐");
        add(&connection, 200, &secret).unwrap();
        while merge_step(&connection, 16).unwrap() {}
        remove(&connection, 200, &secret).unwrap();
        connection.execute_batch("pragma wal_checkpoint(truncate)").unwrap();
        let bytes = std::fs::read(&path).unwrap();
        let holds = |needle: &str| bytes.windows(needle.len()).any(|window| window == needle.as_bytes());
        assert!(holds("common"));
        assert!(!holds("xylophone") && !holds("ylophonequartz") && !holds("龘靐"));
        connection.execute_batch("insert into term (term, rank) values ('integrity-check', 1)").unwrap();
    }

    #[test]
    fn merging_ends_with_few_segments() {
        let connection = index();
        for id in 1..100 {
            add(&connection, id, &doc(&format!("text {id}"))).unwrap();
        }
        assert!(segments(&connection).unwrap() > 50);
        while merge_step(&connection, 16).unwrap() {}
        assert!(segments(&connection).unwrap() < 10);
        assert_eq!(holders(&connection, "text").len(), 99);
    }

    #[test]
    fn dates_are_utc_days_months_and_years() {
        assert_eq!(Date::of(0), Date { day: 0, month: 0, year: 1970 });
        assert_eq!(Date::of(951_782_400_000), Date { day: 11_016, month: 361, year: 2000 });
        assert_eq!(Date::of(951_868_799_999 + 1), Date { day: 11_017, month: 362, year: 2000 });
        assert_eq!(Date::of(-1), Date { day: -1, month: -1, year: 1969 });
    }
}
