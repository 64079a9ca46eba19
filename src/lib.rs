//! The engine of pi-memory-sessions: it keeps every message of every pi session in one private
//! SQLite store and finds it again, in Chinese, English and code.
//!
//! ```
//! use pi_memory_sessions::message::{Rules, parse};
//! use pi_memory_sessions::store::{Options, Query, Store};
//!
//! let folder = tempfile::tempdir()?;
//! let store = Store::open(Options { path: Some(folder.path().join("sessions.db")), ..Options::default() })?;
//! let said = r#"{"role": "user", "content": "缓存按 session id 分片", "timestamp": 1760536800000}"#;
//! store.capture("s1", &parse(said.as_bytes(), &Rules::default()).expect("one entry"))?;
//!
//! let answer = store.search("分片 session", &Query::default())?;
//! assert_eq!(answer.hits.len(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! - [`message`] turns a line of pi's session file into a role and markdown;
//! - [`text`] folds text, cuts it into terms and cuts snippets out of it;
//! - [`store`] is the database and everything that opens, writes and reads it;
//! - [`search`] ranks messages and sessions for a query;
//! - [`import`] walks pi's session folders and streams what is new into the store.
//!
//! `node` is the thin face that JavaScript sees; nothing behind it knows of JavaScript.

#![warn(missing_docs)]
// A panic would end pi's turn: nothing from outside is unwrapped, and no index is taken on trust.
#![cfg_attr(
    not(test),
    warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::string_slice)
)]

pub mod error;
pub mod import;
pub mod message;
mod node;
pub mod search;
pub mod store;
pub mod text;
