//! Streams what is new in pi's session files into the store.
//!
//! One thread reads and parses; another writes, in short transactions that give way to captures. How far each file was
//! read is remembered in the same transactions, so a file costs only what is new in it, and a cancelled import loses
//! nothing.

mod identity;
pub mod lines;
mod report;
mod source;
mod stream;
mod tail;
pub mod walk;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use crate::error::{Error, Kind, Result};
use crate::store::{self, Cursor, FileState, Outcome, Share, Store};

pub use report::{Progress, Report, Skipped};
use stream::{Batch, Opened, Stream};
pub use tail::{Tail, tail};
use walk::Found;

/// Entries of one parcel at most.
const PARCEL: usize = 400;
/// Bytes of files read for one parcel, about.
const PARCEL_BYTES: u64 = 1 << 20;
/// Parcels that may wait for the writer.
const AHEAD: usize = 4;
/// How often progress is told.
const TELL: Duration = Duration::from_millis(100);

/// What to import.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Folders or session files; empty for every place pi and omp keep sessions.
    pub from: Vec<PathBuf>,
    /// Folders beside the default ones.
    pub also: Vec<PathBuf>,
}

/// Session files that wait to be imported.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Waiting {
    /// Files that were never read or changed since.
    pub files: usize,
    /// Session files there are, those waiting among them.
    pub all: usize,
    /// Their sizes together: what an import would read at most.
    pub bytes: u64,
    /// The folders looked in.
    pub folders: Vec<String>,
}

/// Imports what is new; `cancel` ends it after the present transaction, and `tell` hears how far it is, ten times a second.
///
/// # Errors
/// What writing into the store says. What of the sources cannot be read is left out and named in the report.
pub fn import(
    store: &Store,
    options: &Options,
    cancel: &AtomicBool,
    mut tell: impl FnMut(&Progress),
) -> Result<Report> {
    let started = Instant::now();
    let _importing = store.importing();
    let (stores, roots): (Vec<PathBuf>, Vec<PathBuf>) =
        roots(store, options)?.into_iter().partition(|root| store::is_store(root));
    let cancelled = || cancel.load(Ordering::Relaxed) || store.is_closing();
    let walked = walk::walk(&roots, cancelled);
    let mut left_out: Vec<Skipped> = Vec::new();
    left_out.extend(walked.problems.into_iter().map(|problem| Skipped::whole(&problem.path, problem.reason)));
    // Of the default places some are never there; a place the person named should be.
    if !options.from.is_empty() {
        left_out.extend(walked.missing.iter().map(|path| Skipped::whole(path, "no such file or folder")));
    }
    let (mut report, progress) = import_files(store, &walked.files, &cancelled, &mut tell)?;
    report.folders = report::names(&roots);
    report.skipped.splice(0..0, left_out);
    for other in &stores {
        let before = report.stored;
        let merged = store.merge_store(other, |merged| {
            tell(&Progress { stored: before + merged.stored, ..progress });
            !cancelled()
        })?;
        report.files += 1;
        report.sessions += usize::try_from(merged.sessions).unwrap_or(usize::MAX);
        report.stored += merged.stored;
        report.duplicates += merged.duplicates;
    }
    report.cancelled = cancelled();
    if report.stored > 0 && !report.cancelled {
        store.tidy_up()?;
    }
    tell(&Progress { stored: report.stored, ..progress });
    report.elapsed_ms = started.elapsed().as_secs_f64() * 1000.0;
    Ok(report)
}

/// Imports what is new in session files: one thread reads, this one writes.
fn import_files(
    store: &Store,
    files: &[Found],
    cancelled: &(impl Fn() -> bool + Sync),
    tell: &mut impl FnMut(&Progress),
) -> Result<(Report, Progress)> {
    let known = store.files()?;
    let reader = Reader { files, known: &known, store, cancelled };
    let bytes = files.iter().map(|file| file.size).sum();
    let mut writer = Writer {
        store,
        cancelled,
        progress: Progress { files: files.len(), bytes, ..Progress::default() },
        report: Report { files: files.len(), ..Report::default() },
        passed_over: HashSet::new(),
    };
    let read = std::thread::scope(|scope| {
        let (send, receive) = sync_channel(AHEAD);
        let reading = scope.spawn(move || reader.run(&send));
        let written = writer.run(&receive, tell);
        // A writer that failed must not leave the reader waiting for it.
        drop(receive);
        let read = reading.join();
        written?;
        read.map_err(|_| Error::new(Kind::Internal, "reading session files failed inside; please report it"))
    })?;
    let Writer { mut report, progress, passed_over, .. } = writer;
    let over = |file: &&Found| passed_over.contains(&file.name()) || read.left_out.contains(&file.name());
    let over = files.iter().filter(over).map(|file| (file.name(), file.stamp.mark()));
    store.pass_over(&over.collect::<Vec<_>>())?;
    report.skipped.extend(read.skipped);
    report.unknown_types = read.unknown;
    Ok((report, progress))
}

