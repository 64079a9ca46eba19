//! A store of the JavaScript edition becomes ours in place: `session` and `msg` move into our tables in one transaction,
//! so that an interrupted upgrade leaves the old store whole; the index is then built in steps (see [`super::rebuild`]).

use rusqlite::Connection;

use super::session::{self, Session};
use super::{rebuild, schema, write};
use crate::error::Result;
use crate::message::Role;

/// Moves the tables of `user_version` 1 into ours, within the caller's transaction.
pub(super) fn upgrade(connection: &Connection) -> Result<()> {
    connection.execute_batch(
        "alter table session rename to old_session;
         alter table msg rename to old_msg;
         drop index if exists msg_session_seq;
         drop table if exists msg_fts;",
    )?;
    schema::create(connection)?;
    copy(connection)?;
    connection.execute_batch("drop table old_msg; drop table old_session;")?;
    rebuild::begin(connection)
}

/// The old rows, as they are: the same ids, places and times; identities are computed anew.
fn copy(connection: &Connection) -> Result<()> {
    let mut sessions =
        connection.prepare("select id, cwd, started_at, last_at, name from old_session order by started_at, id")?;
    let mut rows = sessions.query([])?;
    while let Some(row) = rows.next()? {
        let session = Session {
            id: row.get(0)?,
            cwd: row.get(1)?,
            started_at: row.get(2)?,
            name: row.get::<_, Option<String>>(4)?.filter(|name| !name.is_empty()),
            ..Session::default()
        };
        let number = session::begin(connection, &session, session.started_at)?;
        copy_messages(connection, &session.id, number)?;
        session::recount(connection, number)?;
    }
    Ok(())
}

fn copy_messages(connection: &Connection, key: &str, number: i64) -> Result<()> {
    let mut messages = connection
        .prepare_cached("select id, ts, role, text, meta from old_msg where session_id = ?1 order by seq, id")?;
    let mut rows = messages.query([key])?;
    let mut seq = 0;
    while let Some(row) = rows.next()? {
        seq += 1;
        let (id, ts): (i64, i64) = (row.get(0)?, row.get(1)?);
        let role = Role::parse(&row.get::<_, String>(2)?).unwrap_or(Role::Assistant);
        let text: String = row.get(3)?;
        let truncated = row.get::<_, Option<String>>(4)?.is_some_and(|meta| is_truncated(&meta));
        connection
            .prepare_cached(
                "insert into msg (id, session, seq, ts, role, flags, hash, text) values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            )?
            .execute((
                id,
                number,
                seq,
                ts,
                role.code(),
                i64::from(truncated) * schema::TRUNCATED,
                write::content_hash(role, ts, &text),
                text,
            ))?;
    }
    Ok(())
}

fn is_truncated(meta: &str) -> bool {
    serde_json::from_str::<serde_json::Value>(meta)
        .ok()
        .and_then(|meta| meta.get("truncated")?.as_bool())
        .unwrap_or(false)
}

/// True when the tables are the JavaScript edition's: another program's database of the same number is not ours to take.
pub(super) fn is_old_edition(connection: &Connection) -> rusqlite::Result<bool> {
    connection.prepare("select 1 from pragma_table_info('msg') where name = 'nchars'")?.exists([])
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use crate::store::testing::{Place, open, user};

    /// A store as the JavaScript edition made it, with `count` messages of one session.
    fn old_store(path: &std::path::Path, count: i64) {
        let connection = Connection::open(path).unwrap();
        connection
            .execute_batch(
                "pragma user_version = 1;
                 create table session (id text primary key, cwd text not null, project text not null,
                     started_at integer not null, last_at integer not null, name text);
                 create table msg (id integer primary key, session_id text not null, seq integer not null,
                     ts integer not null, role text not null, text text not null, nchars integer not null, meta text,
                     hash text not null, unique (session_id, hash));
                 create index msg_session_seq on msg (session_id, seq);
                 create virtual table msg_fts using fts5 (chars, grams, content = '', contentless_delete = 1);
                 insert into session values ('s', '/code/api', 'api', 1, 9, '缓存方案');",
            )
            .unwrap();
        for at in 1..=count {
            connection
                .execute(
                    "insert into msg values (?1, 's', ?2, ?3, 'user', ?4, 5, null, ?5)",
                    (at + 10, at, at, format!("消息 {at} zebra"), format!("hash {at}")),
                )
                .unwrap();
        }
    }

    #[test]
    fn an_old_store_keeps_its_messages_and_is_searched() {
        let place = Place::new();
        let path = place.path("old.db");
        old_store(&path, 3);
        let store = open(&path);
        let summary = store.session("s").unwrap();
        assert_eq!((summary.messages, summary.last_at), (3, 3));
        assert_eq!(summary.session.name.as_deref(), Some("缓存方案"));
        assert_eq!(store.ids("s").unwrap(), [11, 12, 13]);
        while store.in_background(|connection| store.rebuild_step(connection)).unwrap() {}
        let answer = store.search("zebra", &crate::store::Query { limit: 10, ..Default::default() }).unwrap();
        assert_eq!((answer.hits.len(), answer.complete), (3, true));
    }

    #[test]
    fn of_a_damaged_old_store_what_can_be_read_is_saved() {
        let place = Place::new();
        let path = place.path("old.db");
        old_store(&path, 2000);
        let mut bytes = std::fs::read(&path).unwrap();
        let page = bytes.len() / 4096 / 2 * 4096;
        bytes[page..page + 4096].fill(0xa5);
        std::fs::write(&path, bytes).unwrap();
        let store = open(&path);
        assert!(store.notice().is_some_and(|notice| notice.contains("was damaged")));
        assert!(store.session("s").unwrap().messages > 1000);
    }

    #[test]
    fn the_old_files_read_again_store_nothing_and_bring_entry_ids() {
        let mut place = Place::new();
        let path = place.path("old.db");
        old_store(&path, 2);
        place.store = open(&path);
        let file =
            place.file("s.jsonl", "s", &[user("a", None, 1, "消息 1 zebra"), user("b", Some("a"), 2, "cut otherwise")]);
        assert_eq!(place.import(&file).stored, 0);
        assert_eq!(place.rows("s"), ["1 a 消息 1 zebra", "2 b cut otherwise"]);
    }

    #[test]
    fn an_index_half_built_is_finished_and_loses_nothing_of_what_comes_between() {
        let place = Place::new();
        let path = place.path("old.db");
        old_store(&path, 500);
        let store = open(&path);
        store.close();
        let store = open(&path);
        let entry = crate::message::parse(crate::store::testing::bare(1000, "zebra new").as_bytes(), store.rules());
        store.capture("s", &entry.unwrap()).unwrap();
        store.forget(&crate::store::Conditions { message: Some(11), ..Default::default() }).unwrap();
        while store.in_background(|connection| store.rebuild_step(connection)).unwrap() {}
        let answer = store.search("zebra", &crate::store::Query { limit: 1, ..Default::default() }).unwrap();
        assert_eq!(answer.messages, 500);
        store
            .in_background(|connection| {
                Ok(connection.execute_batch("insert into term (term, rank) values ('integrity-check', 1)")?)
            })
            .unwrap();
    }
}
