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

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use crate::error::Result;
use crate::store::{self, Cursor, FileState, Progress as Step, Session, Store};

pub use report::{Progress, Report, Skipped};
use stream::{Batch, Opened, Stream};
pub use tail::{Tail, tail};
use walk::Found;

/// Entries of one batch at most, and bytes read for it.
const BATCH: usize = 400;
const BATCH_BYTES: u64 = 1 << 20;
/// Batches that may wait for the writer.
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
    pub files: usize,
    pub bytes: u64,
    pub folders: Vec<String>,
}

/// Imports what is new; `cancel` ends it after the present transaction.
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
    let walked = walk::walk(&roots);
    let known = store.files()?;
    let cancelled = || cancel.load(Ordering::Relaxed) || store.is_closing();
    let reader = Reader { files: &walked.files, known: &known, store, cancelled: &cancelled };
    let mut writer = Writer {
        store,
        cancelled: &cancelled,
        progress: Progress {
            files: walked.files.len(),
            bytes: walked.files.iter().map(|file| file.size).sum(),
            ..Progress::default()
        },
        report: Report { folders: report::names(&roots), files: walked.files.len(), ..Report::default() },
    };
    writer
        .report
        .skipped
        .extend(walked.problems.into_iter().map(|problem| Skipped::whole(&problem.path, problem.reason)));
    // Of the default places some are never there; a place the person named should be.
    if !options.from.is_empty() {
        writer.report.skipped.extend(walked.missing.iter().map(|path| Skipped::whole(path, "no such file or folder")));
    }
    let read = std::thread::scope(|scope| {
        let (send, receive) = sync_channel(AHEAD);
        let reading = scope.spawn(move || reader.run(&send));
        let written = writer.run(&receive, &mut tell);
        // A writer that failed must not leave the reader waiting for it.
        drop(receive);
        let read = reading.join().unwrap_or_default();
        written.map(|()| read)
    })?;
    let Writer { mut report, progress, .. } = writer;
    report.skipped.extend(read.skipped);
    report.unknown_types = read.unknown;
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
        store.tidy()?;
    }
    tell(&Progress { stored: report.stored, ..progress });
    report.elapsed_ms = started.elapsed().as_secs_f64() * 1000.0;
    Ok(report)
}

/// Session files that were never read, or changed since, and the folders looked in: a walk, nothing is opened.
pub fn waiting(store: &Store, options: &Options) -> Result<Waiting> {
    let roots = roots(store, options)?;
    let known = store.files()?;
    let mut waiting = Waiting { folders: report::names(&roots), ..Waiting::default() };
    for file in walk::walk(&roots).files {
        if !is_unchanged(&file, &known) {
            waiting.files += 1;
            waiting.bytes += file.size;
        }
    }
    Ok(waiting)
}

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
    known.get(&*file.path.to_string_lossy()).is_some_and(|state| file.stamp.is_unchanged(state))
}

/// What reaches the writer.
enum Parcel {
    /// The next file's entries follow.
    Begin(String, Box<Session>, Option<FileState>),
    Entries(Batch),
    /// The file has no more.
    Done {
        size: u64,
    },
}

/// What the reading thread has to say in the end.
#[derive(Default)]
struct Read {
    skipped: Vec<Skipped>,
    unknown: BTreeMap<String, u64>,
}

struct Reader<'a, C> {
    files: &'a [Found],
    known: &'a HashMap<String, FileState>,
    store: &'a Store,
    cancelled: &'a C,
}