/// Session files that were never read, or changed since, and the folders looked in: a walk, nothing is opened.
pub fn waiting(store: &Store, options: &Options) -> Result<Waiting> {
    let roots = roots(store, options)?;
    let known = store.files()?;
    let mut waiting = Waiting { folders: report::names(&roots), ..Waiting::default() };
    for file in walk::walk(&roots, || store.is_closing()).files {
        waiting.all += 1;
        if !is_unchanged(&file, &known) {
            waiting.files += 1;
            waiting.bytes += file.size;
        }
    }
    Ok(waiting)
}

/// Where to look: what was named, else every place pi keeps sessions and the folders of files known already.
fn roots(store: &Store, options: &Options) -> Result<Vec<PathBuf>> {
    if !options.from.is_empty() {
        return Ok(options.from.clone());
    }
    let mut roots = walk::default_roots();
    roots.extend(options.also.iter().cloned());
    if std::env::var_os("PI_MEMORY_SESSIONS_DIR").is_none_or(|folder| folder.is_empty()) {
        for folder in store.session_folders()? {
            if !roots.iter().any(|root| folder.starts_with(root)) {
                roots.push(folder);
            }
        }
    }
    Ok(roots)
}

fn is_unchanged(file: &Found, known: &HashMap<String, FileState>) -> bool {
    known.get(&file.name()).is_some_and(|state| file.stamp.is_unchanged(state))
}

/// What the reader hands to the writer at once: parts of as many files as come to [`PARCEL`].
#[derive(Default)]
struct Parcel {
    parts: Vec<Part>,
    /// Entries in it, and bytes read for them.
    entries: usize,
    bytes: u64,
    /// Where the reader was then: files read to their end, and bytes of all files passed.
    files_done: usize,
    bytes_done: u64,
}

struct Part {
    /// Where the file begins; `None` when this goes on with the file before.
    cursor: Option<Cursor>,
    batch: Batch,
}

/// What the reading thread has to say in the end.
#[derive(Default)]
struct Read {
    skipped: Vec<Skipped>,
    /// Files that are no sessions.
    left_out: HashSet<String>,
    unknown: BTreeMap<String, u64>,
}

/// Reads and parses, on a thread of its own.
struct Reader<'a, C> {
    files: &'a [Found],
    known: &'a HashMap<String, FileState>,
    store: &'a Store,
    cancelled: &'a C,
}

// In these functions `None` ends the reading: the import was cancelled, or the writer is gone, whose error says why.
impl<C: Fn() -> bool> Reader<'_, C> {
    fn run(&self, send: &SyncSender<Parcel>) -> Read {
        let mut read = Read::default();
        let mut parcel = Parcel::default();
        let all = self.files.iter().try_for_each(|file| self.read(file, &mut parcel, send, &mut read));
        if all.is_some() {
            // Should the writer be gone, its error says why.
            let _ = send.send(parcel);
        }
        read
    }

    fn read(&self, file: &Found, parcel: &mut Parcel, send: &SyncSender<Parcel>, read: &mut Read) -> Option<()> {
        if (self.cancelled)() {
            return None;
        }
        let passed = parcel.bytes_done + file.size;
        if !is_unchanged(file, self.known) {
            let name = file.name();
            match Stream::open(&file.path, self.known.get(&name).cloned(), self.store.rules()) {
                Ok(Opened::Stream(mut stream)) => {
                    let mut cursor = Some(Cursor::new(&name, stream.session.clone(), stream.state.take()));
                    loop {
                        let room = PARCEL.saturating_sub(parcel.entries).max(1);
                        match stream.next(room, PARCEL_BYTES.saturating_sub(parcel.bytes).max(1)) {
                            Ok(Some(mut batch)) => {
                                batch.cut_terms();
                                parcel.bytes_done = (parcel.bytes_done + batch.bytes).min(passed);
                                parcel.add(Part { cursor: cursor.take(), batch });
                                self.send_when_full(parcel, send)?;
                            }
                            Ok(None) => break,
                            Err(error) => {
                                read.skipped.push(Skipped::whole(&file.path, format!("cannot be read on: {error}")));
                                break;
                            }
                        }
                    }
                    read.skipped.append(&mut stream.skipped);
                    for (kind, count) in std::mem::take(&mut stream.unknown) {
                        *read.unknown.entry(kind).or_default() += count;
                    }
                }
                Ok(Opened::LeftOut(skipped)) => {
                    read.left_out.insert(name);
                    read.skipped.push(skipped);
                }
                Err(error) => read.skipped.push(Skipped::whole(&file.path, format!("cannot be read: {error}"))),
            }
        }
        parcel.bytes_done = passed;
        parcel.files_done += 1;
        Some(())
    }

    fn send_when_full(&self, parcel: &mut Parcel, send: &SyncSender<Parcel>) -> Option<()> {
        if parcel.entries >= PARCEL || parcel.bytes >= PARCEL_BYTES {
            let next = Parcel { files_done: parcel.files_done, bytes_done: parcel.bytes_done, ..Parcel::default() };
            send.send(std::mem::replace(parcel, next)).ok()?;
        }
        (!(self.cancelled)()).then_some(())
    }
}

