//! What an import did, and what it left out.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Something left out of an import: where, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// The path, as it was found.
    pub file: String,
    /// From 1; `None` when it is about the whole file.
    pub line: Option<u64>,
    /// Why, for a person.
    pub reason: String,
}

impl Skipped {
    /// A whole file.
    pub fn whole(file: &Path, reason: impl Into<String>) -> Skipped {
        Skipped { file: file.to_string_lossy().into_owned(), line: None, reason: reason.into() }
    }

    /// A line of a file.
    pub fn line(file: &Path, line: u64, reason: impl Into<String>) -> Skipped {
        Skipped { line: Some(line), ..Skipped::whole(file, reason) }
    }
}

/// How far an import got.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Session files there are.
    pub files: usize,
    /// Of them read to their end, or unchanged.
    pub files_done: usize,
    /// Bytes of all session files.
    pub bytes: u64,
    /// Of them read, or unchanged.
    pub bytes_done: u64,
    /// Messages stored so far.
    pub stored: u64,
}

/// What an import did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// The folders looked in.
    pub folders: Vec<String>,
    /// Session files and other stores there are.
    pub files: usize,
    /// Sessions of which something new was read.
    pub sessions: usize,
    /// Messages stored.
    pub stored: u64,
    /// Messages that were stored before.
    pub duplicates: u64,
    /// Bytes read; an unchanged file costs none.
    pub bytes: u64,
    /// How long it took, in milliseconds.
    pub elapsed_ms: f64,
    /// It was ended early; what it stored stays.
    pub cancelled: bool,
    /// One for each thing left out.
    pub skipped: Vec<Skipped>,
    /// Entry types nobody knows, and how often each came.
    pub unknown_types: BTreeMap<String, u64>,
}

pub(super) fn names(folders: &[PathBuf]) -> Vec<String> {
    folders.iter().map(|folder| folder.to_string_lossy().into_owned()).collect()
}