impl<C: Fn() -> bool> Reader<'_, C> {
    fn run(&self, send: &SyncSender<Parcel>) -> Read {
        let mut read = Read::default();
        for file in self.files {
            // The writer is gone when it failed; its error says why.
            if (self.cancelled)() || self.read(file, send, &mut read).is_none() {
                break;
            }
        }
        read
    }

    fn read(&self, file: &Found, send: &SyncSender<Parcel>, read: &mut Read) -> Option<()> {
        if !is_unchanged(file, self.known) {
            let name = file.path.to_string_lossy().into_owned();
            match Stream::open(&file.path, self.known.get(&name).cloned(), self.store.rules()) {
                Ok(Opened::Stream(mut stream)) => {
                    let state = stream.state.take();
                    send.send(Parcel::Begin(name, Box::new(stream.session.clone()), state)).ok()?;
                    loop {
                        match stream.next(BATCH, BATCH_BYTES) {
                            Ok(Some(mut batch)) => {
                                batch.cut_terms();
                                send.send(Parcel::Entries(batch)).ok()?;
                            }
                            Ok(None) => break,
                            Err(error) => {
                                read.skipped.push(Skipped::whole(&file.path, format!("cannot be read on: {error}")));
                                break;
                            }
                        }
                        if (self.cancelled)() {
                            return None;
                        }
                    }
                    read.skipped.append(&mut stream.skipped);
                    for (kind, count) in std::mem::take(&mut stream.unknown) {
                        *read.unknown.entry(kind).or_default() += count;
                    }
                }
                Ok(Opened::LeftOut(skipped)) => read.skipped.push(skipped),
                Err(error) => read.skipped.push(Skipped::whole(&file.path, format!("cannot be read: {error}"))),
            }
        }
        send.send(Parcel::Done { size: file.size }).ok()
    }
}

struct Writer<'a, C> {
    store: &'a Store,
    cancelled: &'a C,
    progress: Progress,
    report: Report,
}

impl<C: Fn() -> bool> Writer<'_, C> {
    fn run(&mut self, receive: &Receiver<Parcel>, tell: &mut impl FnMut(&Progress)) -> Result<()> {
        let mut told = Instant::now();
        let mut cursor: Option<Cursor> = None;
        let (mut done, mut read) = (0, 0);
        for parcel in receive {
            match parcel {
                Parcel::Begin(path, session, state) => {
                    self.report.sessions += 1;
                    cursor = Some(Cursor::new(&path, *session, state));
                }
                Parcel::Entries(batch) => {
                    read += batch.bytes;
                    self.report.bytes += batch.bytes;
                    if let Some(reading) = &mut cursor
                        && !self.write(reading, &batch)?
                    {
                        cursor = None;
                    }
                }
                Parcel::Done { size } => {
                    self.close(cursor.take());
                    done += size;
                    read = 0;
                    self.progress.files_done += 1;
                }
            }
            self.progress.bytes_done = (done + read).min(self.progress.bytes);
            let underway = cursor.as_ref().map_or(0, |cursor| cursor.counts.stored);
            if told.elapsed() >= TELL {
                told = Instant::now();
                tell(&Progress { stored: self.report.stored + underway, ..self.progress });
            }
            if (self.cancelled)() {
                break;
            }
        }
        self.close(cursor);
        self.progress.stored = self.report.stored;
        Ok(())
    }

    /// Writes a batch in as many transactions as it takes; false when the rest of the file is not to be read.
    fn write(&mut self, cursor: &mut Cursor, batch: &Batch) -> Result<bool> {
        let mut rest = batch.entries.as_slice();
        loop {
            match self.store.apply_in_background(cursor, rest, Some(batch.end))? {
                Step::Applied(count) => rest = rest.get(count..).unwrap_or_default(),
                // Another process or the session's own tail reads the same file: it stores the same.
                Step::Overtaken => return Ok(false),
                Step::Private => {
                    let reason = "its folder is one of those never kept (excludeFolders)";
                    self.report.skipped.push(Skipped::whole(cursor.path().as_ref(), reason));
                    return Ok(false);
                }
            }
            if rest.is_empty() {
                return Ok(true);
            }
            if (self.cancelled)() {
                return Ok(false);
            }
        }
    }

    fn close(&mut self, cursor: Option<Cursor>) {
        if let Some(cursor) = cursor {
            self.report.stored += cursor.counts.stored;
            self.report.duplicates += cursor.counts.duplicates;
        }
    }
}
