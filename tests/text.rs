//! Text that nobody thinks of, through folding, terms, query parsing, search and snippets. Run alone, and longer, by
//! `PROPTEST_CASES=100000 cargo test --test text`.

use pi_memory_sessions::message::Role;
use pi_memory_sessions::search::{Frequencies, Options, search};
use pi_memory_sessions::store::{index, schema};
use pi_memory_sessions::text::{fold::fold, highlight, terms::index_terms};
use proptest::prelude::*;
use rusqlite::Connection;

/// Any text, and text of what is hard: marks, emoji sequences, ligatures, operators, every script's borders.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "[a-zA-Z0-9_./:@+#~$=%&'\"!*^() \\-]{0,60}",
        "[缓存簽證がカ\u{3099}ｶﾞ한국\u{1100}\u{1161}ก็ကျ\u{300}\u{301}ﬁßİ\u{200d}\u{fe0f}👩👨🇨🇳\u{202e}\u{ad}\u{0} a.B2\"]{0,60}",
    ]
}

fn store(texts: &[&str]) -> Connection {
    let connection = Connection::open_in_memory().unwrap();
    schema::create(&connection).unwrap();
    connection.execute_batch("insert into project values (1, '/p', 'p')").unwrap();
    connection
        .execute_batch("insert into session (id, key, project, started_at, messages) values (1, 's', 1, 1, 1)")
        .unwrap();
    for (at, text) in texts.iter().enumerate() {
        let id = at as i64 + 1;
        connection
            .execute(
                "insert into msg (id, session, seq, ts, role, flags, hash, text) values (?1, 1, ?1, ?1, 0, 0, ?1, ?2)",
                (id, text),
            )
            .unwrap();
        let doc = index::Doc { text, terms: None, role: Role::User, ts: id, sessions: &[1], projects: &[1] };
        index::add(&connection, id, &doc).unwrap();
    }
    connection
}

/// Whether pairs of UTF-16 positions ascend, lie in the text and split no character.
fn are_sound(marks: &[(usize, usize)], text: &str) -> bool {
    let borders: Vec<usize> = text
        .chars()
        .scan(0, |at, c| {
            let here = *at;
            *at += c.len_utf16();
            Some(here)
        })
        .chain([text.encode_utf16().count()])
        .collect();
    let mut last = 0;
    marks.iter().all(|&(start, end)| {
        let sound = last <= start && start < end && borders.contains(&start) && borders.contains(&end);
        last = end;
        sound
    })
}

proptest! {
    #[test]
    fn a_folded_text_has_terms_where_the_text_has_some(text in text()) {
        prop_assert_eq!(index_terms(&fold(&text)).is_empty(), index_terms(&text).is_empty());
    }

    #[test]
    fn marks_are_whole_characters_of_the_text(text in text(), query in text()) {
        prop_assert!(are_sound(&highlight(&text, &query), &text));
    }

    #[test]
    fn a_text_with_terms_is_found_by_itself(text in text(), other in text()) {
        prop_assume!(!text.contains(['"', '＂']) && !index_terms(&text).is_empty());
        let found = search(&store(&[&other, &text]), &mut Frequencies::default(), &text, &Options::default()).unwrap();
        prop_assert!(found.hits.iter().any(|hit| hit.id == 2));
        for hit in &found.hits {
            prop_assert!(are_sound(&hit.marks, &hit.snippet), "{:?}", hit);
            prop_assert!(hit.snippet.encode_utf16().count() < 700);
        }
    }

    #[test]
    fn no_query_is_an_error(text in text(), query in text()) {
        search(&store(&[&text]), &mut Frequencies::default(), &query, &Options::default()).unwrap();
    }
}

#[test]
fn long_and_strange_texts_end() {
    for text in [
        "a".repeat(1 << 20),
        "缓".repeat(1 << 18),
        "\u{301}".repeat(1 << 19),
        "a.b/".repeat(1 << 18),
        "\" ".repeat(1 << 18),
    ] {
        let connection = store(&[&text]);
        for query in [text.as_str(), "a", "\"a b\"", "缓缓"] {
            search(&connection, &mut Frequencies::default(), query, &Options::default()).unwrap();
        }
    }
}
