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

/// Entries of one file, and what to remember once they are applied.
pub struct Batch {
    pub entries: Vec<Placed>,
    pub end: Mark,
    /// Bytes read for it.
    pub bytes: u64,
}

/// A reader over one session file.
pub struct Stream<'a> {
    path: &'a Path,
    rules: &'a Rules,
    source: Source,
    /// Entries read in search of the header, and those of the present line.
    ahead: Vec<Placed>,
    pending: VecDeque<Placed>,
    offset: u64,
    line: u64,
    ended: bool,
    pub session: Session,
    /// What was remembered of the file, when it was only appended to since.
    pub state: Option<FileState>,
    pub skipped: Vec<Skipped>,
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
            let Some(record) = self.source.next()? else { return Ok(None) };
            for (_, parsed) in message::records(record.bytes, self.rules) {
                match parsed {
                    Ok(entry) => {
                        if let Body::Unknown(kind) = &entry.body {
                            *self.unknown.entry(kind.clone()).or_default() += 1;
                        }
                        self.pending.push_back(Placed { entry, offset: record.start, line: record.line, last: false });
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
