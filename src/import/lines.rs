//! Reads a session file line by line, from where it was left.
//!
//! A line may hold more than one entry, or broken ones: [`crate::message::records`] takes it apart. Of a huge line the
//! ends of its longest strings are passed over while it is read: so much of a text is never kept, and most are results of
//! tools, of which nothing is.

use std::io::{self, Read};

use memchr::{memchr, memchr2};

use crate::message;

/// Bytes read at once, and what the buffer shrinks back to after a longer line.
const CHUNK: usize = 256 << 10;
/// A line longer than this is huge, and this much of a string is more than is kept of any, however it is escaped.
const HUGE: usize = 1 << 20;
const STRING: usize = 256 << 10;

/// A line of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    /// Its number, from 1.
    pub line: u64,
    /// The place in the file of its first byte.
    pub start: u64,
    /// The place of the first byte after it and its line end.
    pub end: u64,
    /// The line without its line feed, and without the ends of huge strings; a carriage return or NUL bytes around it
    /// are blanks to the parser.
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
    squeeze: Squeeze,
}

/// How far a huge line was gone through for long strings.
#[derive(Default)]
struct Squeeze {
    /// Bytes of the line gone through and held, and bytes passed over.
    done: usize,
    passed: u64,
    /// Within a string, its length so far.
    string: Option<usize>,
    /// After a backslash: whether that was held.
    escaped: Option<bool>,
}

impl Squeeze {
    /// Goes through more of the line; how much of it stays.
    fn go(&mut self, line: &mut [u8]) -> usize {
        let (mut from, mut to) = (self.done, self.done);
        while let Some(rest) = line.get(from..).filter(|rest| !rest.is_empty()) {
            let (run, held) = match self.string {
                None => {
                    let quote = memchr(b'"', rest);
                    self.string = quote.map(|_| 0);
                    let run = quote.map_or(rest.len(), |quote| quote + 1);
                    (run, run)
                }
                Some(length) => {
                    let room = STRING.saturating_sub(length);
                    let (run, held) = match (self.escaped.take(), memchr2(b'"', b'\\', rest)) {
                        (Some(held), _) => (1, usize::from(held)),
                        (None, Some(0)) if rest.first() == Some(&b'"') => {
                            self.string = None;
                            (1, 1)
                        }
                        (None, Some(0)) => {
                            self.escaped = Some(room > 0);
                            (1, room.min(1))
                        }
                        (None, found) => {
                            let run = found.unwrap_or(rest.len());
                            (run, run.min(room))
                        }
                    };
                    self.string = self.string.map(|length| length + held);
                    (run, held)
                }
            };
            if from != to {
                line.copy_within(from..from + held, to);
            }
            (from, to) = (from + run, to + held);
        }
        self.passed += (line.len() - to) as u64;
        self.done = to;
        to
    }
}

impl<R: Read> Lines<R> {
    /// Reads on at `offset`, which is in line number `line`; `source` must be placed there.
    pub fn new(source: R, offset: u64, line: u64) -> Self {
        let squeeze = Squeeze::default();
        Lines { source, buffer: Vec::new(), start: 0, filled: 0, searched: 0, offset, line, squeeze }
    }

    /// Where to go on the next time: the first byte not yielded, and its line's number.
    pub fn position(&self) -> (u64, u64) {
        (self.offset, self.line)
    }

    /// The next line that is not blank; `None` at the end of what is written whole.
    pub fn next_line(&mut self) -> io::Result<Option<Record<'_>>> {
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
            if self.filled - self.start > HUGE
                && let Some(line) = self.buffer.get_mut(self.start..self.filled)
            {
                self.filled = self.start + self.squeeze.go(line);
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
        self.offset += length as u64 + std::mem::take(&mut self.squeeze).passed;
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Hands out at most `step` bytes a time.
    struct Slowly<'a>(&'a [u8], usize);

