//! A session file as batches of entries, with what was left out of it and why.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::path::Path;

use super::identity;
use super::report::Skipped;
use super::source::Source;
use crate::message::{self, Body, Entry, Header, Rules};
use crate::store::{FileState, Mark, Placed, Session};

/// Records looked at for a header before the file's name has to do.
const HEADER_WITHIN: usize = 16;
/// A file that begins with so many lines that are no entries is something else.
const GIVE_UP: usize = 1000;

/// Entries of one file, and what to remember once they are applied.
pub struct Batch {
    pub entries: Vec<Placed>,
    pub end: Mark,
    /// Bytes read for it.
    pub bytes: u64,
}

impl Batch {
    /// Cuts the texts into terms here, so that the thread that holds the write lock need not.
    pub fn cut_terms(&mut self) {
        for placed in &mut self.entries {
            if let Body::Kept(kept) = &placed.entry.body {
                placed.terms = Some(crate::text::terms::index_terms(&kept.text));
            }
        }
    }
}

/// A reader over one session file.
pub struct Stream<'a> {
    path: &'a Path,
    rules: &'a Rules,
    source: Source,
    /// Entries read in search of the header.
    ahead: Vec<Placed>,
    /// Entries of the present line that were not handed out yet.
    pending: VecDeque<Placed>,
    /// The first byte not read yet, and the number of its line.
    offset: u64,
    line: u64,
    /// The end of the file was reached.
    ended: bool,
    /// Whose file it is.
    pub session: Session,
    /// What was remembered of the file, when it was only appended to since.
    pub state: Option<FileState>,
    /// What was left out, and why.
    pub skipped: Vec<Skipped>,
    /// Entry types nobody knows, and how often each came.
    pub unknown: BTreeMap<String, u64>,
}

/// A file opened for reading, or why it is left out.
pub enum Opened<'a> {
    Stream(Box<Stream<'a>>),
    LeftOut(Skipped),
}

impl<'a> Stream<'a> {
    /// Opens the file where `state` left it and finds out whose it is.
    pub fn open(path: &'a Path, state: Option<FileState>, rules: &'a Rules) -> io::Result<Opened<'a>> {
        let source = Source::open(path, state.filter(|state| state.session.is_some()))?;
        let state = source.state.clone();
        let (offset, line) = state.as_ref().map_or((0, 1), |state| (state.mark.offset, state.mark.line));
        let mut stream = Stream {
            path,
            rules,
            source,
            ahead: Vec::new(),
            pending: VecDeque::new(),
            offset,
            line,
            ended: false,
            session: Session::default(),
            state,
            skipped: Vec::new(),
            unknown: BTreeMap::new(),
        };
        if let Some(id) = stream.state.as_ref().and_then(|state| state.session.clone()) {
            stream.session.id = id;
        } else if let Some(reason) = stream.identify()? {
            return Ok(Opened::LeftOut(Skipped::whole(path, reason)));
        }
        Ok(Opened::Stream(Box::new(stream)))
    }

    /// Reads the first entries and finds out whose they are; the reason when it is no session of pi's.
    fn identify(&mut self) -> io::Result<Option<String>> {
        while self.ahead.len() < HEADER_WITHIN && !self.ahead.iter().any(|placed| identity::settles(&placed.entry)) {
            let Some(placed) = self.read()? else { break };
            self.ahead.push(placed);
        }
        if self.ahead.is_empty() && self.skipped.is_empty() {
            return Ok(Some("empty file".to_owned()));
        }
        let first: Vec<&Entry> = self.ahead.iter().map(|placed| &placed.entry).collect();
        let found = match identity::identify(self.path, &first) {
            Ok(found) => found,
            Err(reason) => return Ok(Some(reason)),
        };
        self.skipped.extend(found.note.map(|note| Skipped::line(self.path, 1, note)));
        self.session = session(self.path, found.header);
        Ok(None)
    }

    /// The next entries, at most `count` of them and about `bytes` of the file.
    pub fn next(&mut self, count: usize, bytes: u64) -> io::Result<Option<Batch>> {
        if self.ended {
            return Ok(None);
        }
        let from = self.offset;
        let mut entries = std::mem::take(&mut self.ahead);
        let from = if entries.is_empty() { from } else { 0 };
        while (entries.len() < count && self.offset - from < bytes) || !self.pending.is_empty() {
            match self.read()? {
                Some(placed) => {
                    if let Body::Header(header) = &placed.entry.body
                        && header.id != self.session.id
                    {
                        let reason = format!(
                            "a second session header ({}); its entries are kept in {}",
                            header.id, self.session.id
                        );
                        self.skipped.push(Skipped::line(self.path, placed.line.saturating_sub(1).max(1), reason));
                    }
                    entries.push(placed);
                }
                None => {
                    self.ended = true;
                    break;
                }
            }
        }
        let end = self.source.mark(self.offset, self.line, self.ended)?;
        Ok(Some(Batch { entries, end, bytes: self.offset - from }))
    }

    /// Bytes of the file that were not read.
    pub fn behind(&self) -> u64 {
        self.source.behind(self.offset)
    }

    /// The next entry that can be read; what cannot is noted.
    fn read(&mut self) -> io::Result<Option<Placed>> {
        while self.pending.is_empty() {
            if self.session.id.is_empty() && self.skipped.len() >= GIVE_UP {
                return Ok(None);
            }
            let Some(record) = self.source.next()? else { return Ok(None) };
            for (_, parsed) in message::records(record.bytes, self.rules) {
                match parsed {
                    Ok(entry) => {
                        if let Body::Unknown(kind) = &entry.body {
                            *self.unknown.entry(kind.clone()).or_default() += 1;
                        }
                        self.pending.push_back(Placed {
                            entry,
                            terms: None,
                            offset: record.start,
                            line: record.line,
                            last: false,
                        });
                    }
                    Err(malformed) => self.skipped.push(Skipped::line(self.path, record.line, malformed.to_string())),
                }
            }
            self.offset = record.end;
            self.line = record.line + u64::from(record.terminated);
            if let Some(last) = self.pending.back_mut() {
                (last.offset, last.line, last.last) = (self.offset, self.line, true);
            }
        }
        Ok(self.pending.pop_front())
    }
}

