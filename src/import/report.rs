//! What an import did, and what it left out.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Something left out of an import: where, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    pub file: String,
    /// From 1; `None` when it is about the whole file.
    pub line: Option<u64>,
    pub reason: String,
}

impl Skipped {
    pub fn whole(file: &Path, reason: impl Into<String>) -> Skipped {
        Skipped { file: file.to_string_lossy().into_owned(), line: None, reason: reason.into() }
    }

    pub fn line(file: &Path, line: u64, reason: impl Into<String>) -> Skipped {
        Skipped { line: Some(line), ..Skipped::whole(file, reason) }
    }
}

/// How far an import got.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    pub files: usize,
    pub files_done: usize,
    pub bytes: u64,
    pub bytes_done: u64,
    pub stored: u64,
}

/// What an import did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// The folders looked in.
    pub folders: Vec<String>,
    pub files: usize,
    /// Sessions of which something new was read.
    pub sessions: usize,
    pub stored: u64,
    pub duplicates: u64,
    /// Bytes read; an unchanged file costs none.
    pub bytes: u64,
    pub elapsed_ms: f64,
    pub cancelled: bool,
    pub skipped: Vec<Skipped>,
    /// Entry types nobody knows, and how often each came.
    pub unknown_types: BTreeMap<String, u64>,
}

pub(super) fn names(folders: &[PathBuf]) -> Vec<String> {
    folders.iter().map(|folder| folder.to_string_lossy().into_owned()).collect()
}
