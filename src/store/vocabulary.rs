//! What a word that is still being typed may become: words that messages have.

use rusqlite::{Connection, OptionalExtension};

use super::{Store, index};
use crate::error::Result;
use crate::text::terms::Query;

/// Words looked at, in the order of the alphabet; each is a seek in the index.
const LOOKED_AT: usize = 64;
/// A word's messages are counted up to this many.
const COUNTED: usize = 100;
/// What is typed may be longer than the stem by so many letters (`compactio`, `compact`), a stem no shorter than that.
const ENDING: usize = 3;
const SHORTEST_STEM: usize = 4;

impl Store {
    /// Words that begin as `typed` does, as the index has them (English by its stem), the most frequent first, at most
    /// `limit`; where none does, the stem that `typed` begins with. Nothing for a text that is not one word of letters
    /// and digits, or one of a single letter.
    ///
    /// # Errors
    /// SQLite's.
    pub fn words(&self, typed: &str, limit: usize) -> Result<Vec<String>> {
        let query = Query::parse(typed);
        let [word] = query.atoms.as_slice() else { return Ok(Vec::new()) };
        if word.unspaced || word.text.chars().nth(1).is_none() {
            return Ok(Vec::new());
        }
        self.reading(|connection| {
            let mut words = beginning_with(connection, &word.text)?;
            words.sort_by_key(|(_, messages)| std::cmp::Reverse(*messages));
            words.truncate(limit);
            Ok(words.into_iter().map(|(word, _)| word).collect())
        })
    }
}

/// The words with the number of their messages, as far as it is counted.
fn beginning_with(connection: &Connection, begun: &str) -> Result<Vec<(String, usize)>> {
    connection
        .prepare_cached("create virtual table if not exists temp.vocabulary using fts5vocab(main, term, instance)")?
        .execute([])?;
    // Asked for one row at a time: SQLite would otherwise read all postings of each word to come to the next.
    let mut next = connection.prepare_cached("select term from temp.vocabulary where term > ?1 limit 1")?;
    let mut words = Vec::new();
    let mut last = begun.to_owned();
    for _ in 0..LOOKED_AT {
        let Some(term) = next.query_row([&last], |row| row.get::<_, String>(0)).optional()? else { break };
        if !term.starts_with(begun) {
            break;
        }
        if term.chars().all(char::is_alphanumeric) {
            words.push((term.clone(), count(connection, &term)?));
        }
        last = term;
    }
    if words.is_empty() {
        words.extend(stem_of(connection, begun)?);
    }
    Ok(words)
}

/// The longest beginning of a word that is a word itself, and may be its stem.
fn stem_of(connection: &Connection, begun: &str) -> Result<Option<(String, usize)>> {
    for ending in 1..=ENDING {
        let Some(stem) = begun.len().checked_sub(ending).and_then(|length| begun.get(..length)) else { break };
        if stem.len() < SHORTEST_STEM {
            break;
        }
        let messages = count(connection, stem)?;
        if messages > 0 {
            return Ok(Some((stem.to_owned(), messages)));
        }
    }
    Ok(None)
}

fn count(connection: &Connection, term: &str) -> Result<usize> {
    Ok(index::postings(connection, &index::literal(term), i64::MAX, COUNTED)?.len())
}

#[cfg(test)]
mod tests {
    use crate::store::testing::{Place, bare};

    fn place() -> Place {
        let place = Place::new();
        for (at, text) in
            ["compaction of the log", "compaction again", "a company", "compare.ts", "stories 缓存"].iter().enumerate()
        {
            place.capture("s", &bare(at as i64, text));
        }
        place
    }

    #[test]
    fn words_that_begin_so_come_the_most_frequent_first() {
        assert_eq!(place().store.words("Comp", 8).unwrap(), ["compact", "compani", "compar"]);
        assert_eq!(place().store.words("comp", 1).unwrap(), ["compact"]);
    }

    #[test]
    fn a_word_typed_beyond_its_stem_is_the_stem() {
        assert_eq!(place().store.words("compactio", 8).unwrap(), ["compact"]);
        assert_eq!(place().store.words("storie", 8).unwrap(), ["stori"]);
    }

    #[test]
    fn what_is_not_the_beginning_of_one_word_becomes_nothing() {
        for typed in ["", "c", "compo", "缓", "comp log", "!s", "zz"] {
            assert_eq!(place().store.words(typed, 8).unwrap(), [""; 0], "{typed}");
        }
    }
}
