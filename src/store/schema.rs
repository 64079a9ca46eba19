//! The tables, and the number of their shape.

use rusqlite::Connection;

use crate::error::Result;

/// `user_version` of the schema below; 1 was the JavaScript edition's.
pub const VERSION: i64 = 2;

/// Bit of `msg.flags`: the text was cut.
pub const TRUNCATED: i64 = 1;
/// Bit of `msg.flags`: kept for the person, never shown to the model.
pub const PRIVATE: i64 = 2;

/// Messages are the only thing that must never be lost; `term` is derived from them.
///
/// A message's text stands once: a fork's copy names its `origin` and holds none. `seq` is the order of pi's file;
/// `session.placed` says up to which `seq` that order is settled. `parent` is null when the message follows the one
/// before it in `seq`, 0 when it follows none, else the id of the message it follows.
pub const TABLES: &str = "
    create table project (
        id   integer primary key,
        cwd  text not null unique,
        name text not null
    );
    create table session (
        id          integer primary key,
        key         text not null unique,
        project     integer not null references project (id),
        started_at  integer not null,
        last_at     integer not null default 0,
        messages    integer not null default 0,
        name        text,
        file        text,
        parent_file text,
        parent      text,
        opening     text
    );
    create index session_recent on session (last_at) where messages > 0;
    create index session_project on session (project);

    create table msg (
        id      integer primary key,
        session integer not null references session (id),
        seq     integer not null,
        ts      integer not null,
        role    integer not null,
        flags   integer not null,
        entry   text,
        parent  integer,
        origin  integer,
        hash    integer not null,
        text    text
    );
    create index msg_place on msg (session, seq);
    create index msg_hash on msg (hash);
    create index msg_unclaimed on msg (session, role, ts) where entry is null;
    create index msg_branch on msg (parent) where parent is not null;
    create index msg_copy on msg (origin) where origin is not null;

    create table file (
        path    text primary key,
        session integer,
        size    integer not null,
        mtime   integer not null,
        inode   integer not null,
        offset  integer not null,
        line    integer not null,
        print   integer not null,
        placed  integer not null,
        last_entry text,
        last_msg   integer not null
    ) without rowid;

    create table forgotten (hash integer primary key);
    create table silence (
        session text not null,
        since   integer not null,
        until   integer,
        primary key (session, since)
    ) without rowid;
    create table setting (
        name  text primary key,
        value text not null
    ) without rowid;
";

/// Creates every table of an empty database.
pub fn create(connection: &Connection) -> Result<()> {
    connection.execute_batch(TABLES)?;
    super::index::create(connection)?;
    connection.pragma_update(None, "user_version", VERSION)?;
    Ok(())
}
