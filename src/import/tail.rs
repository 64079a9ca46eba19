//! The session's own file, read from where it was left, on pi's event loop: it corrects and completes what the events
//! said. One call reads a bounded part.

use std::path::Path;

use super::stream::{Opened, Stream};
use crate::error::{Error, Result};
use crate::store::{Cursor, Outcome, Store};

/// How much of the file one call reads; what is more goes through an import.
const BYTES: u64 = 1 << 20;
const ENTRIES: usize = 500;

/// What the tail brought.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tail {
    /// Messages stored.
    pub stored: u64,
    /// Rows that took the file's text, or went because the file keeps nothing of them.
    pub changed: u64,
    /// Bytes that were not read, more than one call takes: import the file.
    pub behind: u64,
}

/// Reads what is new in the session's file. A file that is not there yet has nothing new.
pub fn tail(store: &Store, session: &str, file: &Path) -> Result<Tail> {
    let Ok(meta) = std::fs::metadata(file) else { return Ok(Tail::default()) };
    let unread = |error| Error::io(file, "the session's file cannot be read", &error);
    // A pipe would be waited for, a device read without end.
    if !meta.is_file() {
        return Err(unread(std::io::Error::other("not a regular file")));
    }
    let path = std::fs::canonicalize(file).map_err(unread)?;
    let name = path.to_string_lossy().into_owned();
    let state = store.file(&name)?.filter(|state| state.session.as_deref() == Some(session));
    if state.as_ref().is_some_and(|state| super::source::Stamp::of(&meta).is_unchanged(state)) {
        return Ok(Tail::default());
    }
    let mut stream = match Stream::open(&path, state, store.rules()).map_err(unread)? {
        Opened::Stream(stream) if stream.session.id == session => stream,
        _ => return Ok(Tail::default()),
    };
    let mut cursor = Cursor::new(&name, stream.session.clone(), stream.state.take());
    let Some(batch) = stream.next(ENTRIES, BYTES).map_err(unread)? else { return Ok(Tail::default()) };
    let step = store.apply(&mut cursor, &batch.entries, Some(batch.end))?;
    let behind = match step {
        // Another process that reads the same file stores the same.
        Outcome::Excluded | Outcome::Overtaken => 0,
        Outcome::Applied(_) if cursor.reread => meta.len(),
        Outcome::Applied(_) => stream.behind(),
    };
    Ok(Tail { stored: cursor.counts.stored, changed: cursor.counts.changed, behind })
}

#[cfg(all(test, unix))]
mod tests {
    use crate::store::testing::{Place, pipe, user};

    #[test]
    fn a_pipe_is_never_waited_for() {
        let place = Place::new();
        let folder = place.path("--code-api--");
        std::fs::create_dir(&folder).unwrap();
        pipe(&folder.join("a.jsonl"));
        let error = super::tail(&place.store, "s", &folder.join("a.jsonl")).unwrap_err();
        assert!(error.to_string().contains("not a regular file"), "{error}");
        assert_eq!(place.import(&folder.join("a.jsonl")).skipped.len(), 1);
        // A file without a header asks those beside it for the folder they share.
        let headless = folder.join("b.jsonl");
        std::fs::write(&headless, user("a", None, 1, "one")).unwrap();
        assert_eq!(place.import(&headless).stored, 1);
    }
}
