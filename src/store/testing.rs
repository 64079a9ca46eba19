//! A store in a temporary folder, and session files to read into it.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::{Message, Options, Span, Store};
use crate::import::{self, Report, Tail};
use crate::message::{self, Rules};

/// A store and the folder it lies in.
pub(crate) struct Place {
    folder: tempfile::TempDir,
    pub(crate) store: Arc<Store>,
}

impl Place {
    pub(crate) fn new() -> Place {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let store = open(&folder.path().join("memory").join("sessions.db"));
        Place { folder, store }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A session file of those entries, under the header of session `id`.
    pub(crate) fn file(&self, name: &str, id: &str, entries: &[String]) -> PathBuf {
        let path = self.path(name);
        let header = format!(
            r#"{{"type":"session","version":3,"id":"{id}","timestamp":"2026-10-15T14:00:00.000Z","cwd":"/code/api"}}"#
        );
        let lines: Vec<&str> = std::iter::once(header.as_str()).chain(entries.iter().map(String::as_str)).collect();
        std::fs::write(&path, lines.join("\n") + "\n").expect("a session file");
        path
    }

    pub(crate) fn append(&self, path: &Path, text: &str) {
        let mut file = std::fs::OpenOptions::new().append(true).open(path).expect("the session file");
        file.write_all(text.as_bytes()).expect("room for it");
    }

    pub(crate) fn import(&self, path: &Path) -> Report {
        let options = import::Options { from: vec![path.to_owned()], ..import::Options::default() };
        import::import(&self.store, &options, &AtomicBool::new(false), |_| {}).expect("an import")
    }

    pub(crate) fn tail(&self, session: &str, path: &Path) -> Tail {
        import::tail(&self.store, session, path).expect("a tail")
    }

    /// Captures an entry or a bare message, given as JSON.
    pub(crate) fn capture(&self, session: &str, json: &str) -> super::Captured {
        let entry = message::parse(json.as_bytes(), &Rules::default()).expect("an entry");
        self.store.capture(session, &entry).expect("a capture")
    }

    /// All messages of a session.
    pub(crate) fn messages(&self, session: &str) -> Vec<Message> {
        let mut all: Vec<Message> = Vec::new();
        let ids = self.store.ids(session).expect("the session");
        for id in ids {
            let span = Span { around: Some(id), before: 0, after: 0, for_model: false };
            all.extend(self.store.read(session, &span).expect("the message").messages);
        }
        all
    }

    /// `seq entry text` of every message of a session.
    pub(crate) fn rows(&self, session: &str) -> Vec<String> {
        self.messages(session)
            .iter()
            .map(|row| format!("{} {} {}", row.seq, row.entry.as_deref().unwrap_or("-"), row.text))
            .collect()
    }

    /// How many messages a query finds.
    pub(crate) fn finds(&self, query: &str) -> usize {
        self.store.search(query, &super::Query { limit: 100, ..super::Query::default() }).expect("a search").hits.len()
    }
}

/// Waits until it is so, for some seconds at most; false when it never was.
pub(crate) fn eventually(holds: impl Fn() -> bool) -> bool {
    (0..500).any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        holds()
    })
}

/// The bytes of the store's log.
pub(crate) fn log_size(place: &Place) -> u64 {
    std::fs::metadata(super::open::beside(place.store.path(), "-wal")).map_or(0, |log| log.len())
}

/// How long the log grows while something is done.
pub(crate) fn watch_log(place: &Place, act: impl FnOnce()) -> u64 {
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let watch = scope.spawn(|| {
            let mut longest = 0;
            while !done.load(Ordering::Relaxed) {
                longest = longest.max(log_size(place));
                std::thread::sleep(Duration::from_millis(1));
            }
            longest
        });
        act();
        done.store(true, Ordering::Relaxed);
        watch.join().expect("the watch")
    })
}

pub(crate) fn open(path: &Path) -> Arc<Store> {
    Store::open(Options { path: Some(path.to_owned()), ..Options::default() }).expect("a store")
}

/// A pipe, which nobody writes to: opening it to read waits for ever.
#[cfg(unix)]
pub(crate) fn pipe(path: &Path) {
    assert!(std::process::Command::new("mkfifo").arg(path).status().expect("mkfifo").success());
}

/// A user's message as an entry of a session file.
pub(crate) fn user(id: &str, parent: Option<&str>, ts: i64, text: &str) -> String {
    entry(id, parent, &bare(ts, text))
}

/// A user's message as pi's events carry it.
pub(crate) fn bare(ts: i64, text: &str) -> String {
    serde_json::json!({ "role": "user", "content": text, "timestamp": ts }).to_string()
}

/// A tool's failure as pi's events carry it.
pub(crate) fn failure(call: &str, ts: i64, text: &str) -> String {
    serde_json::json!({
        "role": "toolResult", "toolCallId": call, "toolName": "bash", "isError": true, "timestamp": ts,
        "content": [{ "type": "text", "text": text }],
    })
    .to_string()
}

/// A message as an entry of a session file.
pub(crate) fn entry(id: &str, parent: Option<&str>, message: &str) -> String {
    let parent = parent.map_or("null".to_owned(), |parent| format!("{parent:?}"));
    format!(
        r#"{{"type":"message","id":"{id}","parentId":{parent},"timestamp":"2026-10-15T14:00:01.000Z","message":{message}}}"#
    )
}
