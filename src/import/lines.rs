//! Reads a session file line by line, from where it was left.
//!
//! A line may hold more than one entry, or broken ones: [`crate::message::records`] takes it apart.

use std::io::{self, Read};

use memchr::memchr;

use crate::message;

/// Bytes read at once, and what the buffer shrinks back to after a longer line.
const CHUNK: usize = 256 << 10;

/// A line of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    /// Its number, from 1.
    pub line: u64,
    /// The place in the file of its first byte, and of the first byte after it and its line end.
    pub start: u64,
    pub end: u64,
    /// The line without its line feed; a carriage return or NUL bytes around it are blanks to the parser.
    pub bytes: &'a [u8],
    /// False for a last line without line end that is whole all the same.
    pub terminated: bool,
}

/// The lines of a file that is still being written: one that is half-written stays for the next time.
pub struct Lines<R> {
    source: R,
    buffer: Vec<u8>,
    /// The part of the buffer that is read but not yielded, and where in it no line end was found yet.
    start: usize,
    filled: usize,
    searched: usize,
    /// The place in the file of `start`, and its line's number.
    offset: u64,
    line: u64,
}

impl<R: Read> Lines<R> {
    /// Reads on at `offset`, which is in line number `line`; `source` must be placed there.
    pub fn new(source: R, offset: u64, line: u64) -> Self {
        Lines { source, buffer: Vec::new(), start: 0, filled: 0, searched: 0, offset, line }
    }

    /// Where to go on the next time: the first byte not yielded, and its line's number.
    pub fn position(&self) -> (u64, u64) {
        (self.offset, self.line)
    }

    /// The next line that is not blank; `None` at the end of what is written whole.
    pub fn next(&mut self) -> io::Result<Option<Record<'_>>> {
        loop {
            let unsearched = self.buffer.get(self.searched..self.filled).unwrap_or_default();
            if let Some(found) = memchr(b'\n', unsearched) {
                let length = self.searched + found - self.start;
                if self.part(length).iter().all(u8::is_ascii_whitespace) {
                    self.pass(length + 1);
                    self.line += 1;
                    continue;
                }
                return Ok(Some(self.take(length, true)));
            }
            self.searched = self.filled;
            if self.fill()? == 0 {
                let length = self.filled - self.start;
                let rest = self.part(length);
                let blank = rest.iter().all(|byte| byte.is_ascii_whitespace() || *byte == 0);
                return Ok(if blank || !message::is_whole(rest) { None } else { Some(self.take(length, false)) });
            }
        }
    }

    fn take(&mut self, length: usize, terminated: bool) -> Record<'_> {
        let (from, line, start) = (self.start, self.line, self.offset);
        self.pass(length + usize::from(terminated));
        // An unfinished line goes on with the same number when its line end comes.
        self.line += u64::from(terminated);
        let bytes = self.buffer.get(from..from + length).unwrap_or_default();
        Record { line, start, end: self.offset, bytes, terminated }
    }

    fn part(&self, length: usize) -> &[u8] {
        self.buffer.get(self.start..self.start + length).unwrap_or_default()
    }

    fn pass(&mut self, length: usize) {
        self.start += length;
        self.searched = self.start;
        self.offset += length as u64;
    }

    /// Reads more behind what is there; 0 at the end of the file.
    fn fill(&mut self) -> io::Result<usize> {
        let kept = self.filled - self.start;
        self.buffer.copy_within(self.start..self.filled, 0);
        (self.start, self.filled, self.searched) = (0, kept, self.searched - self.start);
        if kept < CHUNK && self.buffer.len() > 4 * CHUNK {
            self.buffer.truncate(2 * CHUNK);
            self.buffer.shrink_to_fit();
        } else if self.buffer.len() - kept < CHUNK {
            // Growing by halves keeps a long line linear in time and close to its own length in memory.
            let longer = (self.buffer.len() + self.buffer.len() / 2).max(2 * CHUNK);
            self.buffer.reserve_exact(longer - self.buffer.len());
            self.buffer.resize(longer, 0);
        }
        loop {
            match self.source.read(self.buffer.get_mut(self.filled..).unwrap_or_default()) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
                Ok(read) => {
                    self.filled += read;
                    return Ok(read);
                }
            }
        }
    }
}
