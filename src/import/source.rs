//! A session file, opened where it was left: it tells an appended file from a rewritten one.

use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::time::UNIX_EPOCH;

use super::lines::{Lines, Record};
use crate::store::{FileState, Mark, digits};

/// How many bytes before the remembered offset are looked at again.
const PRINT_BYTES: u64 = 512;

/// What the file system says of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    pub size: i64,
    /// Nanoseconds since 1970.
    pub mtime: i64,
    /// 0 where the file system has none.
    pub inode: i64,
}

impl Stamp {
    pub fn of(meta: &Metadata) -> Stamp {
        let mtime = meta
            .modified()
            .ok()
            .and_then(|time| time.duration_since(UNIX_EPOCH).ok())
            .and_then(|since| i64::try_from(since.as_nanos()).ok())
            .unwrap_or(0);
        #[cfg(unix)]
        let inode = std::os::unix::fs::MetadataExt::ino(meta).cast_signed();
        #[cfg(not(unix))]
        let inode = 0;
        Stamp { size: meta.len().cast_signed(), mtime, inode }
    }

    /// What to remember of a file of which nothing is to be read.
    pub fn mark(&self) -> Mark {
        Mark { size: self.size, mtime: self.mtime, inode: self.inode, ..Mark::START }
    }

    /// True when nothing happened to the file since `state` was remembered.
    pub fn is_unchanged(&self, state: &FileState) -> bool {
        (self.size, self.mtime, self.inode) == (state.mark.size, state.mark.mtime, state.mark.inode)
    }
}

/// A reader over the records of a session file that were not read yet.
pub struct Source {
    lines: Lines<File>,
    /// The same file opened again: fingerprints are taken of what was read while reading goes on.
    again: File,
    /// As the file was when it was opened.
    stamp: Stamp,
    /// What was remembered, when the file was only appended to since.
    pub state: Option<FileState>,
}

impl Source {
    /// Opens the file after what `state` remembers of it; from its start when it was rewritten since.
    pub fn open(path: &Path, state: Option<FileState>) -> io::Result<Source> {
        let mut file = File::open(path)?;
        let stamp = Stamp::of(&file.metadata()?);
        let state = match state {
            Some(state) if state.mark.offset > 0 && continues(&mut file, &stamp, &state.mark)? => Some(state),
            _ => None,
        };
        let (offset, line) = state.as_ref().map_or((0, 1), |state| (state.mark.offset, state.mark.line));
        file.seek(SeekFrom::Start(offset))?;
        let again = File::open(path)?;
        Ok(Source { lines: Lines::new(file, offset, line), again, stamp, state })
    }

    /// The next record, or `None` at the end of what is written whole.
    pub fn next(&mut self) -> io::Result<Option<Record<'_>>> {
        self.lines.next_line()
    }

    /// Bytes from `offset` to the end.
    pub fn behind(&self, offset: u64) -> u64 {
        self.stamp.size.unsigned_abs().saturating_sub(offset)
    }

    /// What to remember when everything up to `offset` was applied. With `whole`, the file was read to its end.
    pub fn mark(&mut self, offset: u64, line: u64, whole: bool) -> io::Result<Mark> {
        let Stamp { size, mtime, inode } = self.stamp;
        let print = fingerprint(&mut self.again, offset)?;
        Ok(Mark { size: if whole { size } else { -1 }, mtime, inode, offset, line, print })
    }
}

/// True when the file still holds what was read of it, with something new behind it at most.
fn continues(file: &mut File, stamp: &Stamp, mark: &Mark) -> io::Result<bool> {
    let size = stamp.size.unsigned_abs();
    let same_place = stamp.inode == mark.inode && size >= mark.offset;
    let edited_in_place = stamp.size == mark.size && stamp.mtime != mark.mtime;
    Ok(same_place && !edited_in_place && fingerprint(file, mark.offset)? == mark.print)
}

/// Tells the bytes just before `offset` from others.
fn fingerprint(file: &mut File, offset: u64) -> io::Result<i64> {
    let from = offset.saturating_sub(PRINT_BYTES);
    file.seek(SeekFrom::Start(from))?;
    let mut bytes = Vec::new();
    file.take(offset - from).read_to_end(&mut bytes)?;
    Ok(digits(&[&bytes]))
}
