//! What can go wrong, said so that a person can act on it.

use std::fmt;
use std::path::Path;

/// The kind of an [`Error`]; in JavaScript it is the error's `code`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An argument of the wrong kind or without a meaning: `INVALID_ARGUMENT`.
    InvalidArgument,
    /// A session, message or file that is not there: `NOT_FOUND`.
    NotFound,
    /// A session id prefix that several sessions share: `AMBIGUOUS`.
    Ambiguous,
    /// The store was made by a newer edition: `NEWER_SCHEMA`.
    NewerSchema,
    /// Another process held the write lock for too long: `BUSY`.
    Busy,
    /// The file or folder refused: permissions, read-only, full disk: `IO`.
    Io,
    /// The database is damaged: `CORRUPT`.
    Corrupt,
    /// The store was closed: `CLOSED`.
    Closed,
    /// Anything else, a fault of ours: `INTERNAL`.
    Internal,
}

impl Kind {
    /// The code JavaScript sees.
    pub fn code(self) -> &'static str {
        match self {
            Kind::InvalidArgument => "INVALID_ARGUMENT",
            Kind::NotFound => "NOT_FOUND",
            Kind::Ambiguous => "AMBIGUOUS",
            Kind::NewerSchema => "NEWER_SCHEMA",
            Kind::Busy => "BUSY",
            Kind::Io => "IO",
            Kind::Corrupt => "CORRUPT",
            Kind::Closed => "CLOSED",
            Kind::Internal => "INTERNAL",
        }
    }
}

/// An error with a kind to branch on and a sentence to show.
#[derive(Debug)]
pub struct Error {
    kind: Kind,
    message: String,
}

/// Characters of a message.
const LONGEST: usize = 5_000;

/// What fallible functions of this crate return.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An error that says what happened, to what, and what to do.
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        let mut message = message.into();
        // What was given is quoted in it, however long that is.
        if let Some((end, _)) = message.char_indices().nth(LONGEST) {
            message.truncate(end);
            message.push('…');
        }
        Error { kind, message }
    }

    /// A file or folder refused: `what` could not be done with it, for the system's reason.
    pub(crate) fn io(path: &Path, what: &str, error: &std::io::Error) -> Self {
        Error::new(Kind::Io, format!("{}: {what} ({error})", path.display()))
    }

    /// What sort of failure this is.
    pub fn kind(&self) -> Kind {
        self.kind
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Self {
        use rusqlite::ErrorCode as Code;
        let kind = match error.sqlite_error_code() {
            Some(Code::DatabaseBusy | Code::DatabaseLocked) => Kind::Busy,
            Some(Code::DatabaseCorrupt | Code::NotADatabase) => Kind::Corrupt,
            Some(
                Code::CannotOpen | Code::ReadOnly | Code::DiskFull | Code::SystemIoFailure | Code::PermissionDenied,
            ) => Kind::Io,
            _ => Kind::Internal,
        };
        let advice = match kind {
            Kind::Busy => "another process is writing to the memory store; try again in a moment",
            Kind::Corrupt => "the memory store is damaged; run /recall check",
            Kind::Io => {
                "the memory store cannot be read or written; check the disk's space and the folder's permissions"
            }
            _ => "the memory store failed",
        };
        Error::new(kind, format!("{advice} ({error})"))
    }
}

#[cfg(test)]
mod tests {
    use super::{Error, Kind};

    #[test]
    fn a_message_ends_however_long_what_it_quotes() {
        let error = Error::new(Kind::NotFound, format!("no session {}", "漢".repeat(1_000_000)));
        assert_eq!(error.to_string().chars().count(), 5_001);
        assert_eq!(Error::new(Kind::NotFound, "short").to_string(), "short");
    }
}
