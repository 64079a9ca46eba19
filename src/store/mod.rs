//! The SQLite database and everything that opens, writes and reads it.

pub mod index;
pub mod schema;