impl Parcel {
    fn add(&mut self, part: Part) {
        self.entries += part.batch.entries.len();
        self.bytes += part.batch.bytes;
        self.parts.push(part);
    }
}

/// Writes what the reader hands over.
struct Writer<'a, C> {
    store: &'a Store,
    cancelled: &'a C,
    progress: Progress,
    report: Report,
    /// Files of folders that are never kept.
    passed_over: HashSet<String>,
}

impl<C: Fn() -> bool> Writer<'_, C> {
    fn run(&mut self, receive: &Receiver<Parcel>, tell: &mut impl FnMut(&Progress)) -> Result<()> {
        let mut told = Instant::now();
        // The file whose next part may come in the next parcel.
        let mut open: Option<Cursor> = None;
        for parcel in receive {
            self.progress.files_done = parcel.files_done;
            self.progress.bytes_done = parcel.bytes_done.min(self.progress.bytes);
            self.report.bytes += parcel.bytes;
            self.write(&mut open, parcel.parts)?;
            let underway = open.as_ref().map_or(0, |cursor| cursor.counts.stored);
            self.progress.stored = self.report.stored + underway;
            if told.elapsed() >= TELL {
                told = Instant::now();
                tell(&self.progress);
            }
            if (self.cancelled)() {
                break;
            }
        }
        self.close(open);
        self.progress.stored = self.report.stored;
        Ok(())
    }

    /// Writes parts of files in as many transactions as it takes. `open` is the file that the last part so far belongs to.
    fn write(&mut self, open: &mut Option<Cursor>, parts: Vec<Part>) -> Result<()> {
        let mut shares = Vec::with_capacity(parts.len());
        for Part { cursor, batch } in parts {
            if cursor.is_some() {
                self.report.sessions += 1;
                self.close(open.take());
            }
            // A file that is not to be read on lost its cursor: the rest of it is dropped.
            if let Some(cursor) = cursor.or_else(|| open.take()) {
                shares.push(Share::new(cursor, batch.entries, Some(batch.end)));
            }
        }
        while !self.store.apply_in_background(&mut shares)? && !(self.cancelled)() {}
        for share in shares {
            self.close(open.take());
            match share.ended {
                Some(Outcome::Applied(_)) | None => *open = Some(share.cursor),
                // Another process or the session's own tail reads the same file: it stores the same.
                Some(Outcome::Overtaken) => self.close(Some(share.cursor)),
                Some(Outcome::Excluded) => {
                    let reason = "its folder is one of those never kept (excludeFolders)";
                    self.report.skipped.push(Skipped::whole(share.cursor.path().as_ref(), reason));
                    self.passed_over.insert(share.cursor.path().to_owned());
                    self.close(Some(share.cursor));
                }
            }
        }
        Ok(())
    }

    /// Adds what a file brought to the report.
    fn close(&mut self, cursor: Option<Cursor>) {
        if let Some(cursor) = cursor {
            self.report.stored += cursor.counts.stored;
            self.report.duplicates += cursor.counts.duplicates;
        }
    }
}