fn session(path: &Path, header: Header) -> Session {
    let parent = header.parent_file.as_deref().and_then(id_in_name);
    Session {
        id: header.id,
        cwd: header.cwd,
        started_at: header.started_at,
        name: header.name,
        file: Some(std::path::absolute(path).unwrap_or_else(|_| path.to_owned()).to_string_lossy().into_owned()),
        parent_file: header.parent_file,
        parent,
    }
}

/// The session id in a file name of pi's: `<time>_<id>.jsonl`.
fn id_in_name(file: &str) -> Option<String> {
    let name = file.rsplit(['/', '\\']).next()?.strip_suffix(".jsonl")?;
    name.split_once('_').map(|(_, id)| id.to_owned()).filter(|id| !id.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = r#"{"type":"session","version":3,"id":"s1","timestamp":"2026-10-15T14:02:00Z","cwd":"/w"}"#;

    fn user(text: &str) -> String {
        format!(
            r#"{{"type":"message","id":"{text}","timestamp":"2026-10-15T14:02:00Z","message":{{"role":"user","content":"{text}"}}}}"#
        )
    }

    /// What a file of these lines gives.
    #[derive(Default)]
    struct Given {
        session: String,
        messages: Vec<String>,
        /// Line (0 for the whole file) and reason of what was left out.
        skipped: Vec<(u64, String)>,
        unknown: BTreeMap<String, u64>,
    }

    fn read(lines: &[&str]) -> Given {
        let tmp = tempfile::tempdir().expect("a folder");
        let path = tmp.path().join("2024-01-15T10-30-00-000Z_named.jsonl");
        std::fs::write(&path, lines.concat()).expect("written");
        let notes = |skipped: Vec<Skipped>| skipped.into_iter().map(|s| (s.line.unwrap_or(0), s.reason)).collect();
        let rules = Rules::default();
        let mut stream = match Stream::open(&path, None, &rules).expect("readable") {
            Opened::Stream(stream) => stream,
            Opened::LeftOut(skipped) => return Given { skipped: notes(vec![skipped]), ..Given::default() },
        };
        let mut given = Given { session: stream.session.id.clone(), ..Given::default() };
        while let Some(batch) = stream.next(2, 1 << 20).expect("readable") {
            given.messages.extend(batch.entries.into_iter().filter_map(|placed| match placed.entry.body {
                Body::Kept(kept) => Some(kept.text),
                _ => None,
            }));
        }
        Given { skipped: notes(stream.skipped), unknown: stream.unknown, ..given }
    }

    #[test]
    fn a_bad_line_is_named_and_its_neighbours_are_read() {
        let given = read(&[HEADER, "\n", &user("a"), "\n", "oops\n", &user("b"), &user("c"), "\r\n", "{\"half\":"]);
        assert_eq!((given.session.as_str(), given.messages), ("s1", vec!["a".into(), "b".into(), "c".into()]));
        assert_eq!(given.skipped, [(3, "not JSON".into())]);
    }

    #[test]
    fn entries_before_a_late_header_are_its_own() {
        let given = read(&[&user("a"), "\n", HEADER, "\n", &user("b"), "\n"]);
        assert_eq!((given.session.as_str(), given.messages), ("s1", vec!["a".into(), "b".into()]));
        assert_eq!(given.skipped, []);
    }

    #[test]
    fn of_two_headers_the_first_says_it_and_the_second_is_told() {
        let second = HEADER.replace("s1", "s2");
        let given = read(&[HEADER, "\n", &user("a"), "\n", &second, "\n", &user("b"), "\n"]);
        assert_eq!((given.session.as_str(), given.messages), ("s1", vec!["a".into(), "b".into()]));
        assert!(matches!(given.skipped.as_slice(), [(3, reason)] if reason.contains("s2")), "{:?}", given.skipped);
    }

    #[test]
    fn without_a_header_the_file_name_says_it_and_the_person_is_told() {
        let given = read(&[&user("a"), "\n"]);
        assert_eq!((given.session.as_str(), given.messages), ("named", vec!["a".into()]));
        assert!(matches!(given.skipped.as_slice(), [(1, reason)] if reason.starts_with("no session header")));
    }

    #[test]
    fn entry_types_nobody_knows_are_counted() {
        let given = read(&[
            HEADER,
            "\n{\"type\":\"hologram\",\"id\":\"x\"}\n{\"type\":\"hologram\",\"id\":\"y\"}\n",
            &user("a"),
        ]);
        assert_eq!((given.unknown, given.messages), (BTreeMap::from([("hologram".into(), 2)]), vec!["a".into()]));
    }

    #[test]
    fn what_is_no_session_is_left_out_and_named() {
        for (lines, reason) in [
            ("", "empty file"),
            ("{\"type\":\"user\",\"sessionId\":\"x\"}\n", "a session of Claude Code, not of pi"),
            ("# notes\n", "not a session of pi: none of its first lines is an entry of one"),
            (&"{\"row\":1}\n".repeat(5000), "not a session of pi: none of its first lines is an entry of one"),
        ] {
            assert_eq!(read(&[lines]).skipped, [(0, reason.into())]);
        }
    }
}
