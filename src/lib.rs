//! The engine of pi-memory-sessions: it keeps every message of every pi session in one private
//! SQLite store and finds it again, in Chinese, English and code.
//!
//! - [`message`] turns a line of pi's session file into a role and markdown;
//! - [`text`] folds text, cuts it into terms and cuts snippets out of it;
//! - [`store`] is the database and everything that opens, writes and reads it;
//! - [`search`] ranks messages and sessions for a query;
//! - [`import`] walks pi's session folders and streams what is new into the store.
//!
//! `node` is the thin face that JavaScript sees; nothing behind it knows of JavaScript.

pub mod error;
pub mod import;
pub mod message;
mod node;
pub mod search;
pub mod store;
pub mod text;