    impl Read for Slowly<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let step = self.1;
            self.0.by_ref().take(step as u64).read(buffer)
        }
    }

    /// A line's number, start, end and text.
    type Line = (u64, u64, u64, String);

    /// Every line, and where to go on.
    fn all(file: &[u8], offset: u64, line: u64) -> (Vec<Line>, (u64, u64)) {
        let read = |step| {
            let rest = file.get(usize::try_from(offset).expect("small")..).unwrap_or_default();
            let mut lines = Lines::new(Slowly(rest, step), offset, line);
            let mut found = Vec::new();
            while let Some(record) = lines.next_line().expect("readable") {
                let text = String::from_utf8_lossy(record.bytes).into_owned();
                found.push((record.line, record.start, record.end, text));
            }
            (found, lines.position())
        };
        assert_eq!(read(1), read(1 << 20), "what is read depends on how it comes");
        read(7)
    }

    fn texts(file: &str) -> Vec<String> {
        all(file.as_bytes(), 0, 1).0.into_iter().map(|(.., text)| text).collect()
    }

    #[test]
    fn lines_come_with_their_number_and_place() {
        let (lines, position) = all(b"{\"a\":1}\n\n {}\r\n", 0, 1);
        assert_eq!(lines, [(1, 0, 8, "{\"a\":1}".into()), (3, 9, 14, " {}\r".into())]);
        assert_eq!(position, (14, 4));
    }

    #[test]
    fn reading_goes_on_where_it_was_left() {
        let (lines, position) = all(b"{\"a\":1}\n{\"b\":2}\n", 8, 2);
        assert_eq!(lines, [(2, 8, 16, "{\"b\":2}".into())]);
        assert_eq!(position, (16, 3));
    }

    #[test]
    fn a_half_written_last_line_is_left_for_the_next_time() {
        let (lines, position) = all(b"{\"a\":1}\n{\"b\":", 0, 1);
        assert_eq!((lines.len(), position), (1, (8, 2)));
        assert_eq!(texts("not json"), Vec::<String>::new());
    }

    #[test]
    fn a_last_line_that_is_whole_needs_no_line_end() {
        let (lines, position) = all(b"{\"a\":1}\n{\"b\":2}", 0, 1);
        assert_eq!(lines.last(), Some(&(2, 8, 15, "{\"b\":2}".into())));
        assert_eq!(position, (15, 2), "the line goes on until its end comes");
        let (lines, position) = all(b"{\"a\":1}\n{\"b\":2}\n{\"c\":3}\n", 15, 2);
        assert_eq!((lines, position), (vec![(3, 16, 24, "{\"c\":3}".into())], (24, 4)));
    }

    #[test]
    fn blocks_lost_to_nul_bytes_wait_at_the_end_and_show_in_the_middle() {
        assert_eq!(all(b"{}\n\0\0\0", 0, 1).1, (3, 2));
        assert_eq!(texts("\0\0{}\0\n"), ["\0\0{}\0"]);
    }

    #[test]
    fn a_long_line_is_read_and_its_memory_given_back() {
        let long = format!("[{}0]", "1,".repeat(10 * CHUNK));
        let file = format!("{long}\n{}", "{}\n".repeat(CHUNK));
        let mut lines = Lines::new(file.as_bytes(), 0, 1);
        assert_eq!(lines.next_line().expect("readable").map(|record| record.bytes.len()), Some(long.len()));
        while lines.next_line().expect("readable").is_some() {}
        assert_eq!(lines.position(), (file.len() as u64, CHUNK as u64 + 2));
        assert!(lines.buffer.capacity() <= 4 * CHUNK);
    }

    #[test]
    fn of_a_huge_line_no_more_is_held_than_is_kept() {
        let rules = message::Rules::default();
        for piece in ["x", r#"\\\""#, r"\u4e2d", "中\\n", r"\ud83d\ude00"] {
            let huge = piece.repeat(3 * HUGE / piece.len());
            let line = format!(
                r#"{{"type":"message","id":"a","message":{{"role":"assistant","content":[{{"type":"text","text":"{huge}"}},{{"type":"toolCall","name":"t","arguments":{{"a":"{huge}"}}}}]}}}}"#
            );
            let file = format!("{{}}\n{line}\n{{}}");
            for step in [100_003, 1 << 20] {
                let mut lines = Lines::new(Slowly(file.as_bytes(), step), 0, 1);
                lines.next_line().expect("readable").expect("the first");
                let record = lines.next_line().expect("readable").expect("the huge one");
                assert_eq!((record.start, record.end), (3, 4 + line.len() as u64));
                assert_eq!(message::parse(record.bytes, &rules), message::parse(line.as_bytes(), &rules));
                assert_eq!(lines.next_line().expect("readable").map(|last| last.start), Some(4 + line.len() as u64));
                assert!(lines.buffer.capacity() <= 4 * HUGE);
            }
        }
    }
}
